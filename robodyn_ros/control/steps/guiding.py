# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Hand guiding: when the arm may be guided; the law is :mod:`.laws.hand_guiding`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy import ndarray, record

from .guard import GRAVITY_COMPENSATION
from .motion_checks import forget_changes
from .trajectory_tracking import hold_here
from ..declare import number, SETTINGS_RECORD

if TYPE_CHECKING:
    from .cycle_data import Cycle


@dataclass(frozen=True)
class Parameters:
    """Enabling signal."""

    guiding_timeout: float = number(
        0.2, 's', 0.01, 2.0, 'Time for which a *true* on `~/guiding` lets the arm be moved.',
        record=SETTINGS_RECORD)


#: Fields of the controller state.
STATE = [
    ('guided', np.int64),           # 1: the arm is guided by hand, see guiding.py
]


def allowed(cycle_input: record, s: record, now: float) -> bool:
    """
    Return whether the arm may be guided now.

    The permission ends by itself: with silence, with the thread that receives it, and where time
    jumps back to long before its end.
    """
    return s.guided == 1 and 0.0 < cycle_input.guiding_until - now <= s.guiding_timeout


def guide(c: Cycle, law: bool, now: float) -> bool:
    """
    Return whether a hand guides the arm in this cycle; then its reference is the present pose.

    At release the reference is the pose of the last cycle, so that the springs of the law begin
    without a force, and the motion checks forget the motion by hand. Trajectories that came
    meanwhile are not followed afterwards.

    :param law: whether the law of the settings is in force, not gravity compensation alone.
    """
    cycle_input, s, m, v, points = c.cycle_input, c.settings, c.controller, c.vectors, c.points
    guided = m.guided == 1
    m.guided = 1 if law and allowed(cycle_input, s, now) else 0
    if guided and m.guided == 0:
        forget_changes(v)
    if m.guided == 1:
        hold_here(m, v)
        m.serial = points.header[0].serial
    return m.guided == 1


def yields(m: record) -> bool:
    """Return whether the arm is meant to be pushed, so that nothing is a collision."""
    return m.mode == GRAVITY_COMPENSATION or m.guided == 1


def velocity_of_friction(c: Cycle) -> ndarray:
    """Return the velocity (nv,) [rad/s | m/s] at which friction is compensated."""
    s, m, v = c.settings, c.controller, c.vectors
    return v.qd if s.follows == 0 or m.guided == 1 else v.target_qd
