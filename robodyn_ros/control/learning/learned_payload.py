# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Payload that the law ``adaptive`` has learned, as mass, center and inertia."""

from typing import NamedTuple

import numpy as np
from numpy import ndarray

from ..controller.controller import Controller
from ..laws import adaptive, registry
from ...dynamics.model_data import parameters
from ...errors import ParameterError


class LearnedPayload(NamedTuple):
    """
    Body that the arm carries besides its model, in the axes of a link.

    :param link: name of the link, fixed to the last joint or to the joint of ``payload_frame``.
    :param mass: [kg].
    :param com: (3,) [m] center of mass.
    :param inertia: (3, 3) [kg·m²] about the center of mass, that of a real body.
    """

    link: str
    mass: float
    com: ndarray
    inertia: ndarray


#: kg; a lighter payload has no center that is known
MIN_MASS = 0.01
#: m; least radius of gyration, so that rounding makes no moment negative
MIN_GYRATION_RADIUS = 1e-4


def pseudo_inertia(controller: Controller) -> tuple[ndarray, ndarray]:
    """
    Return the estimate P̂ and its beginning P₀ (4, 4), about the origin of the record frame.

    :raises ParameterError: the law in force is another one, or has not begun.
    """
    mode = registry.mode_name(int(controller.memory['mode'][0]))
    rows = controller._law_memory.copy()        # the loop may be in another thread
    memory = registry.memory_fields(adaptive.LAW, rows)
    if mode != adaptive.LAW.name or memory.clock[1] != 1.0:
        raise ParameterError('nothing is learned', name='mode', value=mode,
                             remedy=f'follow trajectories in mode {adaptive.LAW.name}')
    G = memory.factor.reshape(4, 4)
    return G @ G.T, memory.nominal.reshape(4, 4).copy()


def learned_payload(controller: Controller) -> LearnedPayload:
    """
    Return what the law ``adaptive`` has learned: the estimated body without that of the model.

    A payload that the settings state is part of the model: the result comes in addition to it.
    Parameters that the motion has not excited are those of the model, and those that it has
    excited little are uncertain: center and inertia need rotations of the wrist.

    :raises ParameterError: the law in force is another one or has not begun, or the result has
        a mass of less than MIN_MASS: it is no body, but an error of the model.
    """
    estimate, nominal = pseudo_inertia(controller)
    more = estimate - nominal
    body = controller.settings.payload_body(controller.model)
    robot = parameters(controller.model)
    mass = float(more[3, 3])
    if mass < MIN_MASS:
        raise ParameterError(f'the arm carries {mass:.3g} kg more than its model', name='mass',
                             value=mass, remedy='grip a payload and move it, or correct the model')
    com = more[:3, 3] / mass
    # About the center of mass; moments that are not known well may come out negative
    moments, turn = np.linalg.eigh(more[:3, :3] - mass * np.outer(com, com))
    second = turn * np.maximum(moments, MIN_GYRATION_RADIUS**2 * mass) @ turn.T
    axes = robot.axes[body].reshape(3, 3)       # of the record frame in the link's
    inertia = axes @ (np.trace(second) * np.eye(3) - second) @ axes.T
    inertia = 0.5 * (inertia + inertia.T)
    return LearnedPayload(controller.model.link_names[body], mass,
                          axes @ (com - robot.origins[body]), inertia)
