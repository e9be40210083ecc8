# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Check for optional packages before a command starts."""

from collections.abc import Iterable
from importlib.util import find_spec

from ..errors import RobodynError
from ..extras import install_ros, pip_install


def require_modules(command: str, modules: Iterable[str], error: type[RobodynError]) -> None:
    """
    Raise an error where a module is not installed; its remedy is the command that installs it.

    :param command: that requires the modules, for the message.
    :param error: class of the error.
    """
    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        remedies = [install_ros()] if 'rclpy' in missing else []
        if others := [name for name in missing if name != 'rclpy']:
            remedies.append(f'run `{pip_install(*others)}`')
        raise error(f'{command} needs {", ".join(missing)}', name=missing[0], value=missing,
                    remedy='; '.join(remedies))
