# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters that bound the motion of the arm in space: by hand, and along references."""

from collections.abc import Sequence
from dataclasses import dataclass

from .body_regions import REGIONS
from .setting_fields import choice, number, numbers, text
from .setting_fields import SETTINGS_RECORD as SETTINGS

#: Body regions that the speed of references may be limited for.
CONTACT_REGION = ('none', *REGIONS)


@dataclass(frozen=True)
class MotionParameters:
    """Enabling signal of hand guiding, and bounds that references are slowed down for."""

    guiding_timeout: float = number(
        0.2, 's', 0.01, 2.0, 'Time after a *true* on `~/guiding` (std_msgs/Bool) for which '
        'hand_guiding lets the arm be moved.', record=SETTINGS)
    contact_region: str = choice(
        CONTACT_REGION, 'Body region of ISO/TS 15066 that the arm may run into: references are '
        'slowed down to keep the contact force within that of the region. Not a certified safety '
        'function.')
    tool_speed_limit: float = number(
        0.0, 'm/s', 0.0, 100.0, 'Maximum speed of the origin of `task_frame` along references; 0: '
        'unlimited.')
    workspace_lower: Sequence[float] = numbers(
        'm', -100.0, 100.0, 'Least x, y and z of the origin of `task_frame` in the base frame: '
        'references stop there, and hand_guiding has a wall; empty: unlimited.')
    workspace_upper: Sequence[float] = numbers(
        'm', -100.0, 100.0, 'Greatest x, y and z.')
    workspace_planes: Sequence[float] = numbers(
        '1, m', -100.0, 100.0, 'Further planes that bound the workspace, four numbers each: '
        'outward normal n and distance b from the origin, n · p <= b; at most 8 planes.')
    workspace_stiffness: float = number(
        1000.0, 'N/m', 0.0, 1e5, 'Stiffness of the critically damped workspace walls in '
        'hand_guiding.')
    self_collision_distance: float = number(
        0.0, 'm', 0.0, 1.0, 'Minimum distance between the collision capsules of links that are '
        'not adjacent, at which references stop; 0: not monitored.')
    self_collision_allowed: str = text(
        'Pairs of links exempt from `self_collision_distance`, such as those that an SRDF '
        'disables: `link3 link5, link4 hand`.')
