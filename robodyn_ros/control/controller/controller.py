# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Controller of one robot without ROS: from joint states and time to efforts."""

from __future__ import annotations

from collections.abc import Callable
from operator import is_
from threading import RLock
from typing import Any
import warnings

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from .followed_references import PoseReference, TrajectoryReference
from .history import History, Version
from . import status
from .partner_and_policy import PartnerReference, PolicyReference
from .settings_in_force import SettingsInForce
from .status import Pace
from ..cycle import ring_buffer
from ..cycle.compile import begin as begin_compilation, compiled, CYCLE_INPUTS, PLAIN
from ..inputs.partner import CouplingState
from ..laws import registry
from ..laws.law import PARTNER
from ..references.compile_planner import begin_planner
from ..references.reference_planning import PlannedReference
from ..references.trajectory import Waypoints
from ..settings.motion_limits import Scarcity
from ..settings.settings import Settings
from ..steps import guard, lowering, payload_transition
from ..steps.cycle_data import CONTROLLER_STATE, Cycle, CYCLE_INPUT, Vectors
from ..steps.guard import ARM, DISARM, NO_REQUEST, STOP
from ...compiler.tuple_reference import TupleMemory
from ...dynamics.model_data import workspace
from ...errors import ArgumentError
from ...model.robot import RobotModel
from ...state import no_state, STATE


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
                 checked: Callable[[], None] = lambda: None, like: Controller | None = None):
        model.require_inertia('a controller')
        if like is not None and (like.model is not model or like.settings is not settings):
            raise ArgumentError('like has another model or other settings', name='like',
                                remedy='pass a controller made with the same objects')
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
        #: Called when :attr:`inputs` are others than before.
        self.changed: Callable[[], None] = lambda: None
        law_rows = registry.most_rows(model.nv, *registry.BUILT_IN, settings.law_in_force)
        self._flight, self._v, kept = ring_buffer.recorder(
            model.nv, recorded, law_rows + payload_transition.rows(model.nb, model.nv))
        self._law_memory = kept[:law_rows]
        #: Settings and references of the recorded cycles, and snapshots of them.
        self.history = History(self._flight)
        self._work = workspace(model)
        #: The compiled control cycle; :data:`.compile.PLAIN` for that in plain Python.
        self.compiled = PLAIN           # until settings and law are found good
        #: Newest words of drives that report a fault, see :meth:`report_drives`.
        self.drive_fault = ''
        # Parts, each of which holds what the cycle follows of its kind
        shared = None if like is None else like._in_force
        self._in_force: SettingsInForce = SettingsInForce(self, settings, self._law_memory, shared)
        self._payload = payload_transition.payload_in_force(
            self._in_force.unloaded, kept[law_rows:])
        self.trajectory, self.pose = TrajectoryReference(self), PoseReference(self)
        self.policy, self.partner = PolicyReference(self), PartnerReference(self, self._law_memory)
        #: Held while settings or a reference are compared with those in force, and replace them.
        self.changing = RLock()
        #: Intervals between the steps; controllers that are stepped together share one.
        self.pace = Pace()
        # The cycle with its inputs, and those of them that are replaced while it runs
        self._cycle: Callable[[float, ndarray], bool] = lambda now, tau: False
        self._prepared_parts: tuple[Any, ...] = (None,) * 5
        self._inputs_memory, self._address = TupleMemory(CYCLE_INPUTS), 0
        self.put_in_force(self.prepare_settings(settings))
        if like is None:
            self._in_force.try_law()
        checked()
        if specialize:
            self._in_force.specialize(shared)
        self._in_force.load()
        self.begin()
        self.compiled = compiled()
        self._in_force.load_laws()
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
        self.history.begin(self.records, self.trajectory.points, self.policy.newest,
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
        before, new = self._in_force.newest, self.prepare_settings(settings)
        with self.changing:             # not while code compiles: a loop may follow meanwhile
            if self._in_force.newest is not before:     # another thread has replaced them
                new = self.prepare_settings(settings)
            self.put_in_force(new)

    def put_in_force(self, new: Version) -> None:
        """Replace the settings by those that :meth:`prepare_settings` has returned."""
        with self.changing:
            self._in_force.put_in_force(new)

    def check(self, settings: Settings) -> None:
        """Raise :class:`RobodynError` if these settings cannot be used."""
        self.prepare_settings(settings)

    def prepare_settings(self, settings: Settings, *, wait: bool = True) -> Version:
        """
        Return the records and the robot that the cycle reads, which :meth:`put_in_force` takes.

        :param wait: for code that this machine is compiling; False: refuse settings that need it.
        :raises RobodynError: the settings cannot be used.
        """
        return self._in_force.prepare(settings, wait)

    @property
    def settings(self) -> Settings:
        """Settings in force."""
        return self._in_force.settings

    @property
    def records(self) -> Version:
        """Settings in force, and the records that the cycle reads of them."""
        return self._in_force.newest

    @property
    def scarcity(self) -> Scarcity:
        """Efforts that the acceleration bounds leave to each joint, with the settings in force."""
        return self._in_force.scarcity

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
        settings = self._in_force.settings
        return self.pace.missed(now, 1.0 / settings.rate, settings.state_timeout)

    def advance(self, now: float) -> bool:
        """Advance as :meth:`step` does; missed periods are those in ``cycle_input``."""
        self.write_inputs()
        return self._cycle(now, self.tau)

    def write_inputs(self) -> int:
        """Write :attr:`inputs` where the cycle reads them, if they changed; return the address."""
        parts = (self._in_force.newest, self.trajectory.points, self.policy.newest,
                 self.partner.newest, self.pose.points)
        if not all(map(is_, parts, self._prepared_parts)):
            self._cycle = self.compiled.prepare(self.inputs, self._inputs_memory)
            self._prepared_parts = parts
            self._address = self._inputs_memory.address
        return self._address

    @property
    def inputs(self) -> Cycle:
        """Return the present inputs and outputs of the cycle of :attr:`compiled`."""
        robot, joints, settings, _, law, task, bounds = self.records
        return Cycle(
            robot=robot, workspace=self._work, joints=joints, settings=settings, law=law,
            cycle_input=self.cycle_input, state=self.state, points=self.trajectory.points,
            policy=self.policy.newest, partner=self.partner.newest, task=task,
            poses=self.pose.points, bounds=bounds, controller=self.memory, vectors=self._v,
            payload=self._payload, ring=self._flight, code=self.compiled.code_for(settings, robot))

    def arm(self) -> None:
        """Request arming, which :attr:`arming_refusal` may prevent; while arming, no change."""
        if self.asked or not self.memory['arming'][0]:
            self.cycle_input['request'] = ARM

    def disarm(self) -> None:
        """Withdraw the request to arm."""
        self.cycle_input['request'] = DISARM

    def stop(self) -> None:
        """Request to bring the arm to rest and publish the last message."""
        self.cycle_input['request'] = STOP

    def guide(self, until: float) -> None:
        """
        Let hands guide the arm until a time [s] on the clock of :meth:`step`; -inf ends it.

        That is in the mode ``hand_guiding``, and at most ``guiding_timeout`` ahead.
        """
        self.cycle_input['guiding_until'] = until

    def report_drives(self, words: str) -> None:
        """
        Stop the arm, and refuse to arm it, while drives report a fault; other stops stay.

        :param words: of the drives, such as 'joint4: rotor too hot'; '': they are well.
        """
        if words:
            self.drive_fault = words
        if self.cycle_input['stop_reason'][0] in (guard.NO_REASON, guard.DRIVE_FAULT):
            self.cycle_input['stop_reason'] = guard.DRIVE_FAULT if words else guard.NO_REASON

    @property
    def drives_damp(self) -> bool:
        """Whether drives of an arm without brakes damp it, beside the efforts if any."""
        return self.settings.lower_to_rest and lowering.drives_damp(self.memory[0])

    def follow(self, waypoints: Waypoints, start: float) -> None:
        """Follow a trajectory from ``start`` on, see :meth:`.TrajectoryReference.follow`."""
        self.trajectory.follow(waypoints, start)

    def prepare(self, waypoints: Waypoints, start: float) -> PlannedReference:
        """Plan the reference of :meth:`follow`, with its errors, and change nothing."""
        return self.trajectory.prepare(waypoints, start)

    def commit(self, planned: PlannedReference) -> None:
        """Follow a reference from :meth:`prepare`, if it still continues the present one."""
        with self.changing:
            self.trajectory.commit(planned)

    def reference_ended_by(self, settings: Settings) -> str:
        """Return why these settings would end the reference under way, '' if they would not."""
        return self.trajectory.ended_by(settings)

    def follow_pose(self, position: ArrayLike, quaternion: ArrayLike, start: float) -> None:
        """Move ``task_frame`` to a pose, see :meth:`.PoseReference.follow_pose`."""
        self.pose.follow_pose(position, quaternion, start)

    def follow_twist(self, twist: ArrayLike, start: float) -> None:
        """Move ``task_frame`` at a twist, see :meth:`.PoseReference.follow_twist`."""
        self.pose.follow_twist(twist, start)

    def follow_wrench(self, wrench: ArrayLike, start: float, *, tool_axes: bool = False) -> None:
        """Exert a wrench with ``task_frame``, see :meth:`.PoseReference.follow_wrench`."""
        self.pose.follow_wrench(wrench, start, tool_axes=tool_axes)

    def follow_stiffness(self, stiffness: ArrayLike, start: float) -> None:
        """Ask for another stiffness, see :meth:`.PoseReference.follow_stiffness`."""
        self.pose.follow_stiffness(stiffness, start)

    def follow_policy(self, time: float, effort: ndarray, position: ndarray, velocity: ndarray,
                      gain: ndarray) -> None:
        """Put the policy of a planner in force, see :meth:`.PolicyReference.follow`."""
        self.policy.follow(time, effort, position, velocity, gain)

    def follow_partner(self, state: CouplingState, time: float) -> None:
        """Update the state of the partner, see :meth:`.PartnerReference.follow`."""
        self.partner.follow(state, time)

    def coupling_state(self) -> CouplingState:
        """Return the state for the partner, see :meth:`.PartnerReference.state`."""
        return self.partner.state()

    @property
    def couples(self) -> bool:
        """Whether the law in force is one that couples the arm to a partner."""
        return self.settings.law_in_force.reference == PARTNER

    @property
    def coupling_energy(self) -> ndarray:
        """Energy (nv,) [J] that each joint has given to the coupling since it began."""
        return self.partner.energy()

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
    def held_by(self) -> str:
        """Sentence that explains why the last motion ended early, '' if it did not."""
        return status.held_by(self)

    @property
    def phase(self) -> guard.Phase:
        """Phase after the last step."""
        return guard.Phase(self.memory['phase'][0])

    @property
    def reason(self) -> str:
        """Sentence that explains the fault, with the joint concerned and a hint, if any."""
        return status.reason(self)

    @property
    def reason_code(self) -> str:
        """Reason code of the fault, one of :data:`.guard.CODES`."""
        return guard.CODES[int(self.memory['reason'][0])]

    @property
    def arming_refusal(self) -> str:
        """Sentence that explains why arming was refused."""
        return status.arming_refusal(self)

    @property
    def off_target(self) -> str:
        """Sentence that explains which joint rests away from its target; '' if none does."""
        return status.off_target(self)

    @property
    def external_effort(self) -> ndarray:
        """External efforts (nv,) [N·m | N] of :mod:`.momentum_observer`, NaN without estimate."""
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
    def basis_changes(self) -> bool:
        """Whether the present pose becomes the reference in the next cycle."""
        return bool(self.records.record['basis'][0] != self.memory['basis'][0])

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
