# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Numerical check of formulas against recursive Newton-Euler inverse dynamics."""

from typing import Any

import numpy as np
from numpy import ndarray
import sympy as sp

from .collect import Sum
from .equations import pairs
from .symbolic_model import Arm
from .task import TaskSpace
from ..dynamics import Dynamics
from ..model.rigid_body import axis_rotation
from ..model.robot import RobotModel

MAX_EFFORT_DEVIATION = 1e-9    # relative
TESTED_STATES = 100
MAX_POSITION = 2.0    # [rad | m], of joints without limits
MAX_VELOCITY = 2.0    # [rad/s | m/s, and per s]
MIN_SINGULAR_VALUE = 1e-2    # [m | 1] of the Jacobian at tested states
DIFFERENCE_STEP = 1e-3    # [s], for J̇


def joint_deviation(arm: Arm, M: list[list[Sum]], B: list[list[Sum]], C: list[list[Sum]],
                    g: list[Sum], seed: int = 0) -> float:
    """
    Return the largest relative deviation of τ from inverse dynamics at random states.

    The deviation of the vector τ is relative to the largest of its terms M q̈, B [q̇q̇], C [q̇²]
    and g.
    """
    dynamics, worst = Dynamics(arm.model), 0.0
    states = _states(arm.model, seed)
    known = [numbers(arm, rows, states[:, 0]) for rows in (M, B, C, [[x] for x in g])]
    for (q, qd, qdd), m, b, c, pull in zip(states, *known):
        terms = [m @ qdd, b @ products(qd), c @ qd ** 2, pull[:, 0]]
        tau = dynamics.inverse_dynamics(q, qd, qdd)
        worst = _worse(worst, sum(terms) - tau, terms)
    return worst


def task_deviation(arm: Arm, task: TaskSpace, seed: int = 0) -> float:
    """
    Return the largest relative deviation of Jᵀ (M_x ẍ + V_x + G_x).

    J and J̇ are those of the numerical model; poses where J is close to singular are left out.
    """
    dynamics, worst = Dynamics(arm.model), 0.0
    states = _states(arm.model, seed)
    known = [numbers(arm, rows, states[:, 0]) for rows in (
        task.M, task.B, task.C, task.G, task.B_joint, task.C_joint)]
    for (q, qd, qdd), m, b, c, pull, b_joint, c_joint in zip(states, *known):
        J = jacobian(arm.model, q, task.frame)[list(task.rows)]
        if np.linalg.svd(J)[1][-1] < MIN_SINGULAR_VALUE:
            continue
        ahead = [jacobian(arm.model, q + k * DIFFERENCE_STEP * qd, task.frame)[list(task.rows)]
                 for k in (-2, -1, 1, 2)]
        rate = (ahead[0] - 8 * ahead[1] + 8 * ahead[2] - ahead[3]) / (12 * DIFFERENCE_STEP)
        forces = [m @ (J @ qdd + rate @ qd), b @ products(qd), c @ qd ** 2, pull[:, 0]]
        terms = [J.T @ force for force in forces]
        tau = dynamics.inverse_dynamics(q, qd, qdd)
        worst = _worse(worst, sum(terms) - tau, terms)
        split = b_joint @ products(qd) + c_joint @ qd ** 2
        worst = _worse(worst, split - terms[1] - terms[2], terms)
    return worst


def products(qd: ndarray) -> ndarray:
    """Return q̇_i q̇_j of i < j, in the order of the columns of B."""
    return np.array([qd[i] * qd[j] for i, j in pairs(len(qd))])


def numbers(arm: Arm, rows: list[list[Sum]], q: ndarray) -> ndarray:
    """Return the values (k, rows, columns) of formulas at positions q (k, n)."""
    known: dict[sp.Symbol, Any] = {**arm.values, **dict(zip(arm.q, q.T))}
    found = np.empty((len(q), len(rows), len(rows[0])))
    for i, row in enumerate(rows):
        for j, formula in enumerate(row):
            found[:, i, j] = formula.value((q.T, known))
    return found


def jacobian(model: RobotModel, q: ndarray, frame: str) -> ndarray:
    """Return the Jacobian (6, nv) of a frame in its own axes, linear rows first."""
    at: list[tuple[ndarray, ndarray]] = []
    joints = []
    for i, parent in enumerate(model.parent):
        R, p = at[parent] if parent >= 0 else (np.eye(3), np.zeros(3))
        x = model.ratio[i] * q[model.driver[i]] + model.shift[i]
        p, R = p + R @ model.joint_origin[i], R @ model.joint_rotation[i]
        axis, turns = R @ model.joint_axis[i], not model.body_slides[i]
        joints.append((axis, p, turns))
        at.append((R @ axis_rotation(model.joint_axis[i], x), p) if turns else (R, p + axis * x))
    place = model.frame(frame)
    R, p = at[place.body] if place.body >= 0 else (np.eye(3), np.zeros(3))
    R, p, J, i = R @ place.rotation, p + R @ place.origin, np.zeros((6, model.nv)), place.body
    while i >= 0:
        axis, origin, turns = joints[i]
        twist = (np.cross(axis, p - origin), axis) if turns else (axis, np.zeros(3))
        J[:, model.driver[i]] += model.ratio[i] * np.concatenate([R.T @ v for v in twist])
        i = model.parent[i]
    return J


def _states(model: RobotModel, seed: int) -> ndarray:
    """Return q, q̇, q̈ of each state, (TESTED_STATES, 3, nv)."""
    random = np.random.default_rng(seed)
    lower = np.maximum(model.position_lower, -MAX_POSITION)
    upper = np.minimum(model.position_upper, MAX_POSITION)
    lower, upper = np.minimum(lower, upper), np.maximum(lower, upper)
    return np.array([[random.uniform(lower, upper), *random.uniform(-MAX_VELOCITY, MAX_VELOCITY,
                                                                    (2, model.nv))]
                     for _ in range(TESTED_STATES)])


def _worse(worst: float, off: ndarray, terms: list[ndarray]) -> float:
    """Return the larger deviation; NaN is the largest."""
    scale = max(abs(term).max() for term in terms)
    found = abs(off).max() / scale if scale else float(abs(off).max())
    return max(worst, float(found)) if np.isfinite(found) else float('inf')
