# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Body regions of ISO/TS 15066:2016, Annex A: permitted force, stiffness and mass.

The greatest force of a transient contact is the quasi-static one of table A.2 times its multiplier
of 2; stiffness and effective mass are those of table A.3. Skull, forehead and face are left out:
the specification permits no transient contact with them.

Compared, value by value, with the forces of A.2 and the springs and masses of A.3 that public
implementations of power and force limiting quote (a safety controller for handovers of UR arms,
and simulations of collisions with pedestrians): they agree. The specification itself decides.
"""

from typing import NamedTuple


class Region(NamedTuple):
    """
    Body region in a transient contact.

    ``force`` [N], the greatest that is permitted; ``stiffness`` [N/m]; ``mass`` [kg], effective.
    """

    force: float
    stiffness: float
    mass: float


REGIONS = {
    'neck': Region(300.0, 50e3, 1.2),
    'back_and_shoulders': Region(420.0, 35e3, 40.0),
    'chest': Region(280.0, 25e3, 40.0),
    'abdomen': Region(220.0, 10e3, 40.0),
    'pelvis': Region(360.0, 25e3, 40.0),
    'upper_arms': Region(300.0, 30e3, 3.0),
    'lower_arms': Region(320.0, 40e3, 2.0),
    'hands': Region(280.0, 75e3, 0.6),
    'thighs': Region(440.0, 50e3, 75.0),
    'lower_legs': Region(260.0, 60e3, 75.0),
}
