# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Elastic obstacle in the way of one link of a simulated arm."""

from dataclasses import dataclass

import numpy as np
from numpy import ndarray


@dataclass
class Obstacle:
    """
    Elastic half-space that pushes a point of one link out, as a linear spring without friction.

    :param link: link of the URDF that touches it.
    :param point: (3,) [m] point of the link that touches it, in the frame of the link.
    :param surface: (3,) [m] a point of the surface, in world axes.
    :param normal: (3,) normal of the surface, out of the obstacle; it need not have length 1.
    :param stiffness: [N/m]; 75 N/mm is that of a human hand in ISO/TS 15066, table A.3.
    """

    link: str
    point: ndarray
    surface: ndarray
    normal: ndarray
    stiffness: float = 75e3
    #: Force on the link [N] in the last physics step, and the largest one so far.
    force: float = 0.0
    peak: float = 0.0

    def __post_init__(self):
        self.normal = np.asarray(self.normal, float) / np.linalg.norm(self.normal)

    def push_out(self, point: ndarray) -> ndarray:
        """
        Return the force (3,) [N] on the link, in world axes.

        :param point: (3,) [m] the point of the link, in world axes.
        """
        depth = float((self.surface - point) @ self.normal)
        self.force = self.stiffness * max(0.0, depth)
        self.peak = max(self.peak, self.force)
        return self.force * self.normal
