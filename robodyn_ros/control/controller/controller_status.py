# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Status of a :class:`~.controller.Controller`: phase, reasons, estimates."""

from __future__ import annotations

import warnings

import numpy as np
from numpy import ndarray

from .history import Version
from .pace import Pace
from ..settings.friction import static_friction
from ..settings.link_pairs import nearest_links
from ..settings.rotor_inertia import Scarcity
from ..settings.settings import Settings
from ..settings.unreached_targets import most_resting_error
from ..steps import guard
from ..steps.cycle_data import Vectors
from ..steps.guard import ARM, NO_REQUEST
from ...errors import TrajectoryError
from ...model.robot import RobotModel

# Share of their difference within which a measured effort equals -g(q): its sign is wrong
REVERSED_EFFORT_TOLERANCE = 0.3
# Number of trajectories that form a stream if each is shorter than STREAM_HORIZON [s] and replaces
# the one before
STREAM_LENGTH, STREAM_HORIZON = 2, 0.5
STREAM_FAULTS = ('EFFORT_LIMITED', 'EFFORT_OSCILLATES', 'FOLLOWING_ERROR')
# Faults of a joint that may have been given too little effort
WEAK_FAULTS = ('EFFORT_LIMITED', 'FOLLOWING_ERROR', 'JOINT_BLOCKED')
STREAM_HINT = ('every trajectory ends at rest, and those of this stream are short: send single '
               f'waypoints, or trajectories for the next {STREAM_HORIZON:g} s or more')


RESTING_VELOCITY = 0.01    # [rad/s | m/s]
WITHHELD_SHARE = 0.01    # of the effort limit: smaller parts that limits withhold are no cause

ZERO_STATE_HINT = (': has the driver read its encoders? If the arm is at zero, set '
                   'accept_zero_state or publish its efforts')


class ControllerStatus:
    """Phase of a controller, reasons of faults and refusals, and estimates."""

    model: RobotModel
    settings: Settings
    memory: ndarray
    cycle_input: ndarray
    pace: Pace
    _records: Version
    _streamed: int
    _v: Vectors

    @property
    def scarcity(self) -> Scarcity:
        """Efforts that the acceleration bounds leave to each joint."""
        raise NotImplementedError

    @property
    def held_by(self) -> str:
        """Sentence that explains why the last motion ended early, '' if it did not."""
        code = int(self.memory['held_by'][0])
        if code == guard.NO_REASON:
            return ''
        which = (nearest_links(self.model, self.settings, self._records.bounds)
                 if code == guard.SELF_COLLISION else '')
        return guard.REASONS[guard.CODES[code]] + which

    @property
    def phase(self) -> guard.Phase:
        """Phase after the last step."""
        return guard.Phase(self.memory['phase'][0])

    @property
    def reason(self) -> str:
        """Sentence that explains the fault, with the joint concerned and a hint, if any."""
        hint = ''
        if self.reason_code in ('PERIODS_MISSED', 'LOOP_STALLED'):
            hint = self.pace.sentence(1.0 / self.settings.rate)
        elif self.reason_code in STREAM_FAULTS and self._streamed >= STREAM_LENGTH:
            hint = STREAM_HINT
        elif self.reason_code in WEAK_FAULTS:
            joints = np.arange(self.model.nv) == self.memory['joint'][0]
            hint = self.scarcity.sentence(self.scarcity.scarce & joints)
        return self._sentence('reason', 'joint') + (hint and f'; {hint}')

    @property
    def reason_code(self) -> str:
        """Reason code of the fault, one of :data:`.guard.CODES`."""
        return guard.CODES[int(self.memory['reason'][0])]

    @property
    def arming_refusal(self) -> str:
        """Sentence that explains why arming was refused."""
        if self.asked:
            return ('no control cycle has run: the clock is not advancing, or no joint states '
                    'arrive')
        if self.memory['arming_refusal'][0] == guard.NO_REASON:
            return (f'{self.memory["good_samples"][0]} good samples in a row, of '
                    f'{self.settings.arming_samples}')
        sentence = self._sentence('arming_refusal', 'arming_refusal_joint')
        code = guard.CODES[int(self.memory['arming_refusal'][0])]
        if code == 'EFFORT_MISMATCH':
            return sentence + self._mismatch()
        if code == 'POSITION_OUTSIDE':
            return f'{sentence}; it is at {self._v.q[self.memory["arming_refusal_joint"][0]]:.6g}'
        return sentence + (ZERO_STATE_HINT if code == 'ZERO_STATE' else '')

    def _mismatch(self) -> str:
        """Return measured and expected effort of the joint that prevents arming, and a hint."""
        i = int(self.memory['arming_refusal_joint'][0])
        measured, expected = float(self._v.measured[i]), float(self._v.gravity[i])
        text = f': {measured:.4g} is measured, {expected:.4g} N·m or N is expected'
        if abs(measured + expected) < REVERSED_EFFORT_TOLERANCE * abs(measured - expected):
            text += '; is the sign of its effort, or of its axis in the URDF, reversed?'
        return text

    @property
    def external_effort(self) -> ndarray:
        """
        Estimated external efforts on the joints (nv,) [N·m | N], NaN while there is no estimate.

        The model with its friction and payload does not explain them, see
        :mod:`.momentum_observer`.
        """
        if not self.memory['estimates'][0]:
            return np.full(self.model.nv, np.nan)
        return self._v.momentum_observer.external.copy()

    @property
    def joint_state(self) -> tuple[ndarray, ndarray]:
        """Position [rad | m] and velocity in use (nv,), of the last step."""
        return self._v.q.copy(), self._v.qd.copy()

    @property
    def objection(self) -> str:
        """Former name of :attr:`arming_refusal`, deprecated."""
        warnings.warn('Controller.objection is deprecated: use Controller.arming_refusal',
                      DeprecationWarning, stacklevel=2)
        return self.arming_refusal

    @property
    def off_target(self) -> str:
        """Sentence that explains which joint rests away from its target; '' if none does."""
        v, model = self._v, self.model
        if (self.phase != guard.RUNNING or not self.settings.law_in_force.follows
                or self.memory['guided'][0] or v.target_qd.any()
                or (np.abs(v.qd) > RESTING_VELOCITY).any()):
            return ''
        errors = np.abs(v.target - v.q) / most_resting_error(model)
        i = int(errors.argmax())
        if not errors[i] > 1.0:
            return ''
        cause = self.withholding(i, v.withheld[i], v.requested[i])
        if not cause:
            friction = static_friction(self.settings.loaded(model))[i]
            cause = (f'the gains are too low for a friction of {friction:.3g} N·m or N, see '
                     'friction_compensation' if friction else
                     'friction that the model lacks, a payload or an obstacle holds it')
        return (f'{model.joint_names[i]} rests {abs(v.target[i] - v.q[i]):.2g} '
                f'{"m" if model.slides[i] else "rad"} from its target: {cause}')

    def withholding(self, i: int, withheld: float, requested: float) -> str:
        """Return which limits withhold an effort of the law from a joint [N·m | N]; or ''."""
        if abs(withheld) <= WITHHELD_SHARE * self._records.joints['effort_limit'][i]:
            return ''
        cause = (f'limits withhold {abs(withheld):.3g} of the {abs(requested):.3g} N·m or N that '
                 'the law asks for')
        if self.scarcity.scarce[i]:
            cause += f'; {self.scarcity.sentence(np.arange(self.model.nv) == i)}'
        return cause

    def check_basis(self) -> None:
        """
        Refuse a reference between a change of :attr:`Settings.basis` and the next cycle.

        :raises TrajectoryError: the present pose is about to become the reference.
        """
        if self._basis_changes():
            raise TrajectoryError('mode, frame, speed or bounds have just been changed',
                                  name='mode', remedy='send it again, after the next cycle')

    def check_received(self, received: float) -> None:
        """
        Refuse a reference received before the arm was RUNNING.

        :param received: time [s] on the clock of :meth:`~.controller.Controller.step`.
        :raises TrajectoryError: it would start an unexpected motion.
        """
        begun = float(self.memory['since'][0])
        if self.phase == guard.RUNNING and received < begun:
            raise TrajectoryError(f'it came {begun - received:.3f} s before the arm was RUNNING',
                                  name='phase', remedy='send it once the arm is RUNNING')

    def _basis_changes(self) -> bool:
        return bool(self._records.record['basis'][0] != self.memory['basis'][0])

    @property
    def asked(self) -> bool:
        """Whether a request waits for the next cycle."""
        return bool(self.cycle_input['request'][0] != NO_REQUEST)

    @property
    def driving(self) -> bool:
        """Whether efforts are published in the present phase."""
        return bool(self.memory['publishing'][0]) and self.phase != guard.INACTIVE

    @property
    def arming(self) -> bool:
        """Whether arming has been requested and has not happened yet."""
        return bool(self.cycle_input['request'][0] == ARM or self.memory['arming'][0])

    def _sentence(self, reason: str, joint: str) -> str:
        i = int(self.memory[joint][0])
        code = guard.CODES[int(self.memory[reason][0])]
        text = guard.REASONS[code]
        if code in ('COLLISION', 'PUSHED'):
            side = 'positive' if self.memory['contact_side'][0] > 0 else 'negative'
            return f'{text} ({self.model.joint_names[i]}, in the {side} direction)'
        if code == 'OTHER_JOINT_MOVES':
            other = self.model.joint_names[self.memory['other_joint'][0]]
            return (f'{text} ({self.model.joint_names[i]} moves {other}); are their motors or '
                    'drives swapped, or is the order of the commands another one?')
        if code == 'JOINT_BLOCKED' and i < 0:
            return ('no joint moves in the test of the motors: are the brakes engaged, or the '
                    'commands not passed on to the drives while the arm is RISING? '
                    'motor_test_effort: 0.0 arms without the test')
        text = f'{text} ({self.model.joint_names[i]})' if i >= 0 else text
        return text + (self._limits(i) if code == 'POSITION_OUTSIDE' else '')

    def _limits(self, i: int) -> str:
        """Return the limits and the margin of a joint that is outside, and the remedy."""
        j, unit = self._records.joints[i], 'm' if self.model.slides[i] else 'rad'
        return (f': {j["position_lower"]:.6g} to {j["position_upper"]:.6g} {unit}, and '
                f'position_margin {j["position_margin"]:.4g}; '
                'move the joint inside by hand, or raise position_margin')
