# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Units of joint positions and efforts, for tables and axes."""

from ..model.robot import RobotModel


def units(model: RobotModel, prefix: str = '') -> tuple[str, str]:
    """
    Return the units of positions and of efforts; of both kinds where a robot has both joints.

    :param prefix: of the unit of positions, e.g. 'm' for thousandths.
    """
    rotary, sliding = f'{prefix}rad', f'{prefix}m'
    if model.slides.all():
        return sliding, 'N'
    return (f'{rotary} | {sliding}', 'N·m | N') if model.slides.any() else (rotary, 'N·m')
