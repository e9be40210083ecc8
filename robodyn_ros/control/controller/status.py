# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a controller says about itself: sentences, its pace, and the parts of its efforts."""

from __future__ import annotations

import logging
from math import inf, nan
from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from numpy import ndarray

from ..laws import registry
from ..settings.friction import static_friction
from ..settings.motion_limits import most_resting_error
from ..settings.settings import Settings
from ..settings.task_and_bounds import nearest_links
from ..steps import guard
from ..steps.cycle_data import Vectors

if TYPE_CHECKING:
    from .controller import Controller

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
EXPLAINED_BY_FRICTION = 2.0     # times the known friction of a joint; more is something else
WITHHELD_SHARE = 0.01    # of the effort limit: smaller parts that limits withhold are no cause

ZERO_STATE_HINT = (': has the driver read its encoders? If the arm is at zero, set '
                   'accept_zero_state or publish its efforts')


def held_by(c: Controller) -> str:
    """Sentence that explains why the last motion ended early, '' if it did not."""
    code = int(c.memory['held_by'][0])
    if code == guard.NO_REASON:
        return ''
    which = (nearest_links(c.model, c.settings, c.records.bounds)
             if code == guard.SELF_COLLISION else '')
    return guard.REASONS[guard.CODES[code]] + which


def reason(c: Controller) -> str:
    """Sentence that explains the fault, with the joint concerned and a hint, if any."""
    hint = ''
    if c.reason_code in ('PERIODS_MISSED', 'LOOP_STALLED'):
        hint = c.pace.sentence(1.0 / c.settings.rate)
    elif c.reason_code in STREAM_FAULTS and c.trajectory.streamed >= STREAM_LENGTH:
        hint = STREAM_HINT
    elif c.reason_code in WEAK_FAULTS:
        joints = np.arange(c.model.nv) == c.memory['joint'][0]
        hint = c.scarcity.sentence(c.scarcity.scarce & joints)
    return _sentence(c, 'reason', 'joint') + (hint and f'; {hint}')


def arming_refusal(c: Controller) -> str:
    """Sentence that explains why arming was refused."""
    if c.asked:
        return ('no control cycle has run: the clock is not advancing, or no joint states '
                'arrive')
    if c.memory['arming_refusal'][0] == guard.NO_REASON:
        return (f'{c.memory["good_samples"][0]} good samples in a row, of '
                f'{c.settings.arming_samples}')
    sentence = _sentence(c, 'arming_refusal', 'arming_refusal_joint')
    code = guard.CODES[int(c.memory['arming_refusal'][0])]
    if code == 'EFFORT_MISMATCH':
        return sentence + _mismatch(c)
    if code == 'POSITION_OUTSIDE':
        return f'{sentence}; it is at {c.vectors.q[c.memory["arming_refusal_joint"][0]]:.6g}'
    return sentence + (ZERO_STATE_HINT if code == 'ZERO_STATE' else '')


def _mismatch(c: Controller) -> str:
    """Return measured and expected effort of the joint that prevents arming, and a hint."""
    i = int(c.memory['arming_refusal_joint'][0])
    measured, expected = float(c.vectors.measured[i]), float(c.vectors.gravity[i])
    text = f': {measured:.4g} is measured, {expected:.4g} N·m or N is expected'
    if abs(measured + expected) < REVERSED_EFFORT_TOLERANCE * abs(measured - expected):
        text += '; is the sign of its effort, or of its axis in the URDF, reversed?'
    return text


def off_target(c: Controller) -> str:
    """Sentence that explains which joint rests away from its target; '' if none does."""
    v, model = c.vectors, c.model
    if (c.phase != guard.RUNNING or not c.settings.law_in_force.follows
            or c.memory['guided'][0] or v.target_qd.any()
            or (np.abs(v.qd) > RESTING_VELOCITY).any()):
        return ''
    errors = np.abs(v.target - v.q) / most_resting_error(model)
    i = int(errors.argmax())
    if not errors[i] > 1.0:
        return ''
    cause = withholding(c, i, v.withheld[i], v.requested[i])
    if not cause and c.settings.mode == 'pd' and abs(v.gravity[i]) > abs(v.requested[i]) / 2:
        cause = f'pd compensates no gravity, {v.gravity[i]:.3g} N·m or N; joint_impedance does'
    elif not cause:
        friction = static_friction(c.settings.loaded(model))[i]
        cause = (f'the gains are too low for a friction of {friction:.3g} N·m or N, see '
                 'friction_compensation'
                 if abs(v.requested[i] - v.gravity[i]) < EXPLAINED_BY_FRICTION * friction else
                 'friction that the model lacks, a payload or an obstacle holds it')
    return (f'{model.joint_names[i]} rests {abs(v.target[i] - v.q[i]):.2g} '
            f'{"m" if model.slides[i] else "rad"} from its target: {cause}')


def withholding(c: Controller, i: int, withheld: float, requested: float) -> str:
    """Return which limits withhold an effort of the law from a joint [N·m | N]; or ''."""
    if abs(withheld) <= WITHHELD_SHARE * c.records.joints['effort_limit'][i]:
        return ''
    cause = (f'limits withhold {abs(withheld):.3g} of the {abs(requested):.3g} N·m or N that '
             'the law asks for')
    if c.scarcity.scarce[i]:
        cause += f'; {c.scarcity.sentence(np.arange(c.model.nv) == i)}'
    return cause


def _sentence(c: Controller, reason: str, joint: str) -> str:
    i = int(c.memory[joint][0])
    code = guard.CODES[int(c.memory[reason][0])]
    text = guard.REASONS[code]
    if code in ('COLLISION', 'PUSHED'):
        side = 'positive' if c.memory['contact_side'][0] > 0 else 'negative'
        return f'{text} ({c.model.joint_names[i]}, in the {side} direction)'
    if code == 'OTHER_JOINT_MOVES':
        other = c.model.joint_names[c.memory['other_joint'][0]]
        return (f'{text} ({c.model.joint_names[i]} moves {other}); are their motors or '
                'drives swapped, or is the order of the commands another one?')
    if code == 'JOINT_BLOCKED' and i < 0:
        return ('no joint moves in the test of the motors: are the brakes engaged, or the '
                'commands not passed on to the drives while the arm is RISING? Or does friction '
                'that the model lacks hold it: raise motor_test_effort, or set static_friction; '
                'motor_test_effort: 0.0 arms without the test')
    if code == 'DRIVE_FAULT':
        return f'{text} ({c.drive_fault})'
    text = f'{text} ({c.model.joint_names[i]})' if i >= 0 else text
    return text + (_limits(c, i) if code == 'POSITION_OUTSIDE' else '')


def _limits(c: Controller, i: int) -> str:
    """Return the limits and the margin of a joint that is outside, and the remedy."""
    j, unit = c.records.joints[i], 'm' if c.model.slides[i] else 'rad'
    return (f': {j["position_lower"]:.6g} to {j["position_upper"]:.6g} {unit}, and '
            f'position_margin {j["position_margin"]:.4g}; '
            'move the joint inside by hand, or raise position_margin')


PERIOD_ROUNDING = 1e-6    # periods
LATE_INTERVAL = 1.5    # periods, above which a step is late
LATE_STEPS = 10    # in a row, after which a warning is logged
INTERVAL_WEIGHT = 0.1    # of a new interval in the mean
MAX_INTERVAL = 10.0    # s; a longer interval is a pause

_log = logging.getLogger(__name__)


class Pace:
    """Intervals between the steps of a loop; times are the arguments of :meth:`missed` [s]."""

    def __init__(self):
        self.begin()

    def begin(self) -> None:
        """Forget everything: the next step is the first one."""
        self._last, self._behind, self._slow = -inf, 0.0, 0
        #: Mean interval between the latest steps [s], NaN before the second one.
        self.interval = nan

    def missed(self, now: float, period: float, timeout: float) -> int:
        """
        Return how many periods have passed without a step before this one.

        Fractions add up: a step every 1.25 periods misses one period in four. Intervals of zero or
        less and stalls, intervals above ``timeout`` [s], do not count.
        """
        elapsed, self._last = now - self._last, now
        if not 0.0 < elapsed <= MAX_INTERVAL:
            return 0
        mean = self.interval if self.interval > 0.0 else elapsed
        self.interval = mean + INTERVAL_WEIGHT * (elapsed - mean)
        self._slow = self._slow + 1 if elapsed > LATE_INTERVAL * period else 0
        if self._slow == LATE_STEPS:
            _log.warning('%s', self.sentence(period))
        if elapsed > timeout:
            return 0
        behind = max(0.0, self._behind + elapsed / period - 1.0)
        whole = int(behind + PERIOD_ROUNDING)
        self._behind = behind - whole
        return whole

    def sentence(self, period: float) -> str:
        """Return a hint for the user if steps come late, else an empty string."""
        if not self.interval > (1.0 + PERIOD_ROUNDING) * period:
            return ''
        return (f'step is called every {1e3 * self.interval:.3g} ms, and rate = {1 / period:.4g} '
                f'Hz requires {1e3 * period:.3g} ms: set rate to {1 / self.interval:.3g}, or call '
                'step more often')


DRIVEN_PHASES = guard.RISING, guard.RUNNING, guard.STOPPING


class CycleTelemetry(NamedTuple):
    """
    What one cycle has used and commanded; arrays are (nv,), NaN where there is no value.

    Efforts are in N·m | N, and ``commanded`` = ``gravity`` + ``friction`` + ``law`` + ``limits``.
    """

    time: float             # s, on the clock of the cycles
    phase: int              # index in guard.PHASES
    position: ndarray       # in use [rad | m]
    velocity: ndarray       # in use [rad/s | m/s]
    target: ndarray         # reference position, while the law in force follows one
    target_qd: ndarray      # reference velocity
    measured: ndarray       # effort, where the joint states carry it
    commanded: ndarray      # effort, while one is published
    gravity: ndarray        # gravity term: g(q), 0 where the robot adds it
    friction: ndarray       # friction compensation
    law: ndarray            # the rest of the request of law, rise, stop or fault
    limits: ndarray         # added by the limits; in a fault it is part of `law`


class TelemetryReader:
    """
    Reader of the newest cycle of a controller, from another thread than that of the cycles.

    All values are of one cycle, which the flight recorder's ring holds; without a flight recorder
    they may be of two consecutive ones.
    """

    def __init__(self, controller: Controller):
        self._controller = controller
        self._settings: Settings | None = None
        self._share = self._offset = np.zeros(controller.model.nv)

    @property
    def cycles(self) -> int:
        """Return the number of cycles since the controller has begun."""
        return int(self._controller.memory['cycles'][0])

    def read(self) -> CycleTelemetry:
        """Return a copy of the newest cycle."""
        controller = self._controller
        m, v, tau = controller.history.newest(controller.memory, controller.tau)
        phase = int(m['phase'])
        nothing = np.full_like(tau, np.nan)
        mode = int(m['mode'])
        follows = phase == guard.RUNNING and registry.find(registry.mode_name(mode)).follows
        commanded = tau if m['publishing'] else nothing
        friction = self._friction(v, phase, mode)
        limits = tau - v.requested if phase in DRIVEN_PHASES else np.zeros_like(tau)
        return CycleTelemetry(
            time=float(m['time']), phase=phase,
            position=v.q, velocity=v.qd, target=v.target if follows else nothing,
            target_qd=v.target_qd if follows else nothing, measured=v.measured,
            commanded=commanded, gravity=v.tau_gravity, friction=friction,
            law=commanded - v.tau_gravity - friction - limits, limits=limits)

    def _friction(self, v: Vectors, phase: int, mode: int) -> ndarray:
        settings = self._controller.settings
        if settings is not self._settings:
            joints = settings.joint_records(self._controller.model)
            self._share, self._offset = (joints['friction_compensation'].copy(),
                                         joints['friction_offset'].copy())
            self._settings = settings
        if phase != guard.RUNNING or mode != registry.number(settings.mode):
            return np.zeros_like(self._share)
        return self._share * (v.friction + self._offset)


def receipt_offset(controller: Controller) -> float:
    """Return receipt, on the clock of the cycles, minus time stamp of the newest sample [s]."""
    return float(Vectors.of(controller.history.flight.present).plausibility.last_offset[0])
