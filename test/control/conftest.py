# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What makes tests of laws and guard quick: coarser physics, and gains judged at few poses."""

import sys

import pytest

PHYSICS_STEP = 0.5e-3   # s: twice that of the simulator, still of fourth order


@pytest.fixture(scope='module', autouse=True)
def coarse_physics(few_poses):
    """Take half the steps in MuJoCo, which is most of what a simulated second costs."""
    with pytest.MonkeyPatch.context() as patch:
        if 'mujoco' in sys.modules:
            patch.setattr('robodyn_ros.closed_loop.MAX_PHYSICS_STEP', PHYSICS_STEP)
        yield
