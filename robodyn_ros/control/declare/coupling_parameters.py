# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of two arms that are coupled as leader and follower."""

from dataclasses import dataclass

from .setting_fields import choice, number, numbers, PerJoint, text
from .setting_fields import SETTINGS_RECORD as SETTINGS

#: Roles of a coupled arm.
COUPLING_ROLE = ('leader', 'follower')


@dataclass(frozen=True)
class CouplingParameters:
    """Role of an arm in leader_follower, and its joints in those of the leader."""

    coupling_role: str = choice(
        COUPLING_ROLE, 'Role of the arm in leader_follower: the follower moves to the pose of the '
        'leader when they are coupled; then both feel each other alike.', live=False)
    coupling_joints: str = text(
        'Of the follower: for each of its joints the joint of the leader that it follows, '
        'separated by commas; nothing between two commas: this joint is held. Empty: those of the '
        'same name.', live=False)
    coupling_scale: PerJoint = numbers(
        '', -100.0, 100.0, 'Of the follower: scale s of each joint, q = s q_leader + '
        '`coupling_offset`. Empty: 1.', live=False)
    coupling_offset: PerJoint = numbers(
        'rad or m', -1e3, 1e3, 'Of the follower: position of each joint where that of the leader '
        'is 0. Empty: 0.', live=False)
    coupling_timeout: float = number(
        0.1, 's', 0.001, 1.0, 'Age of the newest message of the partner above which the coupling '
        'is lost, which is a fault.', record=SETTINGS)
