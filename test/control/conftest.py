# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What makes tests of laws and guard quick: coarser physics, and gains judged at fewer poses."""

import sys

import pytest
from robodyn_ros.control.settings import settings, suggested_gains

PHYSICS_STEP = 0.5e-3   # s: twice that of the simulator, still of fourth order
POSES = 2


@pytest.fixture(scope='module', autouse=True)
def coarse_physics():
    """Take half the steps in MuJoCo, which is most of what a simulated second costs."""
    with pytest.MonkeyPatch.context() as patch:
        if 'mujoco' in sys.modules:
            patch.setattr('robodyn_ros.closed_loop.MAX_PHYSICS_STEP', PHYSICS_STEP)
        yield


@pytest.fixture(scope='module')
def few_poses():
    """Judge and suggest gains at two poses: test_gain_stability.py is about all of them."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (settings, suggested_gains):
            patch.setattr(module, 'CHECKED_POSES', POSES)
        yield
