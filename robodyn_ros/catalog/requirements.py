# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a command needs besides the library, looked for before anything starts."""

from collections.abc import Iterable
from importlib.util import find_spec

from ..errors import DemoError, RobodynError
from ..extras import install_ros, pip_install

NEEDED = ('rclpy', 'mujoco', 'matplotlib')


def check(what: str = 'the demo', names: Iterable[str] = NEEDED,
          error: type[RobodynError] = DemoError) -> None:
    """Raise this error where one of the modules is not installed, with how to get it."""
    missing = [name for name in names if find_spec(name) is None]
    if missing:
        remedies = [install_ros()] if 'rclpy' in missing else []
        if others := [name for name in missing if name != 'rclpy']:
            remedies.append(f'run `{pip_install(*others)}`')
        raise error(f'{what} needs {", ".join(missing)}', name=missing[0], value=missing,
                    remedy='; '.join(remedies))
