# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a command needs besides the library, looked for before anything starts."""

from collections.abc import Iterable
from importlib.util import find_spec

from ..errors import DemoError, RobodynError

SIM = "for MuJoCo and Matplotlib, `pip install 'robodyn_ros[sim]'`"
NEEDED = {
    'rclpy': "for ROS 2, source your installation or `pip install 'robodyn_ros[ros]'`",
    'mujoco': SIM,
    'matplotlib': SIM,
}


def check(what: str = 'the demo', names: Iterable[str] = tuple(NEEDED),
          error: type[RobodynError] = DemoError) -> None:
    """Raise this error where one of the modules is not installed, with how to get it."""
    missing = [name for name in names if find_spec(name) is None]
    if missing:
        raise error(f'{what} needs {", ".join(missing)}', name=missing[0], value=missing,
                    remedy='; '.join(dict.fromkeys(NEEDED[name] for name in missing)))
