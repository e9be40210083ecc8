# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A desk arm of nobody's make, of the size, mass and motors of a YAM, for demo and tests."""

from math import pi
from typing import Any

from ..model.dh import DhLink, from_dh
from ..model.robot import RobotModel

BIG: dict[str, Any] = {'armature': 0.032, 'coulomb': 0.3}
SMALL: dict[str, Any] = {'armature': 0.0018, 'coulomb': 0.06}
#: Poses in which the joints carry weight, and less than their springs [rad].
POSES = [[0.3, 1.6, -1.0, 0.2, -1.0, -1.0], [0.1, 1.5, 1.0, 1.5, 1.4, 0.1],
         [-0.5, 0.2, 1.9, 0.4, 1.2, 0.9]]


def desk_arm() -> RobotModel:
    """Return the arm: six joints, 3.6 kg, 0.6 m."""
    rows = [(0.1, 0.02, pi / 2, 0.12, (-0.02, 0, 0), BIG),
            (0.0, 0.264, 0.0, 1.25, (-0.13, 0, 0.03), BIG),
            (0.0, 0.245, 0.0, 0.85, (-0.12, 0, -0.03), BIG),
            (0.0, 0.075, pi / 2, 0.46, (-0.03, 0, 0.02), SMALL),
            (0.0, 0.0, -pi / 2, 0.35, (0, 0.02, 0.03), SMALL),
            (0.09, 0.0, 0.0, 0.6, (0.01, 0, 0.03), SMALL)]
    return from_dh([DhLink(theta=0, d=d, a=a, alpha=alpha, mass=mass, com=com,
                           inertia=(2e-3 * mass,) * 3, offset=pi / 2 if i == 4 else 0.0, **motor)
                    for i, (d, a, alpha, mass, com, motor) in enumerate(rows)], name='desk_arm')
