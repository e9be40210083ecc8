# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Wrench on a frame that explains external efforts on the joints."""

from typing import NamedTuple

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from .api import Dynamics

CHARACTERISTIC_LENGTH = 0.3    # [m]; scales moments to forces
SINGULAR_VALUE_DAMPING = 0.05    # [m], of the scaled Jacobian


class ExternalWrench(NamedTuple):
    """
    Estimated wrench on a frame, and how much of each component the joints can show.

    :param wrench: (6,) force [N], then moment [N·m], on the origin and in the axes of the frame.
    :param confidence: (6,) in [0, 1]: the share of a component that the estimate returns; near a
        singularity, and for an arm with fewer than six joints, components are lost.
    """

    wrench: ndarray
    confidence: ndarray


def external_wrench(dynamics: Dynamics, q: ArrayLike, effort: ArrayLike,
                    frame: str) -> ExternalWrench:
    """
    Return the wrench that explains external efforts, with damped least squares.

    The efforts τ = Jᵀ f of a wrench f are inverted as f = (J Jᵀ + λ²)⁻¹ J τ (Nakamura and
    Hanafusa, "Inverse kinematic solutions with singularity robustness", 1986, equation 31, for the
    transpose), with moments divided by CHARACTERISTIC_LENGTH and λ = SINGULAR_VALUE_DAMPING. The
    confidence is the diagonal of the resolution matrix (J Jᵀ + λ²)⁻¹ J Jᵀ.

    :param q: (nv,) [rad | m].
    :param effort: (nv,) external efforts [N·m | N].
    :param frame: name of a frame of the model.
    :raises UnknownNameError: there is no such frame.
    :raises ArgumentError: wrong shapes, or numbers that are not finite.
    """
    rotation = dynamics.pose(q, frame)[:3, :3]
    jacobian = dynamics.jacobian(q, frame, reference='aligned')
    J = np.vstack([rotation.T @ jacobian[:3], rotation.T @ jacobian[3:] * CHARACTERISTIC_LENGTH])
    gram = J @ J.T
    damped = gram + SINGULAR_VALUE_DAMPING**2 * np.eye(6)
    scaled = np.linalg.solve(damped, J @ np.asarray(effort, float))
    scaled[3:] *= CHARACTERISTIC_LENGTH
    return ExternalWrench(scaled, np.linalg.solve(damped, gram).diagonal().copy())
