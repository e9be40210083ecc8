# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules of the launch files that keep an arm from being driven unasked."""

from ..errors import ParameterError

FALSE = 'false', 'False', 'FALSE', '0', 'no', 'off'


def check_respawn(respawn: bool, autostart: str) -> None:
    """
    Refuse a controller that would be started, and armed, again after each of its crashes.

    Arming after a fault is the decision of a person; a crash is a fault that nobody has explained.

    :param respawn: whether the process is started again when it has ended.
    :param autostart: argument of the launch file; empty leaves it to the parameter file, which
        may say true.
    :raises ParameterError: both are asked for.
    """
    if respawn and autostart not in FALSE:
        raise ParameterError(
            f'respawn:=true with autostart:={autostart or "(as the file says)"} would arm the '
            'robot again after a crash', name='autostart', value=autostart,
            remedy='give autostart:=false, and activate the controller when the reason is known')
