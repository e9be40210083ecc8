# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A plant that behaves like hardware; it knows nothing of the controller."""

try:
    import mujoco as _mujoco
except ImportError as _error:
    raise ImportError('the simulator needs MuJoCo: pip install "mujoco>=3.14"') from _error

# Earlier ones take no notice of the rpy of an inertial origin if the inertia has products.
if tuple(map(int, _mujoco.__version__.split('.')[:2])) < (3, 14):
    raise ImportError(f'the simulator needs MuJoCo 3.14 or newer, this is {_mujoco.__version__}: '
                      'pip install "mujoco>=3.14"')
