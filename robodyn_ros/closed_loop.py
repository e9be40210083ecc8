# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Closed-loop simulation of a controller and an arm in MuJoCo, without ROS."""

from __future__ import annotations

from math import ceil, inf
from typing import NamedTuple

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from .control import guard
from .control.controller import Controller
from .control.settings import Settings
from .control.trajectory import Waypoints
from .errors import SimulationError
from .model.pose import initial_position
from .model.robot import RobotModel
from .simulation.drive import Drive
from .simulation.plant import Plant

MAX_PHYSICS_STEP = 0.25e-3  # [s]
RISE_TIMEOUT = 5.0          # [s] until the controller is RUNNING


class Simulated(NamedTuple):
    """
    Result of :func:`simulate`, one row per period of the RUNNING controller.

    :param time: (N,) [s] since the controller is RUNNING.
    :param position: (N, nv) [rad | m] in the joint order of the model.
    :param velocity: (N, nv) [rad/s | m/s].
    :param effort: (N, nv) [N·m | N] commanded by the controller.
    :param fault: reason of a fault, empty without one.
    """

    time: ndarray
    position: ndarray
    velocity: ndarray
    effort: ndarray
    fault: str


def simulate(model: RobotModel, settings: Settings, position: ArrayLike, duration: float,
             waypoints: Waypoints | None = None, *, plant: RobotModel | None = None,
             delay: float = 0.0) -> Simulated:
    """
    Return the motion of a simulated arm (MuJoCo) under a controller.

    Brakes hold the arm at ``position`` until the controller is armed. The result begins when the
    controller is RUNNING; then it follows ``waypoints``, whose times count from there. The plant
    has the bodies, friction and limits of the model, and the state is exact and one period old.
    For noise and other plants, write the loop with :class:`~robodyn_ros.Controller` and
    :class:`~robodyn_ros.simulation.plant.Plant`.

    :param model: the robot.
    :param settings: of the controller; the loop runs at ``settings.rate``.
    :param position: (nv,) [rad | m] initial position.
    :param duration: [s] of the result.
    :param waypoints: trajectory to follow; None to hold the position, or as the law does.
    :param plant: the robot that moves, with the joints of ``model``; None: ``model`` itself.
    :param delay: [s] by which efforts arrive late, in addition to the period.
    :raises SimulationError: the controller is not armed (the message says why), or MuJoCo rejects
        the robot.
    :raises ParameterError: settings or position are invalid.
    :raises TrajectoryError: the waypoints are refused.
    :raises ImportError: MuJoCo is not installed.

    >>> from robodyn_ros import Settings, load_urdf, simulate
    >>> arm = load_urdf('two_link')
    >>> run = simulate(arm, Settings(mode='gravity_compensation'), [0.3, 0.5], duration=0.1)
    >>> run.fault, run.position.shape[1]
    ('', 2)
    """
    period, controller = 1.0 / settings.rate, Controller(model, settings, specialize=False)
    start = initial_position(model, np.asarray(position, float).ravel().tolist())
    substeps = ceil(period / MAX_PHYSICS_STEP - 1e-9)
    moved = model if plant is None else plant
    arm = Drive(Plant(moved.to_urdf(), model=moved, timestep=period / substeps, substeps=substeps,
                      compensates_gravity=settings.robot_compensates_gravity),
                initial=start, timeout=inf, delay=delay)
    controller.arm()
    rows: list[tuple[ndarray, ndarray, ndarray]] = []
    began = None
    for k in range(round((RISE_TIMEOUT + duration) / period)):
        now, seen = k * period, arm.state()
        controller.state['position'], controller.state['velocity'] = seen.position, seen.velocity
        controller.state['effort'], controller.state['received'] = seen.effort, now
        if controller.step(now):
            arm.command(controller.tau.copy(), now)
        if began is None and controller.phase == guard.RUNNING:
            began = k
            if waypoints is not None:
                controller.follow(waypoints, now)
        if began is not None:
            rows.append((seen.position.copy(), seen.velocity.copy(), controller.tau.copy()))
            if k - began >= round(duration / period):
                break
        elif controller.phase == guard.FAULT or now > RISE_TIMEOUT:
            break
        arm.advance()
    if began is None:
        fault = controller.phase == guard.FAULT
        raise SimulationError('the simulated arm does not start ('
                              f'{controller.reason if fault else controller.arming_refusal})',
                              name=model.name, remedy='choose another initial position, or change '
                              'the settings that the reason refers to')
    positions, velocities, efforts = (np.array(part) for part in zip(*rows))
    return Simulated(period * np.arange(len(rows)), positions, velocities, efforts,
                     controller.reason if controller.phase == guard.FAULT else '')
