# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Simulated arm: MuJoCo physics, drives, noise and delays, without knowledge of the controller."""

import logging as _logging

from ..extras import pip_install as _pip_install

try:
    import mujoco as _mujoco
except ImportError as _error:
    raise ImportError(f'the simulator needs MuJoCo: run `{_pip_install("mujoco")}`') from _error

# Earlier versions ignore the rpy of an inertial origin if the inertia has products
if tuple(map(int, _mujoco.__version__.split('.')[:2])) < (3, 14):
    raise ImportError(f'the simulator needs MuJoCo 3.14 or newer, this is {_mujoco.__version__}: '
                      f'run `{_pip_install("mujoco")}`')

_log = _logging.getLogger(__name__)
# Without a handler MuJoCo writes its warnings to a file in the working directory
_mujoco.set_mju_user_warning(lambda text: _log.warning('MuJoCo: %s', text))
