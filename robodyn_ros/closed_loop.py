# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A controller and a simulated arm in closed loop, in one call and without ROS."""

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

LONGEST_STEP = 0.25e-3      # s, of the physics
RISE = 5.0                  # s that the arm may take to be armed and to rise


class Simulated(NamedTuple):
    """
    What :func:`simulate` returns: a row for each period of the controller, once it is RUNNING.

    ``time`` (N,) [s] from there on; ``position`` [rad | m], ``velocity`` [rad/s | m/s] and
    ``effort`` [N·m | N], which the controller asked for, (N, nv) in the model's joint order;
    ``fault`` is the reason of a fault, empty where there was none.
    """

    time: ndarray
    position: ndarray
    velocity: ndarray
    effort: ndarray
    fault: str


def simulate(model: RobotModel, settings: Settings, position: ArrayLike, duration: float,
             waypoints: Waypoints | None = None) -> Simulated:
    """
    Let a controller drive a simulated arm (MuJoCo) and return the motion.

    The arm is held by its brakes at ``position`` until the controller has been armed; what is
    returned begins when its law is in force. Then it follows ``waypoints``, whose times count
    from there. The plant knows the model's bodies, friction and limits exactly, the state is
    exact and a period old; for other plants, delays and noise write the loop yourself with
    :class:`~robodyn_ros.Controller` and :class:`~robodyn_ros.simulation.plant.Plant`.

    :param settings: of the controller; the loop runs at ``settings.rate``.
    :param position: (nv,) [rad | m] at the start.
    :param duration: [s] of what is returned.
    :raises SimulationError: the arm is not armed (with the reason), or MuJoCo refuses it.
    :raises ParameterError: settings or position cannot be used.
    :raises TrajectoryError: the waypoints are refused.
    :raises ImportError: MuJoCo is not installed.
    """
    period, controller = 1.0 / settings.rate, Controller(model, settings, specialize=False)
    start = initial_position(model, np.asarray(position, float).ravel().tolist())
    substeps = ceil(period / LONGEST_STEP - 1e-9)
    arm = Drive(Plant(model.to_urdf(), model=model, timestep=period / substeps, substeps=substeps,
                      compensates_gravity=settings.robot_compensates_gravity),
                initial=start, timeout=inf)
    controller.arm()
    rows: list[tuple[ndarray, ndarray, ndarray]] = []
    began = None
    for k in range(round((RISE + duration) / period)):
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
        elif controller.phase == guard.FAULT or now > RISE:
            break
        arm.advance()
    if began is None:
        fault = controller.phase == guard.FAULT
        raise SimulationError('the simulated arm does not rise ('
                              f'{controller.reason if fault else controller.arming_refusal})',
                              name=model.name, remedy='begin in another position, or change the '
                              'settings that the reason is about')
    positions, velocities, efforts = (np.array(part) for part in zip(*rows))
    return Simulated(period * np.arange(len(rows)), positions, velocities, efforts,
                     controller.reason if controller.phase == guard.FAULT else '')
