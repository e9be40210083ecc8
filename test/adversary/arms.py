# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The arms that faults are injected into, and settings under which they are healthy."""

from functools import cache
from typing import Any

from robodyn_ros import load_urdf
from robodyn_ros.control.settings.settings import Settings
from robodyn_ros.model.resources import robot_path
from robodyn_ros.verification.arm import Arm, arm_of, damping_rate, gains
from robodyn_ros.verification.injection import CONTINUOUS

LOCKED = {'panda': {'panda_finger_joint1': 0.02, 'panda_finger_joint2': 0.02}}
ROBOTS = ('two_link', 'panda', 'ur5')


def urdf(name: str) -> str:
    """URDF text of a robot."""
    if name == CONTINUOUS:
        text = robot_path('two_link').read_text()
        return text.replace('type="revolute"', 'type="continuous"')
    return robot_path(name).read_text()


@cache
def arm(name: str) -> Arm:
    return arm_of(name, load_urdf(urdf(name) if name == CONTINUOUS else robot_path(name),
                                  locked=LOCKED.get(name, {})))


def settings(name: str, mode: str, *, share: float = 0.25, loop_delay: float = 0.008,
             rate: float = 1000.0, **more: Any) -> Settings:
    """Return settings under which an arm is healthy."""
    return Settings(**{'mode': mode, 'rate': rate, 'loop_delay': loop_delay,
                       'damping_rate': damping_rate(loop_delay, rate), 'fault_hold_time': 0.5,
                       'fault_ramp_time': 0.1,
                       **gains(arm(name), share, loop_delay, rate), **more})
