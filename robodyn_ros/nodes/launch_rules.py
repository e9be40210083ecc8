# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules of the launch files: no arm is driven unasked, and what two nodes must agree on."""

from pathlib import Path

import yaml

from .parameter_files import one_file
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


def rotors(config: str, namespace: str) -> dict[str, list[float]]:
    """
    Return the parameter ``armature`` of the simulator: that of the controller, {} for its own.

    :param config: parameter file with sections for both nodes, in ``namespace``.
    :raises ParameterError: a section is missing.
    """
    simulator, controller = (
        yaml.safe_load(one_file({name: ([Path(config)], {})}))[name]['ros__parameters']
        for name in (f'/{namespace}/{node}'.replace('//', '/')
                     for node in ('simulator', 'controller')))
    armature = controller.get('armature')
    if not armature or 'armature' in simulator:
        return {}
    return {'armature': [float(value) for value in armature]}
