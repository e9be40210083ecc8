# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Control parameters, each declared once: default, unit, range, meaning and record.

A step of the cycle declares its own (``class Parameters``), a law its gains; those of several
steps are in :mod:`..declare` and :mod:`.guard`. From the declarations derive
:class:`~.settings.Settings`, the records that the control cycle reads (:mod:`.cycle_data`), the
parameters of the controller node and docs/parameters.md. With ``record=`` the cycle finds the
value of a parameter in a record field of the same name.

Lists hold one value a joint; a number, or a list of one, stands for all joints.
"""

from dataclasses import dataclass

from ..declare import number
from ..laws.registry import LawGains
from ..steps.cycle_data import ArmParameters, Declared


@dataclass(frozen=True)
class LoopParameters:
    """Rate of the control loop."""

    rate: float = number(1000.0, 'Hz', 1.0, 10000.0, 'Rate of the control cycle.', live=False)


@dataclass(frozen=True)
class LawParameters(ArmParameters, LawGains):
    """Control law, its gains and limits, and parameters of the robot beyond the URDF."""


@dataclass(frozen=True)
class ControlParameters(LoopParameters, Declared, LawGains):
    """All control parameters."""
