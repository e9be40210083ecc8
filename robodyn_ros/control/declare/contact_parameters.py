# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of the estimate of external efforts, and of collisions."""

from dataclasses import dataclass

from .setting_fields import choice, number, numbers, PerJoint
from .setting_fields import JOINT_RECORD as JOINT
from .setting_fields import SETTINGS_RECORD as SETTINGS

#: Efforts that the observer takes as known, and reactions to a collision, by their numbers.
OBSERVED_EFFORT = ('commanded', 'measured')
COLLISION_REACTION = ('stop', 'float', 'retreat')


@dataclass(frozen=True)
class ContactParameters:
    """Estimate of external efforts, and what a collision is."""

    external_effort_bandwidth: float = number(
        50.0, '1/s', 0.1, 1e3, 'Bandwidth of the estimate of external efforts.', record=SETTINGS)
    observed_effort: str = choice(
        OBSERVED_EFFORT, 'Known joint efforts of this estimate: commanded, or measured (gravity '
        'included) if the state contains them.', record=SETTINGS)
    collision_threshold: PerJoint = numbers(
        'N·m or N', 0.0, 1e6, 'External effort above which the fault COLLISION is latched, except '
        'in gravity_compensation; empty or 0: unlimited.', record=JOINT,
        unlimited=True)
    collision_velocity_band: PerJoint = numbers(
        'N·m·s/rad or N·s/m', 0.0, 1e5, 'Increase of `collision_threshold` with the velocity, for '
        'unmodeled friction; empty: none.', record=JOINT)
    collision_effort_band: PerJoint = numbers(
        '', 0.0, 1.0, "Increase of `collision_threshold` with the magnitude of the model's "
        'effort without accelerations, for its relative error; empty: none.',
        record=JOINT)
    push_bandwidth: float = number(
        0.0, '1/s', 0.0, 1e2, 'Bandwidth below which an external effort is a push instead of a '
        'collision; 0: every contact is a collision.', record=SETTINGS)
    push_threshold: PerJoint = numbers(
        'N·m or N', 0.0, 1e6, 'Push above which the fault PUSHED is latched, except in '
        'gravity_compensation; empty or 0: unlimited.',
        record=JOINT, unlimited=True)
    collision_reaction: str = choice(
        COLLISION_REACTION, 'Fault efforts after a collision: damped gravity compensation, '
        'gravity compensation alone, or a slow motion away from the contact.', record=SETTINGS)
