# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a run teaches: collision thresholds, and the payload of the law ``adaptive``."""

from typing import NamedTuple

import numpy as np
from numpy import ndarray
from scipy.optimize import linprog

from .controller.controller import Controller
from .laws import adaptive, registry
from ..dynamics.model_data import parameters
from ..errors import ArgumentError, ParameterError

THRESHOLD_MARGIN = 1.5    # over the external efforts without contact
MIN_THRESHOLD = 0.01    # effort limits
MAX_EFFORT_BAND = 1.0    # of the effort; a model with a larger error is unusable
MIN_MASS = 0.01    # [kg]; a lighter payload has no center that is known
MIN_GYRATION_RADIUS = 1e-4    # [m]; least one, so that rounding makes no moment negative


class CollisionThresholds(NamedTuple):
    """Parameters of :class:`.collisions.Parameters`, (nv,) each."""

    collision_threshold: ndarray
    collision_velocity_band: ndarray
    collision_effort_band: ndarray


def thresholds(velocity: ndarray, bias: ndarray, external: ndarray, effort_limit: ndarray,
               velocity_limit: ndarray, *, margin: float = THRESHOLD_MARGIN
               ) -> CollisionThresholds:
    """
    Return the lowest thresholds that a motion without contact stays below.

    For each joint, threshold + velocity band |q̇| + effort band |C q̇ + g| has the least mean over
    the motion of all that are nowhere below ``margin`` times the external effort: a linear
    programme (SciPy's HiGHS). At the velocity limit the velocity band is at most the effort limit,
    lest the efforts of a joint that sticks be divided by the velocities of its noise.

    :param velocity: (N, nv) q̇ [rad/s | m/s].
    :param bias: (N, nv) C q̇ + g [N·m | N].
    :param external: (N, nv) estimated external efforts [N·m | N].
    :param effort_limit, velocity_limit: (nv,) [N·m | N], [rad/s | m/s].
    :param margin: at least 1.
    :raises ArgumentError: no rows, rows that are not finite, or external efforts beyond the
        effort limit.
    """
    if not len(external) or not np.isfinite(external).all():
        raise ArgumentError('there is no external effort to learn from', name='external',
                            remedy='let the arm be driven all the time')
    largest = np.abs(external).max(axis=0)
    if (over := margin * largest > effort_limit).any():
        i = int(over.argmax())
        raise ArgumentError(
            f'joint {i} has an external effort of {largest[i]:.4g} N·m or N, near its effort '
            'limit, although nothing touches the arm', name='external',
            remedy='correct model, payload or friction first: see `robodyn identify`')
    out = []
    for i in range(external.shape[1]):
        rows = np.column_stack([np.ones(len(external)), np.abs(velocity[:, i]),
                                np.abs(bias[:, i])])
        found = linprog(rows.mean(axis=0), -rows, -margin * np.abs(external[:, i]),
                        bounds=[(MIN_THRESHOLD * effort_limit[i], None),
                                (0.0, effort_limit[i] / velocity_limit[i]),
                                (0.0, MAX_EFFORT_BAND)])
        if not found.success:
            raise ArgumentError(f'no thresholds for joint {i}: {found.message}', name='external',
                                remedy='record another motion')
        out.append(found.x)
    return CollisionThresholds(*np.array(out).T)


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
    Return the learned payload of ``adaptive``: the estimated body minus that of the model.

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
