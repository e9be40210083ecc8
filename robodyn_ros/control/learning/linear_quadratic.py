# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Linear-quadratic regulator about a pose at rest, the simplest policy of ``feedback_policy``."""

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike
from scipy.linalg import solve_continuous_are

from ...dynamics import Dynamics

DIFFERENCE_STEP = 1e-6    # rad or m, of g(q)


def linear_quadratic_regulator(dynamics: Dynamics, position: ArrayLike, state_cost: ArrayLike,
                               effort_cost: ArrayLike) -> tuple[ndarray, ndarray]:
    """
    Return effort and gain of the policy τ = u + K (x̂ - x) that holds an arm at a pose.

    It minimizes ∫ (x̂ - x)ᵀ Q (x̂ - x) + (τ - u)ᵀ R (τ - u) dt for the dynamics linearized at
    x̂ = (position, 0), without friction and without the delay of the loop. Source: Anderson and
    Moore, *Optimal Control: Linear Quadratic Methods*, 1990, section 3.1.

    :param position: (nv,) pose to be held [rad | m].
    :param state_cost: (2 nv,) diagonal of Q, of positions and velocities, at least 0.
    :param effort_cost: (nv,) diagonal of R, above 0.
    :returns: u = g(position) (nv,) [N·m | N], and K (nv, 2 nv) [N·m/rad | N/m, per s], as
        :meth:`~robodyn_ros.Controller.follow_policy` takes them.
    :raises numpy.linalg.LinAlgError: no regulator exists, as with costs that are not positive.
    """
    q, n = np.asarray(position, float), dynamics.model.nv
    mobility = np.linalg.inv(dynamics.mass_matrix(q))
    slope = np.column_stack([dynamics.gravity(q + d) - dynamics.gravity(q - d)
                             for d in DIFFERENCE_STEP * np.eye(n)]) / (2.0 * DIFFERENCE_STEP)
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-mobility @ slope, np.zeros((n, n))]])
    B = np.vstack([np.zeros((n, n)), mobility])
    R = np.diag(np.asarray(effort_cost, float))
    P = solve_continuous_are(A, B, np.diag(np.asarray(state_cost, float)), R)
    return dynamics.gravity(q), np.linalg.solve(R, B.T @ P)
