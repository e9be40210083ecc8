# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Bounds of the motion in space, as they are set and as the control cycle reads them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy import ndarray

from ..declare.body_regions import REGIONS
from ..declare.setting_fields import choice, number, numbers, text
from ...dynamics.model_data import no_frame

#: Body regions that the speed of references may be limited for.
CONTACT_REGION = ('none', *REGIONS)


@dataclass(frozen=True)
class Parameters:
    """Bounds that references are slowed down for."""

    contact_region: str = choice(
        CONTACT_REGION, 'Body region of ISO/TS 15066 that limits the speed of references. Not a '
        'certified safety function.')
    tool_speed_limit: float = number(
        0.0, 'm/s', 0.0, 100.0, 'Maximum speed of the origin of `task_frame` along references. 0: '
        'unlimited.')
    workspace_lower: Sequence[float] = numbers(
        'm', -100.0, 100.0, 'Lower corner of the workspace of `task_frame` in the base. Empty: '
        'unlimited.')
    workspace_upper: Sequence[float] = numbers(
        'm', -100.0, 100.0, 'Upper corner. Empty: unlimited.')
    workspace_planes: Sequence[float] = numbers(
        '1, m', -100.0, 100.0, 'Up to 8 planes n · p <= b that bound the workspace, four numbers '
        'each.')
    workspace_stiffness: float = number(
        1000.0, 'N/m', 0.0, 1e5, 'Stiffness of the workspace walls in hand_guiding.')
    self_collision_distance: float = number(
        0.0, 'm', 0.0, 1.0, 'Minimum distance of links that are not adjacent. 0: not monitored.')
    self_collision_allowed: str = text('Pairs of links exempt from it: `link3 link5, link4 hand`.')


class Bounds(NamedTuple):
    """Bounds of the motion; an array without rows is no bound."""

    tool: ndarray           # (1,) FRAME whose origin is bounded
    planes: ndarray         # (P, 4) normal out of the workspace, and distance b [m]: n · p <= b
    speed: ndarray          # (1,) [m/s] of the tool, infinite without a limit
    walls: ndarray          # (1,) [N/m] stiffness of the planes in hand guiding
    region: ndarray         # (0 or 3,) force [N], stiffness [N/m], mass [kg] of the body region
    points: ndarray         # (N,) FRAME whose origins may run into it
    rate: ndarray           # (nv,) workspace: velocity of the reference on its own clock
    vector: ndarray         # (2, nv) likewise
    pose: ndarray           # (4, 4) likewise
    clearance: ndarray      # (1,) [m] least distance between links
    carriers: ndarray       # (C,) body of each capsule, nb for the base
    capsules: ndarray       # (C, 7) both ends of its segment in the frame of the body, radius [m]
    pairs: ndarray          # (P, 2) capsules whose distance is watched
    motion: ndarray         # (nb + 1, 18) workspace: see self_collision.place_bodies
    ends: ndarray           # (C, 6) likewise: ends of the segments in the frame of the base [m]
    nearest: ndarray        # (2,) pair that bounded a motion last, -1 for none, and distance [m]

    @classmethod
    def none(cls, nv: int) -> 'Bounds':
        """Return empty bounds."""
        return cls(no_frame(), np.zeros((0, 4)), np.full(1, np.inf), np.zeros(1), np.zeros(0),
                   no_frame()[:0], np.zeros(nv), np.zeros((2, nv)), np.eye(4), np.zeros(1),
                   np.zeros(0, np.int64), np.zeros((0, 7)), np.zeros((0, 2), np.int64),
                   np.zeros((0, 18)), np.zeros((0, 6)), np.array([-1.0, np.inf]))
