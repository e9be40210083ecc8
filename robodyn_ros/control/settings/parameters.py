# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Control parameters, each declared once: default, unit, range, meaning and record.

From these declarations derive :class:`~.settings.Settings`, the records that the control cycle
reads (:mod:`.dtypes`), the parameters of the controller node and docs/parameters.md,
each in the order of this file. To add a parameter, add a field to one of the classes composed
here; with ``record=`` the cycle finds its value in a record field of the same name. Gains are
declared with the laws that have them, in :mod:`.laws`.

Lists hold one value a joint; a number, or a list of one, stands for all joints.
"""

from dataclasses import dataclass

from ..declare.contact_parameters import ContactParameters
from ..declare.coupling_parameters import CouplingParameters
from ..declare.guard_parameters import GuardParameters
from ..declare.motion_parameters import MotionParameters
from ..declare.robot_parameters import RobotParameters
from ..declare.setting_fields import number
from ..declare.task_parameters import TaskParameters
from ..laws.registry import LawGains


@dataclass(frozen=True)
class LoopParameters:
    """Rate of the control loop."""

    rate: float = number(1000.0, 'Hz', 1.0, 10000.0, 'Rate of the control cycle.', live=False)


@dataclass(frozen=True)
class LawParameters(RobotParameters, CouplingParameters, TaskParameters, LawGains):
    """Control law, its gains and limits, and what is known of the robot beyond the URDF."""


@dataclass(frozen=True)
class ControlParameters(LoopParameters, MotionParameters, ContactParameters, GuardParameters,
                        LawParameters):
    """All control parameters: of law, guard, contacts, bounds and loop, in this order."""
