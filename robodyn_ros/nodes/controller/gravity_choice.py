# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameter robot_compensates_gravity, which has to be set explicitly for unknown robots."""

from collections.abc import Collection

from ...errors import ParameterError
from ...model.resources import OWN_ROBOTS

PARAMETER = 'robot_compensates_gravity'
# Remedies of the fault GRAVITY_CONTRADICTED, the other one if the motion of the arm has refuted it
REMEDY = f'{PARAMETER} must be the contrary: deactivate, clean up and correct it'
REFUTED = (f'but the arm moves as {PARAMETER} says: leave it, and find out why the driver sends '
           'false efforts; ~/reset re-arms')


def check_given(given: Collection[str], robot: str) -> None:
    """
    Refuse a robot for which the parameter is not set.

    Robots of this package exist only in its simulator, which does not compensate by default.

    :param given: names of the parameters that were set.
    :param robot: name of the robot.
    :raises ParameterError: the parameter is not set; with a wrong value, g(q) would act twice and
        throw a real arm.
    """
    if PARAMETER in given or robot in OWN_ROBOTS:
        return
    raise ParameterError(
        f'nothing says whether robot {robot} compensates gravity itself', name=PARAMETER,
        remedy=f'set {PARAMETER}: true where zero effort holds the arm (Franka, UR: the presets '
               'franka.yaml and ur.yaml do), false where it sinks; docs/robots.md says how to '
               'tell')


def sentence(by_robot: bool) -> str:
    """Return a log line on gravity compensation."""
    return (f'the robot compensates gravity itself ({PARAMETER}: true): efforts are published '
            'without g(q)' if by_robot else
            f'this controller compensates gravity ({PARAMETER}: false): efforts contain g(q)')
