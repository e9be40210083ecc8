# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What the demo needs besides the library, looked for before anything starts."""

from importlib.util import find_spec

from ..errors import DemoError

SIM = "for MuJoCo and Matplotlib, `pip install 'robodyn_ros[sim]'`"
NEEDED = {
    'rclpy': "for ROS 2, source your installation or `pip install 'robodyn_ros[ros]'`",
    'mujoco': SIM,
    'matplotlib': SIM,
}


def check() -> None:
    """Raise :class:`DemoError` where something is not installed, with how to get it."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise DemoError(f'the demo needs {", ".join(missing)}', name=missing[0], value=missing,
                        remedy='; '.join(dict.fromkeys(NEEDED[name] for name in missing)))
