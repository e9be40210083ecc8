# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Controller of one robot without ROS: from joint states and time to efforts."""

from collections.abc import Callable
from operator import is_
from typing import Any
import warnings

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from . import status_sentences
from .history import History, Version
from .pace import Pace
from .partner_coupling import PartnerReference
from .policy_following import PolicyReference
from .pose_following import PoseReference
from .trajectory_following import BASIS_NAMES, TrajectoryReference
from ..cycle import ring_buffer, trial
from ..cycle.call import no_law
from ..cycle.compile import begin as begin_compilation
from ..cycle.compile import compiled, CYCLE_INPUTS, load_parts, PLAIN, plain
from ..cycle.law_addresses import LawAddresses
from ..inputs.partner import CouplingState
from ..laws import registry
from ..laws.law import PARTNER
from ..references.compile_planner import begin_planner
from ..references.reference_planning import PlannedReference
from ..references.trajectory import Waypoints
from ..settings.bounds_of_settings import bounds_of
from ..settings.compiled_needs import check_compiled, needs
from ..settings.coupled_joints import joint_map
from ..settings.goal_tolerances import default_tolerances
from ..settings.motion_limits import motion_limits
from ..settings.rotor_inertia import Scarcity
from ..settings.settings import Settings
from ..settings.task_frame import FrameKernel, task_of
from ..steps import guard, payload_transition
from ..steps.cycle_data import CONTROLLER_STATE, Cycle, CYCLE_INPUT, LawMemory, Vectors
from ..steps.guard import ARM, DISARM, NO_REQUEST, STOP
from ...compiler.tuple_reference import TupleMemory
from ...dynamics import Dynamics
from ...dynamics.model_data import ModelData, parameters, workspace
from ...dynamics.specialize import with_kernels
from ...errors import ArgumentError, ParameterError, TrajectoryError
from ...model.robot import RobotModel
from ...state import no_state, STATE

# Fraction of the effort limit by which g(q) may change while the arm is driven
MAX_GRAVITY_CHANGE = 0.1
MAX_REMEMBERED = 64     # settings whose gains need no check again
# Fields of a model that its compiled kernels have as constants
KERNEL_DATA = [name for name in ModelData._fields if name not in ('friction', 'addresses')]


class Controller:
    """
    Controller of one robot: state machine, control law and guard.

    Time is passed to :meth:`step`; the controller reads no clock. Thread safety: one thread calls
    :meth:`step`, other threads may call all other methods meanwhile, except :meth:`begin`.

    :param model: the robot, with inertias.
    :param settings: parameters, which :meth:`use` replaces later.
    :param state: (nv,) records :data:`~robodyn_ros.state.STATE`, written by the code that receives
        joint states; None: the controller allocates them, without any sample yet.
    :param specialize: compile the dynamics for this robot, which takes seconds once. With another
        payload or armature than at the start those for any robot are used; if necessary they are
        compiled when the settings are given, not in a cycle.
    :param recorded: number of cycles that the flight recorder keeps, in ``history``; 0: none.
    :param checked: called when the settings have been accepted, before the machine code is loaded.
        An exception ends the construction.
    :param like: a controller of the same model and settings, whose checks and compiled code count
        for this one.
    :raises ArgumentError: ``like`` has another model or other settings.
    :raises RobodynError: see :meth:`use`.
    """

    def __init__(self, model: RobotModel, settings: Settings, state: ndarray | None = None, *,
                 specialize: bool = True, recorded: int = 0,
                 checked: Callable[[], None] = lambda: None, like: 'Controller | None' = None):
        model.require_inertia('a controller')
        if like is not None and (like.model is not model or like.settings is not settings):
            raise ArgumentError('like has another model or other settings', name='like',
                                remedy='give a controller made with the same objects')
        begin_compilation()
        self.model: RobotModel = model
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
        self.settings: Settings = settings
        self._law, self._basis, self._payload = 0, 0, 0
        # `stability` of settings that were found stable, and what they leave to each joint
        self._stable: list[tuple[tuple, Scarcity]] = []
        self._loaded: set[str] = set()      # `needs` of settings so far
        #: Laws that the mode can be switched to.
        self.laws = dict.fromkeys((*registry.BUILT_IN, settings.law_in_force))
        self._addresses = LawAddresses(settings.law_in_force)
        law_rows = registry.most_rows(model.nv, *self.laws)
        self._flight, self._v, kept = ring_buffer.recorder(
            model.nv, recorded, law_rows + payload_transition.rows(model.nb, model.nv))
        self._law_memory, self._kept = kept[:law_rows], kept[law_rows:]
        self._no_law = no_law(model.nv)._replace(memory=self._law_memory)
        #: Settings and references of the recorded cycles, and snapshots of them.
        self.history = History(self._flight)
        self._work = workspace(model)
        # With kernels compiled for this robot
        self._own: ModelData | None = None
        self._frame_kernel: FrameKernel | None = None
        self._unloaded = parameters(model)
        self._in_force = payload_transition.payload_in_force(self._unloaded, self._kept)
        self._records: Version
        self._version = 0
        #: Called when :attr:`inputs` are others than before.
        self.changed: Callable[[], None] = lambda: None
        #: Newest words of drives that report a fault, see :meth:`report_drives`.
        self.drive_fault = ''
        # Parts, each of which holds what the cycle follows of its kind
        self.trajectory, self.pose = TrajectoryReference(self), PoseReference(self)
        self.policy = PolicyReference(self)
        self.partner = PartnerReference(self, self._law_memory)
        #: Intervals between the steps; controllers that are stepped together share one.
        self.pace = Pace()
        # The cycle with its inputs, and those of them that are replaced while it runs
        self._cycle: Callable[[float, ndarray], bool] = lambda now, tau: False
        self._prepared_parts: tuple[Any, ...] = (None,) * 5
        self._inputs_memory, self._address = TupleMemory(CYCLE_INPUTS), 0
        #: The compiled control cycle; :data:`.compile.PLAIN` for that in plain Python.
        self.compiled = PLAIN           # until settings and law are found good
        if like is not None:
            self._stable = like._stable
        self.use(settings)
        if settings.law_in_force not in registry.BUILT_IN and like is None:
            trial.check(settings.law_in_force, self._records.law, model, self._records.joints,
                        1.0 / settings.rate)
        checked()
        if specialize:
            own, kernel = (None, None) if like is None else (like._own, like._frame_kernel)
            self._own = own or with_kernels(self._records.robot)
            self._frame_kernel = kernel or FrameKernel(settings, model, self._unloaded)
            self._records = self._records._replace(
                robot=self._own, task=self._frame_kernel.given_to(self._records.task))
        if not plain():
            load_parts(self._records.record, self._records.robot)
        self.begin()
        self.compiled = compiled()
        self._addresses.prepare()
        begin_planner()

    def begin(self) -> None:
        """
        Become INACTIVE, and forget requests, references and faults; ``tau`` stays.

        No other thread may call :meth:`step` meanwhile.
        """
        self.memory[0] = np.zeros((), CONTROLLER_STATE)
        self.memory['newest'] = self.memory['time'] = -np.inf
        self.memory['joint'] = self.memory['arming_refusal_joint'] = -1
        self.cycle_input['request'] = NO_REQUEST
        for part in (self.trajectory, self.pose, self.policy, self.partner):
            part.begin()
        self.pace.begin()
        ring_buffer.begin(self._flight, self.memory, self.tau)
        self.history.begin(self._records, self.trajectory.points, self.policy.newest,
                           self.pose.points)

    def use(self, settings: Settings) -> None:
        """
        Replace the settings.

        Efforts change from the old to the new ones at ``effort_rate_limit``. With other gains,
        friction or payload a reference under way goes on; one at rest becomes the present pose, so
        that stiffer gains do not throw an arm that was pushed aside. Where :attr:`Settings.basis`
        differs, the present pose becomes the reference, even in motion.

        :raises RobodynError: the settings cannot be used; the previous ones stay in force.
        """
        self.put_in_force(self.prepare_settings(settings))

    def put_in_force(self, new: Version) -> None:
        """
        Replace the settings by those of a version.

        :param new: as :meth:`prepare_settings` has returned it; no other settings have come into
            force since.
        """
        self._version += 1
        new.record['version'] = self._version
        self.history.add(new)               # before a cycle can refer to it
        self._records, self.settings = new, new.settings
        self._law, self._basis, self._payload = (
            int(new.record[name][0]) for name in ('law', 'basis', 'payload'))
        self.changed()

    def check(self, settings: Settings) -> None:
        """Raise :class:`RobodynError` if these settings cannot be used."""
        self.prepare_settings(settings)

    def prepare_settings(self, settings: Settings, *, wait: bool = True) -> Version:
        """
        Return the records and the robot that the cycle reads, which :meth:`put_in_force` takes.

        :param wait: for code that this machine is compiling; False: refuse settings that need it.
        :raises RobodynError: the settings cannot be used.
        """
        loaded, joints = settings.loaded(self.model), settings.joint_records(self.model)
        record = settings.settings_record()
        record['payload_body'] = settings.payload_body(self.model)
        record['law'] = self._law + (settings.law != self.settings.law)
        record['basis'] = self._basis + (settings.basis != self.settings.basis)
        record['payload'] = self._payload + (settings.payload != self.settings.payload)
        robot, own = parameters(loaded), self._own
        if own and all((getattr(robot, name) == getattr(own, name)).all() for name in KERNEL_DATA):
            robot = robot._replace(addresses=own.addresses)
        gains = settings.gain_rows(self.model)
        needed = needs(settings, record, robot, self.settings)
        if not wait:
            check_compiled({name: needed[name] for name in needed.keys() - self._loaded})
        task = task_of(settings, self.model, self._unloaded)
        bounds = bounds_of(settings, self.model, self._unloaded)
        law = self._law_of(settings, gains)
        motion_limits(self.model, settings, joints['velocity_limit'])
        default_tolerances(self.model, settings)
        joint_map(self.model, settings)
        self._checked_gains(settings)
        if settings.payload != self.settings.payload:      # friction and rotors weigh nothing
            self._check_gravity(loaded, settings, joints['effort_limit'])
        self.compiled.code_for(record, robot)       # now, not in the cycle that begins with it
        self._loaded |= needed.keys()
        if self._frame_kernel is not None:
            task = self._frame_kernel.given_to(task)
        return Version(robot, joints, record, settings, law, task, bounds)

    @property
    def scarcity(self) -> Scarcity:
        """Efforts that the acceleration bounds leave to each joint, with the settings in force."""
        return self._checked_gains(self.settings)

    def _checked_gains(self, settings: Settings) -> Scarcity:
        """Return the scarcity of stable settings; to check them takes tens of milliseconds."""
        stability = settings.stability
        for known, scarcity in self._stable:
            if known == stability:
                return scarcity
        loaded = settings.loaded(self.model)
        settings.check_gains(loaded)
        scarcity = settings.scarcity(loaded)
        self._stable = [*self._stable[1 - MAX_REMEMBERED:], (stability, scarcity)]
        return scarcity

    def _law_of(self, settings: Settings, gains: ndarray) -> LawMemory:
        """Return the law of the settings, with its gains (K, nv)."""
        law = settings.law_in_force
        if law not in self.laws:
            raise registry.not_loaded(settings.mode)
        code = np.array([self._addresses[law], registry.number(settings.mode)], np.int64)
        return self._no_law._replace(code=code, gains=gains)

    def _check_gravity(self, loaded: RobotModel, settings: Settings, limit: ndarray) -> None:
        """
        Refuse a change of the payload with which an arm that is driven could not be armed.

        :param limit: (nv,) effort limits [N·m | N].
        :raises ParameterError: g(q) of the new model differs by more than ``arming_effort`` (at
            most MAX_GRAVITY_CHANGE) effort limits from the measured efforts, or from the previous
            g(q) where none are measured; or at all, while efforts of a fault are in force; or the
            arm is being armed.
        """
        if not self.memory['publishing'][0]:
            if self.arming:         # with the present model, before the new one is in force
                raise ParameterError(
                    'the arm is just being armed', name='payload_mass',
                    value=settings.payload_mass, remedy='change payload and model before, or '
                    'when it is driven')
            return
        v = self.history.newest(self.memory, self.tau)[1]       # of one cycle
        gravity, measured = Dynamics(loaded).gravity(v.q), v.measured
        known = np.where(np.isfinite(measured), measured, v.gravity)
        held = self.phase == guard.FAULT        # perhaps without a valid state
        allowed = 0.0 if held else min(settings.arming_effort, MAX_GRAVITY_CHANGE) * limit
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
        self.cycle_input['missed'] = self.missed_periods(now)
        return self.advance(now)

    def missed_periods(self, now: float) -> int:
        """Return how many periods of ``Settings.rate`` have passed without a step before now."""
        return self.pace.missed(now, 1.0 / self.settings.rate, self.settings.state_timeout)

    def advance(self, now: float) -> bool:
        """Advance as :meth:`step` does; missed periods are those in ``cycle_input``."""
        self.write_inputs()
        return self._cycle(now, self.tau)

    def write_inputs(self) -> int:
        """Write :attr:`inputs` where the cycle reads them, if they changed; return the address."""
        parts = (self._records, self.trajectory.points, self.policy.newest, self.partner.newest,
                 self.pose.points)
        if not all(map(is_, parts, self._prepared_parts)):
            self._cycle = self.compiled.prepare(self.inputs, self._inputs_memory)
            self._prepared_parts = parts
            self._address = self._inputs_memory.address
        return self._address

    @property
    def inputs(self) -> Cycle:
        """Return the present inputs and outputs of the cycle of :attr:`compiled`."""
        robot, joints, settings, _, law, task, bounds = self._records
        return Cycle(
            robot=robot, workspace=self._work, joints=joints, settings=settings, law=law,
            cycle_input=self.cycle_input, state=self.state, points=self.trajectory.points,
            policy=self.policy.newest, partner=self.partner.newest, task=task,
            poses=self.pose.points,
            bounds=bounds, controller=self.memory, vectors=self._v,
            payload=self._in_force, ring=self._flight,
            code=self.compiled.code_for(settings, robot))

    def arm(self) -> None:
        """Request arming, which :attr:`arming_refusal` may prevent."""
        self.cycle_input['request'] = ARM

    def disarm(self) -> None:
        """Withdraw the request to arm."""
        self.cycle_input['request'] = DISARM

    def stop(self) -> None:
        """Request to bring the arm to rest and publish the last message."""
        self.cycle_input['request'] = STOP

    def guide(self, until: float) -> None:
        """
        Let the arm be guided by hand, in the mode ``hand_guiding``; it holds its pose afterwards.

        :param until: time [s] on the clock of :meth:`step`, at most ``guiding_timeout`` ahead;
            -inf ends it at once.
        """
        self.cycle_input['guiding_until'] = until

    def report_drives(self, words: str) -> None:
        """
        Stop the arm, and refuse to arm it, while drives report a fault.

        :param words: of the drives, such as 'joint4: rotor too hot'; '': they are well.
        """
        if words:
            self.drive_fault = words
            self.cycle_input['stop_reason'] = guard.DRIVE_FAULT
        elif self.cycle_input['stop_reason'][0] == guard.DRIVE_FAULT:
            self.cycle_input['stop_reason'] = guard.NO_REASON

    # --- References and partner -------------------------------------------------------------

    def follow(self, waypoints: Waypoints, start: float) -> None:
        """
        Follow a trajectory from ``start`` on.

        Joints that are not named keep their present reference. No waypoints: the reference
        decelerates to rest. One at time 0 is a target to be reached as soon as the limits of
        velocity, acceleration and jerk allow, from any state, as in teleoperation. One within
        MAX_STREAM_TIME belongs to a stream, and the next one replaces it: see
        :func:`.joint_requests.plan_waypoint`.

        Every other trajectory ends at rest, and a new one may replace it on the way. If one starts
        up to ``trajectory_start_tolerance`` from the reference, as a plan from the measured pose
        does, the reference joins it within the limits. A stream of trajectories has to
        look ahead: give each of them waypoints for the next half second or more, and send the next
        one before it brakes. With a few waypoints over a few hundredths of a second the arm stops
        and goes with each of them, which ends in EFFORT_LIMITED or EFFORT_OSCILLATES, and
        :attr:`reason` explains it.

        :param start: time [s] on the clock of :meth:`step`.
        :raises TrajectoryError: the trajectory is refused; the present reference stays in force.
        """
        self.trajectory.follow(waypoints, start)

    def prepare(self, waypoints: Waypoints, start: float) -> PlannedReference:
        """Plan the reference of :meth:`follow`, with its errors, and change nothing."""
        return self.trajectory.prepare(waypoints, start)

    def commit(self, planned: PlannedReference) -> None:
        """
        Follow a reference from :meth:`prepare`.

        :raises TrajectoryError: it is too late, or does not continue the reference any more,
            which stays in force.
        """
        self.trajectory.commit(planned)

    def reference_ended_by(self, settings: Settings) -> str:
        """
        Return why these settings would end the reference under way.

        :returns: '' if they would not, as new gains do not, or if there is no such reference.
        """
        pose, time = self._records.record['follows_pose'][0], self.reference_time
        points, follows = ((self.pose.points, 'pose_following') if pose
                           else (self.trajectory.points, 'following'))
        if (self.phase != guard.RUNNING or not self.memory[follows][0]
                or time >= points.header['start'][0] + points.times[-1]):
            return ''
        differs = [what for what, old, new in zip(BASIS_NAMES, self.settings.basis, settings.basis,
                                                  strict=True) if old != new]
        return (f'the reference under way ends: {" and ".join(differs)} changed; the present pose '
                'is held' if differs else '')

    def follow_pose(self, position: ArrayLike, quaternion: ArrayLike, start: float) -> None:
        """
        Move the reference of ``task_frame`` to a pose, as soon as the limits allow.

        A target may replace another one at any time and from any motion: the reference continues
        with limited velocity, acceleration and jerk (``task_velocity_limit``, ...), even if the
        target jumps.

        :param position: (3,) [m] in the frame of the base.
        :param quaternion: (4,) x, y, z, w: orientation in the frame of the base.
        :param start: time [s] on the clock of :meth:`step` at which the motion begins.
        :raises TrajectoryError: the controller is not RUNNING, the law follows no pose, or the
            pose is not finite, no rotation, or out of reach. The reference stays as it is.
        """
        self.pose.follow_pose(position, quaternion, start)

    def follow_twist(self, twist: ArrayLike, start: float) -> None:
        """
        Move the reference of ``task_frame`` at a twist, for ``twist_timeout``; then it rests.

        :param twist: (6,) linear and angular velocity [m/s, rad/s] in the axes of the base.
        :param start: time [s] on the clock of :meth:`step` at which the motion begins.
        :raises TrajectoryError: as for :meth:`follow_pose`; the twist is above
            ``task_velocity_limit``.
        """
        self.pose.follow_twist(twist, start)

    def follow_wrench(self, wrench: ArrayLike, start: float, *, tool_axes: bool = False) -> None:
        """
        Exert a wrench with ``task_frame`` for ``wrench_timeout``, in addition to the law.

        It then fades within 0.1 s, even if the sender disappears.

        :param wrench: (6,) force and torque [N, N·m] on the environment, at the origin of the
            frame, in the axes of the base, or of the frame.
        :param start: time [s] on the clock of :meth:`step` from which ``wrench_timeout`` counts.
        :raises TrajectoryError: as for :meth:`follow_pose`; the wrench is not finite, or above
            ``task_wrench_limit``.
        """
        self.pose.follow_wrench(wrench, start, tool_axes=tool_axes)

    def follow_stiffness(self, stiffness: ArrayLike, start: float) -> None:
        """
        Ask for a stiffness of cartesian_impedance, in no direction above ``task_stiffness``.

        It is reached within some tenths of a second, later where it would add more energy than
        the tank has (``tank_energy``); it stays until another one is asked for, or until the law
        or its gains change.

        :param stiffness: (6,) [N/m, N·m/rad] along and about ``task_axes``, or a symmetric,
            positive semi-definite matrix (6, 6), or its 36 elements by rows.
        :param start: time [s] on the clock of :meth:`step`.
        :raises TrajectoryError: as for :meth:`follow_pose`; a number is not finite, or
            the matrix is not symmetric, has a negative direction, or one in which it is above
            ``task_stiffness``, for which the gains were judged.
        """
        self.pose.follow_stiffness(stiffness, start)

    def follow_policy(self, time: float, effort: ndarray, position: ndarray, velocity: ndarray,
                      gain: ndarray) -> None:
        """
        Put the policy of a planner in force, for the mode ``feedback_policy``.

        :param time: of the state that it was planned from [s], on the clock of :meth:`step`.
        :param effort: (nv,) u [N·m | N], with g(q).
        :param position, velocity: (nv,) x̂ [rad | m, per s].
        :param gain: (nv, 2 nv) K.
        :raises ArgumentError: the law in force uses no policy, or see :func:`.policy.checked` and
            :class:`.VelocityCheck`; the previous policy stays in force.
        """
        self.policy.follow(time, effort, position, velocity, gain)

    def follow_partner(self, state: CouplingState, time: float) -> None:
        """
        Update the state of the partner.

        :param time: of its state [s], on the clock of :meth:`step`.
        :raises ArgumentError: the law in force couples no arms, or see :func:`.partner.checked`
            and :func:`.partner.check_continues`; the previous state stays in force, until it is
            older than ``coupling_timeout``.
        """
        self.partner.follow(state, time)

    def coupling_state(self) -> CouplingState:
        """
        Return the state for the partner, after the last step.

        :raises ArgumentError: the law in force couples no arms.
        """
        return self.partner.state()

    # --- Status ------------------------------------------------------------------------------

    @property
    def couples(self) -> bool:
        """Whether the law in force is one that couples the arm to a partner."""
        return self.settings.law_in_force.reference == PARTNER

    @property
    def coupling_energy(self) -> ndarray:
        """
        Energy (nv,) [J] that each joint has given to the coupling since it began.

        The sum over both arms is the energy that the coupling stores and dissipates: it is passive
        as long as the sum is not negative.
        """
        return self.partner.energy()

    @property
    def pose_serial(self) -> int:
        """Serial number of the newest reference pose, 0 before the first one."""
        return self.pose.serial

    @property
    def reference(self) -> ndarray:
        """Reference (nv,) [rad | m] of the last step, NaN while no trajectory is followed."""
        follows = registry.find(registry.mode_name(int(self.memory['mode'][0]))).follows
        if self.phase != guard.RUNNING or not follows:
            return np.full(self.model.nv, np.nan)
        return self._v.target.copy()

    @property
    def reference_time(self) -> float:
        """Time [s] of the clock of references, which lags where bounds slow them down."""
        return float(self.memory['time'][0] - self.memory['lag'][0])

    @property
    def reference_serial(self) -> int:
        """Serial number of the newest reference, 0 before the first one."""
        return self.trajectory.serial

    @property
    def held_by(self) -> str:
        """Sentence that explains why the last motion ended early, '' if it did not."""
        return status_sentences.held_by(self)

    @property
    def phase(self) -> guard.Phase:
        """Phase after the last step."""
        return guard.Phase(self.memory['phase'][0])

    @property
    def reason(self) -> str:
        """Sentence that explains the fault, with the joint concerned and a hint, if any."""
        return status_sentences.reason(self)

    @property
    def reason_code(self) -> str:
        """Reason code of the fault, one of :data:`.guard.CODES`."""
        return guard.CODES[int(self.memory['reason'][0])]

    @property
    def arming_refusal(self) -> str:
        """Sentence that explains why arming was refused."""
        return status_sentences.arming_refusal(self)

    @property
    def off_target(self) -> str:
        """Sentence that explains which joint rests away from its target; '' if none does."""
        return status_sentences.off_target(self)

    def withholding(self, i: int, withheld: float, requested: float) -> str:
        """Return which limits withhold an effort of the law from a joint [N·m | N]; or ''."""
        return status_sentences.withholding(self, i, withheld, requested)

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

    def check_basis(self) -> None:
        """
        Refuse a reference between a change of :attr:`Settings.basis` and the next cycle.

        :raises TrajectoryError: the present pose is about to become the reference.
        """
        if self.basis_changes:
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

    @property
    def basis_changes(self) -> bool:
        """Whether the present pose becomes the reference in the next cycle."""
        return bool(self._records.record['basis'][0] != self.memory['basis'][0])

    @property
    def records(self) -> Version:
        """Settings in force, and the records that the cycle reads of them."""
        return self._records

    @property
    def vectors(self) -> Vectors:
        """Quantities of the joints after the last step."""
        return self._v

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
