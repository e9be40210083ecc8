# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Controller of one robot without ROS: from joint states and time to efforts."""

import warnings
from collections.abc import Callable
from operator import is_
from typing import Any

import numpy as np
from numpy import ndarray

from ..dynamics import Dynamics
from ..dynamics.model_data import ModelData, parameters, workspace
from ..dynamics.specialize import with_kernels
from ..errors import ArgumentError, ParameterError, TrajectoryError
from ..model.robot import RobotModel
from ..state import STATE, no_state
from . import guard, payload_transition, ring_buffer
from .bounds_of_settings import bounds_of
from .compile import LawAddresses, compiled
from .compile import begin as begin_compilation
from .cycle import CycleInputs
from .dtypes import (
    ARM,
    CONTROLLER_STATE,
    CYCLE_INPUT,
    DISARM,
    NO_REQUEST,
    STOP,
)
from .goal_tolerances import default_tolerances
from .history import History, Version
from .laws import registry, trial
from .laws.call import LawMemory
from .laws.law import POLICY
from .limits import SHARE
from .link_pairs import nearest_links
from .motion_limits import motion_limits
from .pace import Pace
from .partner import Partner, joint_map
from .partner_coupling import PartnerCoupling
from .policy import Policy, checked
from .pose_following import PoseFollowing
from .pose_tracking import PosePoints
from .reference_planning import PlannedReference, plan
from .settings import Settings
from .task_frame import task_of
from .trajectory import Waypoints, splice
from .trajectory_tracking import Points

# Fraction of the effort limit by which g(q) may change while the arm is driven
GRAVITY_CHANGE = 0.1
# Fields of a model that its compiled kernels have as constants
KERNEL_DATA = [name for name in ModelData._fields if name not in ('friction', 'addresses')]
LATEST = 0.05       # s after its start for which a trajectory is still accepted
# As many trajectories, each shorter [s] and each replacing the one before, are a stream
STREAM, HORIZON = 2, 0.5
# A measured effort so near the negative of g(q), in their difference, has the wrong sign
REVERSED = 0.3
STREAM_FAULTS = ('EFFORT_LIMITED', 'EFFORT_OSCILLATES', 'FOLLOWING_ERROR')
STREAM_HINT = ('every trajectory ends at rest, and these are a stream of short ones: send longer '
               f'ones, with waypoints for the next {HORIZON:g} s or more')


class Controller(PoseFollowing, PartnerCoupling):
    """
    Controller of one robot: state machine, control law and guard.

    Time is passed to :meth:`step`; the controller reads no clock. Thread safety: one thread calls
    :meth:`step`, other threads may call all other methods meanwhile, except :meth:`begin`.

    :param state: (nv,) records :data:`~robodyn_ros.state.STATE`, written by the code that receives
        joint states; None: the controller allocates them, without any sample yet.
    :param specialize: compile the dynamics for this robot, which takes seconds once. With a
        payload other than at the start the generic dynamics are used: nothing is compiled later.
    :param recorded: number of cycles that the flight recorder keeps, in ``history``; 0: none.
    :raises RobodynError: see :meth:`use`.
    """

    def __init__(self, model: RobotModel, settings: Settings, state: ndarray | None = None, *,
                 specialize: bool = True, recorded: int = 0):
        model.require_inertia('a controller')
        begin_compilation()
        self.model = model
        #: (nv,) ``STATE``: the newest joint states.
        self.state = no_state(model.nv) if state is None else np.asarray(state).view(STATE)
        #: (1,) ``CYCLE_INPUT``: observations of the surrounding loop, to be set before a step.
        self.cycle_input = np.zeros(1, CYCLE_INPUT)
        self.cycle_input['listeners'] = 1
        self.cycle_input['guiding_until'] = -np.inf
        #: (1,) ``CONTROLLER_STATE``.
        self.memory = np.zeros(1, CONTROLLER_STATE)
        #: (nv,) [N·m | N]: the efforts of the last step.
        self.tau = np.zeros(model.nv)
        self.settings, self._law, self._payload = settings, 0, 0
        self._stable: tuple = ()            # `stability` of settings that were found stable
        #: Laws that the mode can be switched to.
        self.laws = dict.fromkeys((*registry.BUILT_IN, settings.law_in_force))
        self._addresses = LawAddresses(settings.law_in_force)
        law_rows = registry.most_rows(model.nv, *self.laws)
        self._flight, self._v, kept = ring_buffer.recorder(
            model.nv, recorded, law_rows + payload_transition.rows(model.nb, model.nv))
        self._law_memory, self._kept = kept[:law_rows], kept[law_rows:]
        self._law_returned = np.zeros(1, np.int64)
        #: Settings and references of the recorded cycles, and snapshots of them.
        self.history = History(self._flight)
        self._work = workspace(model)
        self._own: ModelData | None = None  # with kernels compiled for this robot
        self._in_force = payload_transition.payload_in_force(parameters(model), self._kept)
        self._records: Version
        self._version = 0
        #: Called when :attr:`inputs` are others than before.
        self.changed: Callable[[], None] = lambda: None
        self._points, self._policy = Points.none(model.nv), Policy.none(model.nv)
        self._poses, self._pace = PosePoints.none(), Pace()
        self._partner = Partner.none(model.nv)
        self._streamed = 0                  # short trajectories in a row
        # The cycle with its inputs, and those of them that are replaced while it runs
        self._cycle: Callable[[float, ndarray], bool] = lambda now, tau: False
        self._prepared_parts: tuple[Any, ...] = (None,) * 5
        self.use(settings)
        if settings.law_in_force not in registry.BUILT_IN:
            trial.check(settings.law_in_force, self._records.law, model, self._records.joints,
                        1.0 / settings.rate)
        if specialize:
            self._own = with_kernels(self._records.robot)
            self._records = self._records._replace(robot=self._own)
        self.begin()
        #: The compiled control cycle; :data:`.compile.PLAIN` for that in plain Python.
        self.compiled = compiled()
        self._addresses.prepare()

    def begin(self) -> None:
        """
        Become INACTIVE, and forget requests, references and faults; ``tau`` stays.

        No other thread may call :meth:`step` meanwhile.
        """
        self.memory[0] = np.zeros((), CONTROLLER_STATE)
        self.memory['newest'] = self.memory['time'] = -np.inf
        self.memory['joint'] = self.memory['arming_refusal_joint'] = -1
        self.cycle_input['request'] = NO_REQUEST
        self._points, self._policy = Points.none(self.model.nv), Policy.none(self.model.nv)
        self._poses, self._streamed = PosePoints.none(), 0
        self._partner = Partner.none(self.model.nv)
        self._pace.begin()
        ring_buffer.begin(self._flight, self.memory, self.tau)
        self.history.begin(self._records, self._points, self._policy, self._poses)

    def use(self, settings: Settings) -> None:
        """
        Replace the settings; if the law changes, its reference is the present pose.

        :raises RobodynError: the settings cannot be used; the previous ones stay in force.
        """
        new = self._prepare(settings)
        self._version += 1
        new.record['version'] = self._version
        self.history.add(new)               # before a cycle can refer to it
        self._records, self.settings = new, settings
        self._law, self._payload = (int(new.record[name][0]) for name in ('law', 'payload'))
        self.changed()

    def check(self, settings: Settings) -> None:
        """Raise :class:`RobodynError` if these settings cannot be used."""
        self._prepare(settings)

    def _prepare(self, settings: Settings) -> Version:
        """Return the records and the robot that the cycle reads, for settings that are valid."""
        loaded, joints = settings.loaded(self.model), settings.joint_records(self.model)
        task = task_of(settings, self.model, parameters(self.model))
        bounds = bounds_of(settings, self.model, parameters(self.model))
        law = self._law_of(settings)
        motion_limits(self.model, settings, joints['velocity_limit'])
        default_tolerances(self.model, settings)
        joint_map(self.model, settings)
        if (stability := settings.stability) != self._stable:      # it takes tens of milliseconds
            settings.check_gains(loaded)
            self._stable = stability
        record = settings.settings_record()
        record['payload_body'] = settings.payload_body(self.model)
        record['law'] = self._law + (settings.law != self.settings.law)
        record['payload'] = self._payload + (settings.payload != self.settings.payload)
        if settings.loading != self.settings.loading:
            self._check_gravity(loaded, settings, joints['effort_limit'])
        robot = parameters(loaded)
        own = self._own
        if own and all((getattr(robot, name) == getattr(own, name)).all() for name in KERNEL_DATA):
            robot = robot._replace(addresses=own.addresses)
        return Version(robot, joints, record, settings, law, task, bounds)

    def _law_of(self, settings: Settings) -> LawMemory:
        """Return the law of the settings, with its gains."""
        law = settings.law_in_force
        if law not in self.laws:
            raise ParameterError(
                f'law {settings.mode} was not loaded when the controller was configured',
                name='mode', value=settings.mode, remedy='configure the controller with this mode')
        code = np.array([self._addresses[law], registry.number(settings.mode)], np.int64)
        return LawMemory(code, settings.gain_rows(self.model), self._law_memory,
                         self._law_returned)

    def _check_gravity(self, loaded: RobotModel, settings: Settings, limit: ndarray) -> None:
        """
        Refuse a change of the model for which an arm that is driven could not be armed.

        :param limit: (nv,) effort limits [N·m | N].
        :raises ParameterError: g(q) of the new model differs by more than ``arming_effort`` (at
            most GRAVITY_CHANGE) effort limits from the measured efforts, or from the previous
            g(q) where none are measured; or at all, while efforts of a fault are in force.
        """
        if not self.memory['publishing'][0]:
            return
        gravity, measured = Dynamics(loaded).gravity(self._v.q), self._v.measured.copy()
        known = np.where(np.isfinite(measured), measured, self._v.gravity)
        held = self.phase == guard.FAULT        # perhaps without a valid state
        allowed = 0.0 if held else min(settings.arming_effort, GRAVITY_CHANGE) * limit
        if (wrong := np.abs(gravity - known) > allowed).any():
            i = int(wrong.argmax())
            said = 'measured' if np.isfinite(measured[i]) else 'given before'
            raise ParameterError(
                f'the gravity torque of {self.model.joint_names[i]} would be {gravity[i]:.4g}, '
                f'and {known[i]:.4g} N·m or N are {said}', name='payload_mass',
                value=settings.payload_mass, remedy='change payload and model while the arm is at '
                'rest and carries it, in steps that it would be armed with, or deactivate first')

    def step(self, now: float) -> bool:
        """
        Advance to the time ``now`` [s]; return whether ``tau`` (nv,) is to be published.

        The intervals between steps are compared with ``Settings.rate``, for which the gains were
        checked: a slower loop misses periods, and more of them than ``missed_limit`` are the fault
        PERIODS_MISSED, whose :attr:`reason` states both rates.

        :param now: on the clock of ``state['received']``.
        """
        settings = self.settings
        self.cycle_input['missed'] = self._pace.missed(now, 1.0 / settings.rate,
                                                   settings.state_timeout)
        return self.advance(now)

    def advance(self, now: float) -> bool:
        """Advance as :meth:`step` does; missed periods are those in ``cycle_input``."""
        parts = self._records, self._points, self._policy, self._partner, self._poses
        if not all(map(is_, parts, self._prepared_parts)):
            self._cycle, self._prepared_parts = self.compiled.prepare(self.inputs), parts
        return self._cycle(now, self.tau)

    @property
    def inputs(self) -> CycleInputs:
        """Return what the cycle of :attr:`compiled` reads and writes, as of now."""
        robot, joints, settings, _, law, task, bounds = self._records
        return CycleInputs(
            robot=robot, workspace=self._work, joints=joints, settings=settings, law=law,
            cycle_input=self.cycle_input, state=self.state, points=self._points,
            policy=self._policy, partner=self._partner, task=task, poses=self._poses,
            bounds=bounds, controller_state=self.memory, vectors=self._v,
            payload=self._in_force, ring=self._flight,
            code=self.compiled.addresses)

    def arm(self) -> None:
        """Request arming, which :attr:`arming_refusal` may prevent."""
        self.cycle_input['request'] = ARM

    def disarm(self) -> None:
        """Withdraw the request to arm."""
        self.cycle_input['request'] = DISARM

    def stop(self) -> None:
        """Request to bring the arm to rest and publish the last message."""
        self.cycle_input['request'] = STOP

    def follow(self, waypoints: Waypoints, start: float) -> None:
        """
        Follow a trajectory from ``start`` on.

        Joints that are not named keep their present reference. No waypoints: the reference
        decelerates to rest. One at time 0 is a target to be reached as soon as the limits of
        velocity, acceleration and jerk allow, from any state, as in teleoperation.

        Every trajectory ends at rest, and a new one may replace it on the way. A stream of them,
        as in teleoperation, has to look ahead: give each trajectory waypoints for the next half
        second or more, and send the next one before it brakes. With waypoints only a few
        hundredths of a second ahead the arm stops and goes with each of them, which ends in
        EFFORT_LIMITED or EFFORT_OSCILLATES, and :attr:`reason` explains it.

        :param start: time [s] on the clock of :meth:`step`.
        :raises TrajectoryError: the trajectory is refused; the present reference stays in force.
        """
        planned = self.prepare(waypoints, start)
        if self._superseded(planned):       # the mode has changed meanwhile, for instance
            planned = self.prepare(waypoints, start)
        self.commit(planned)

    def prepare(self, waypoints: Waypoints, start: float) -> PlannedReference:
        """Plan what :meth:`follow` would follow, with its errors, and change nothing."""
        if self.phase != guard.RUNNING:
            raise TrajectoryError(f'the controller is {guard.PHASES[self.phase]}', name='phase',
                                  remedy='activate it first; it follows when RUNNING')
        if self.memory['guided'][0]:
            raise TrajectoryError('the arm is guided by hand', name='guiding',
                                  remedy='let it go: it follows where ~/guiding is not true')
        mode = registry.mode_name(int(self.memory['mode'][0]))
        if not registry.find(mode).follows:
            raise TrajectoryError(f'{mode} follows no reference', name='mode',
                                  remedy=f'set mode to one of {", ".join(registry.FOLLOWING)}')
        start -= float(self.memory['lag'][0])       # on the clock of references
        old, following = self._points, bool(self.memory['following'][0])
        limits = motion_limits(self.model, self.settings,
                               SHARE * self._records.joints['velocity_limit'],
                               self._records.joints['effort_limit'])
        new = plan(limits, waypoints, old if following else None, self._v.target.copy(), start,
                   self.reference_serial + 1)
        return PlannedReference(waypoints, start, following, old, new)

    def _superseded(self, planned: PlannedReference) -> bool:
        """Return whether the reference that a planned one continues is no longer followed."""
        return bool(self._points is not planned.old
                    or planned.following and not self.memory['following'][0])

    def commit(self, planned: PlannedReference) -> None:
        """
        Follow a reference from :meth:`prepare`.

        :raises TrajectoryError: it is too late, or does not continue the reference any more,
            which stays in force.
        """
        _, start, following, old, new = planned
        now = self.reference_time
        if now > start + LATEST:
            raise TrajectoryError(f'it was planned {now - start:.3f} s after its start',
                                  name='start', remedy='give it a start further in the future')
        if self._superseded(planned):
            raise TrajectoryError('the reference has changed while it was planned',
                                  name='reference', remedy='send it again')
        streamed = (following and start < old.header['start'][0] + old.times[-1] + LATEST
                    and 0.0 < np.max(planned.asked.times, initial=0.0) < HORIZON)
        self._streamed = self._streamed + 1 if streamed else 0
        new = splice(old, new, now) if following else new
        self.history.add(new)
        self._points = new
        self.changed()

    def follow_policy(self, time: float, effort: ndarray, position: ndarray, velocity: ndarray,
                      gain: ndarray) -> None:
        """
        Put the policy of a planner in force, for the mode ``feedback_policy``.

        :param time: of the state that it was planned from [s], on the clock of :meth:`step`.
        :param effort: (nv,) u [N·m | N], with g(q).
        :param position, velocity: (nv,) x̂ [rad | m, per s].
        :param gain: (nv, 2 nv) K.
        :raises ArgumentError: the law in force uses none, or see :func:`.policy.checked`; the
            policy before it stays in force.
        """
        if self.settings.law_in_force.reference != POLICY:
            raise ArgumentError(f'{self.settings.mode} uses no policy', name='mode',
                                value=self.settings.mode, remedy='set mode to feedback_policy')
        serial = int(self._policy.header['serial'][0]) + 1
        new = checked(self.model, self._records.joints, effort, position, velocity, gain, time,
                      serial)
        if new.header['time'][0] < self._policy.header['time'][0]:
            raise ArgumentError('the policy is older than the one in force', name='time',
                                value=time, remedy='send policies in their order')
        self.history.add(new)
        self._policy = new
        self.changed()

    def guide(self, until: float) -> None:
        """
        Let the arm be guided by hand, in the mode ``hand_guiding``; it holds its pose afterwards.

        :param until: time [s] on the clock of :meth:`step`, at most ``guiding_timeout`` ahead;
            -inf ends it at once.
        """
        self.cycle_input['guiding_until'] = until

    @property
    def reference_time(self) -> float:
        """Time [s] of the clock of references, which lags where bounds slow them down."""
        return float(self.memory['time'][0] - self.memory['lag'][0])

    @property
    def held_by(self) -> str:
        """Reason in words why the last motion has ended before its end, '' if it has not."""
        code = int(self.memory['held_by'][0])
        if code == guard.NO_REASON:
            return ''
        which = (nearest_links(self.model, self.settings, self._records.bounds)
                 if code == guard.SELF_COLLISION else '')
        return guard.REASONS[guard.CODES[code]] + which

    @property
    def reference_serial(self) -> int:
        """Return the serial number of the newest reference, 0 before the first one."""
        return int(self._points.header['serial'][0])

    @property
    def phase(self) -> int:
        """Index of the phase in :data:`.guard.PHASES`."""
        return int(self.memory['phase'][0])

    @property
    def reason(self) -> str:
        """Reason of the fault in words, with the joint concerned and a hint, if any."""
        hint = ''
        if self.reason_code in ('PERIODS_MISSED', 'LOOP_STALLED'):
            hint = self._pace.sentence(1.0 / self.settings.rate)
        elif self.reason_code in STREAM_FAULTS and self._streamed >= STREAM:
            hint = STREAM_HINT
        return self._sentence('reason', 'joint') + (hint and f'; {hint}')

    @property
    def reason_code(self) -> str:
        """Reason code of the fault, one of :data:`.guard.CODES`."""
        return guard.CODES[int(self.memory['reason'][0])]

    @property
    def arming_refusal(self) -> str:
        """Reason in words why the arm has not risen although arming was requested."""
        if self.asked:
            return 'time stands still, or no state starts a cycle'
        if self.memory['arming_refusal'][0] == guard.NO_REASON:
            return (f'{self.memory["good_samples"][0]} good samples in a row, of '
                    f'{self.settings.arming_samples}')
        sentence = self._sentence('arming_refusal', 'arming_refusal_joint')
        code = guard.CODES[int(self.memory['arming_refusal'][0])]
        return sentence + (self._mismatch() if code == 'EFFORT_MISMATCH' else '')

    def _mismatch(self) -> str:
        """Return both efforts of the joint that refuses to be armed, and what they look like."""
        i = int(self.memory['arming_refusal_joint'][0])
        measured, expected = float(self._v.measured[i]), float(self._v.gravity[i])
        text = f': {measured:.4g} is measured, {expected:.4g} N·m or N is expected'
        if abs(measured + expected) < REVERSED * abs(measured - expected):
            text += '; is the sign of its effort, or of its axis in the URDF, reversed?'
        return text

    @property
    def external_effort(self) -> ndarray:
        """
        Estimated external efforts on the joints (nv,) [N·m | N], NaN while there is no estimate.

        They are what the model, with its friction and payload, does not explain; see
        :mod:`.momentum_observer`.
        """
        if not self.memory['estimates'][0]:
            return np.full(self.model.nv, np.nan)
        return self._v.external.copy()

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
        text = guard.REASONS[guard.CODES[int(self.memory[reason][0])]]
        if guard.CODES[int(self.memory[reason][0])] in ('COLLISION', 'PUSHED'):
            side = 'positive' if self.memory['contact_side'][0] > 0 else 'negative'
            return f'{text} ({self.model.joint_names[i]}, in the {side} direction)'
        return f'{text} ({self.model.joint_names[i]})' if i >= 0 else text
