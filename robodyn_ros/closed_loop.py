# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Closed-loop simulation of a controller and an arm in MuJoCo, without ROS."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from math import ceil, inf, nan
from pathlib import Path
from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from .control.controller.controller import Controller
from .control.inputs.partner import ALIGNED, CouplingState
from .control.references.trajectory import GENTLE_TIME, Waypoints
from .control.settings.settings import Settings
from .control.steps import guard
from .dynamics.arguments import numbers
from .errors import ArgumentError, ArmingError, SimulationError
from .flight_recorder.file import require_mcap, write_cycles
from .model.robot import initial_position, RobotModel
from .report.run_figure import run_figure
from .simulation.drive import Drive, Noise, nonnegative
from .simulation.plant import Plant

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_PHYSICS_STEP = 0.25e-3  # [s]
RISE_TIMEOUT = 5.0          # [s] until the controller is RUNNING
TEST_TIMEOUT = 6.0          # [s] in addition, for each motor that is tested
ALIGN_TIMEOUT = 60.0        # [s] until two arms are coupled and aligned


class Simulated(NamedTuple):
    """
    Result of :func:`simulate`, one row per period since the controller has been RUNNING.

    :param time: (N,) [s] since the controller has been RUNNING.
    :param position: (N, nv) [rad | m] in the joint order of the model.
    :param velocity: (N, nv) [rad/s | m/s].
    :param effort: (N, nv) [N·m | N] commanded by the controller.
    :param fault: reason of a fault, with ``code`` and ``fault_time`` [s]; empty and NaN without
        one.
    :param reference: (N, nv) [rad | m], NaN while the law follows no trajectory.
    :param phase: (N,) names of :class:`~robodyn_ros.Phase`: ``run.phase == 'FAULT'``.
    :param model: robot of the controller.
    :param warning: which joint rests away from its target at the end, and why; '' if none does.
    """

    time: ndarray
    position: ndarray
    velocity: ndarray
    effort: ndarray
    fault: str
    code: str
    fault_time: float
    reference: ndarray
    phase: ndarray
    model: RobotModel
    warning: str = ''

    @property
    def error(self) -> ndarray:
        """Tracking error (N, nv) [rad | m]: reference minus position, NaN without a reference."""
        return self.reference - self.position

    def plot(self) -> Figure:
        """
        Return a Matplotlib figure of position, tracking error, velocity and effort.

        References are dashed, and a fault is shaded. ``figure.savefig('run.png')`` writes it; a
        notebook displays it.

        :raises ImportError: Matplotlib is not installed.
        """
        return run_figure(self.model, self.time, self.position, self.reference, self.velocity,
                          self.effort, self.fault, self.fault_time)


def simulate(model: RobotModel, settings: Settings, position: ArrayLike, duration: float,
             waypoints: Waypoints | None = None, *, plant: RobotModel | None = None,
             delay: float = 0.0, noise: Noise | None = None, record: Path | None = None
             ) -> Simulated:
    """
    Return the motion of a simulated arm (MuJoCo) under a controller.

    Brakes hold the arm at ``position`` until the controller is armed. The result begins when the
    controller is RUNNING; then it follows ``waypoints``, whose times count from there. A test of
    the motors moves the arm, which returns to ``position`` before it follows them. The plant
    has the bodies, friction and limits of the model, and the state is exact, if there is no noise,
    and one period old. For other plants, write the loop with :class:`~robodyn_ros.Controller` and
    :class:`~robodyn_ros.simulation.plant.Plant`.

    :param model: the robot.
    :param settings: of the controller; the loop runs at ``settings.rate``.
    :param position: (nv,) [rad | m] initial position.
    :param duration: [s] of the result.
    :param waypoints: trajectory to follow; None to hold the position, or as the law does.
    :param plant: the robot that moves, with the joints of ``model``; None: ``model`` itself, with
        the rotor inertia of the settings.
    :param delay: [s] by which efforts arrive late, in addition to the period.
    :param noise: of the sensors; the result has it too. None: none.
    :param record: file of a flight recording to write (MCAP); None: none.
    :raises SimulationError: MuJoCo rejects the robot; its subclass ArmingError: the controller is
        not armed, and the message says why.
    :raises ParameterError: the settings are invalid, or the position has another length or is
        outside the limits.
    :raises ArgumentError: the position is not of numbers; the duration or the delay is negative or
        not finite; ``plant`` has other joints, or the same in another order.
    :raises TrajectoryError: the waypoints are refused.
    :raises ImportError: MuJoCo is not installed.

    >>> from robodyn_ros import Settings, load_urdf, simulate
    >>> arm = load_urdf('two_link')
    >>> run = simulate(arm, Settings(mode='gravity_compensation'), [0.3, 0.5], duration=0.1)
    >>> run.fault, run.position.shape, run.phase[-1].item()
    ('', (101, 2), 'RUNNING')
    """
    duration = nonnegative('duration', duration)
    if record is not None:
        require_mcap(record)
    loop = ClosedLoop(model, settings, position, plant=plant, delay=delay, noise=noise, recorded=(
        0 if record is None else round((duration + RISE_TIMEOUT) * settings.rate)))
    loop.start()
    if waypoints is not None:
        if loop.controller.settings.tested_effort:
            loop.go_back()
        loop.controller.follow(waypoints, loop.now)
    controller = loop.controller

    def row() -> tuple[ndarray | str, ...]:
        return *loop.row(), controller.reference, controller.phase.name

    rows = [row()]
    for _ in range(round(duration / loop.period)):
        loop.tick()
        rows.append(row())
    if record is not None:
        write_cycles(record, controller, 'robodyn simulate', 'record')
    positions, velocities, efforts, references, phases = (np.array(part) for part in zip(*rows))
    time = loop.period * np.arange(len(rows))
    failed = time[phases == guard.Phase.FAULT.name]
    fault: tuple[str, str, float] = '', '', nan
    if len(failed):
        fault = controller.reason, controller.reason_code, float(failed[0])
    return Simulated(time, positions, velocities, efforts, *fault, references, phases, model,
                     controller.off_target)


class ClosedLoop:
    """
    A controller and an arm in MuJoCo, period by period; for parameters see :func:`simulate`.

    :raises ParameterError, ArgumentError, SimulationError, ImportError: see :func:`simulate`.
    """

    def __init__(self, model: RobotModel, settings: Settings, position: ArrayLike, *,
                 plant: RobotModel | None = None, delay: float = 0.0,
                 noise: Noise | None = None, recorded: int = 0):
        # Its motors obey: no test by default
        settings = replace(settings, motor_test_effort=max(0.0, settings.motor_test_effort))
        self.period = 1.0 / settings.rate       # [s]
        self.controller = Controller(model, settings, specialize=False, recorded=recorded)
        given = numbers('position', position, f'({model.nv},): one number per joint')
        self._start = initial_position(model, given.ravel().tolist())
        substeps = ceil(self.period / MAX_PHYSICS_STEP - 1e-9)
        moved = settings.with_rotors(model) if plant is None else plant
        if moved.joint_names != model.joint_names:
            raise ArgumentError(
                f'plant has the joints {", ".join(moved.joint_names)}', name='plant',
                value=moved.joint_names, remedy='pass a robot with the joints of the model, in '
                f'its order: {", ".join(model.joint_names)}')
        #: The simulated arm, with its obstacles.
        self.plant = Plant(moved.to_urdf(), model=moved, timestep=self.period / substeps,
                           substeps=substeps,
                           compensates_gravity=settings.robot_compensates_gravity)
        self._arm = Drive(self.plant, initial=self._start, timeout=inf, delay=delay, noise=noise)
        self._cycles = 0
        self._seen = self._arm.state()

    @property
    def now(self) -> float:
        """Time of the last cycle [s]."""
        return (self._cycles - 1) * self.period

    def row(self) -> tuple[ndarray, ndarray, ndarray]:
        """Return position, velocity and commanded effort (nv,) of the last cycle."""
        return (self._seen.position.copy(), self._seen.velocity.copy(),
                self.controller.tau.copy())

    def tick(self) -> None:
        """Advance the arm by one period, except in the first call, and run a cycle."""
        if self._cycles:
            self._arm.advance()
        now, controller = self._cycles * self.period, self.controller
        self._cycles += 1
        self._seen = seen = self._arm.state()
        controller.state['position'], controller.state['velocity'] = seen.position, seen.velocity
        controller.state['effort'], controller.state['received'] = seen.effort, now
        if controller.step(now):
            self._arm.command(controller.tau.copy(), now)

    def start(self) -> None:
        """
        Arm the controller and go on until it is RUNNING.

        :raises ArmingError: it is not armed; the message says why.
        """
        controller = self.controller
        tested = controller.model.nv if controller.settings.tested_effort else 0
        controller.arm()
        while controller.phase != guard.RUNNING:
            self.tick()
            if (fault := controller.phase == guard.FAULT) or (
                    self.now > RISE_TIMEOUT + TEST_TIMEOUT * tested):
                raise ArmingError(
                    'the simulated arm does not start ('
                    f'{controller.reason if fault else controller.arming_refusal})',
                    name=controller.model.name, remedy='choose another initial position, or '
                    'change the settings that the reason refers to')

    def go_back(self) -> None:
        """
        Move to the initial position, from where the test of the motors has left the arm.

        :raises TrajectoryError: the control law follows no reference.
        """
        self.controller.follow(Waypoints(self.controller.model.joint_names, np.array(
            [GENTLE_TIME]), self._start[None]), self.now)
        for _ in range(round(GENTLE_TIME / self.period)):
            self.tick()


class CoupledLoops:
    """
    Two closed loops whose controllers are in the mode ``leader_follower``, and the link.

    :param leader, follower: of the same rate, not started.
    :param delay: [s] of the link in each direction.
    :param rate: of its messages [Hz].
    """

    def __init__(self, leader: ClosedLoop, follower: ClosedLoop, *, delay: float = 0.0,
                 rate: float = 250.0):
        self.loops = leader, follower
        #: Delay of the link in each direction [s], and whether messages arrive.
        self.delay, self.connected = delay, True
        self._pace, self._ticks = max(1, round(1.0 / (rate * leader.period))), 0
        self._under_way: deque[tuple[float, ClosedLoop, CouplingState, float]] = deque()

    def tick(self) -> None:
        """Advance both arms by one period, and the messages between them."""
        for loop in self.loops:
            loop.tick()
        now = self.loops[0].now
        if self._ticks % self._pace == 0 and self.connected:
            for sender, receiver in (self.loops, self.loops[::-1]):
                self._under_way.append((now + self.delay, receiver,
                                        sender.controller.coupling_state(), now))
        self._ticks += 1
        while self._under_way and self._under_way[0][0] <= now + 1e-9:
            _, receiver, state, sent = self._under_way.popleft()
            receiver.controller.follow_partner(state, sent)

    def start(self) -> None:
        """
        Arm both controllers and go on until the arms are coupled and aligned.

        :raises SimulationError: one is not armed, or they are not aligned within ALIGN_TIMEOUT.
        """
        for loop in self.loops:
            loop.controller.arm()
        while any(loop.controller.coupling_state().status != ALIGNED for loop in self.loops):
            self.tick()
            for loop in self.loops:
                failed = loop.controller.phase == guard.FAULT
                if failed or loop.now > ALIGN_TIMEOUT:
                    raise SimulationError(
                        'the arms are not coupled (' + (
                            loop.controller.reason if failed else loop.controller.arming_refusal
                        ) + ')', name=loop.controller.model.name, remedy='choose initial '
                        'positions nearer to each other, or change the settings that the reason '
                        'refers to')
