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
        'leader at the start; afterwards both are equal.', live=False)
    coupling_joints: str = text(
        "Of the follower: the leader's joint for each of its joints, separated by commas; an "
        'empty entry holds the joint. Empty: joints of the same name.', live=False)
    coupling_scale: PerJoint = numbers(
        '', -100.0, 100.0, 'Of the follower: scale s of each joint, q = s q_leader + '
        '`coupling_offset`. Empty: 1.', live=False)
    coupling_offset: PerJoint = numbers(
        'rad or m', -1e3, 1e3, 'Of the follower: position of each joint where that of the leader '
        'is 0. Empty: 0.', live=False)
    coupling_timeout: float = number(
        0.1, 's', 0.001, 1.0, "Age of the partner's newest message above which the coupling is "
        'lost, which is a fault.', record=SETTINGS)
