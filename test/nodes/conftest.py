# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What the tests of the nodes share."""

import numpy as np
import pytest
from nodes.bring_up import CONTROLLER, POSE, SIMULATOR
from nodes.remote import Remote

from processes import node
from robodyn_ros import Dynamics, load_urdf
from robodyn_ros.model.library import robot_path


@pytest.fixture(scope='module')
def gravity():
    """g(q) of the arm at its pose."""
    return Dynamics(load_urdf(robot_path('two_link'))).gravity(np.array(POSE))


@pytest.fixture
def remote():
    """The ears and the voice of the test."""
    remote = Remote()
    yield remote
    remote.close()


@pytest.fixture
def pair(start, remote):
    """Start both nodes: (simulator, controller)."""
    def pair(simulator=(), controller=()):
        sim = start(node('simulator'), *SIMULATOR, *simulator)
        sim.wait_for_line('simulator ready')
        return sim, start(node('controller'), *CONTROLLER, *controller)
    return pair
