# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Robots that are identified."""

from motions import robot as loaded, with_joints
import pytest
from robodyn_ros import DhLink, from_dh


@pytest.fixture(scope='session')
def panda():
    return loaded('panda')


@pytest.fixture(scope='session')
def planar():
    """Return an arm of two links in a vertical plane, bodies of some extent."""
    return from_dh([DhLink(0, 0, 0.5, 0, mass=2, com=(-0.2, 0.03, 0), inertia=[
        [0.01, 0, 0], [0, 0.03, 0], [0, 0, 0.035]]),
        DhLink(0, 0, 0.3, 0, mass=1, com=(-0.1, 0.02, 0), inertia=[
            [0.004, 0, 0], [0, 0.01, 0], [0, 0, 0.012]])], gravity=(0, -9.81, 0))


@pytest.fixture(scope='session')
def spatial():
    """Three joints about skew axes and a slide."""
    body = {'inertia': [[0.02, 0.001, 0], [0.001, 0.03, 0.002], [0, 0.002, 0.025]]}
    return from_dh([DhLink(0, 0.3, 0.1, 1.2, mass=3, com=(0.02, 0.01, -0.1), **body),
                    DhLink(0, 0, 0.4, 0.3, mass=2, com=(-0.2, 0.03, 0.02), **body),
                    DhLink(0, 0, 0, -1.5, joint='prismatic', mass=1, com=(0, 0.05, 0.1), **body),
                    DhLink(0, 0.1, 0.05, 0, mass=0.5, com=(0.01, 0.02, 0.05), **body)])


@pytest.fixture(scope='session')
def robot(spatial):
    """Return the same with friction and rotors."""
    return with_joints(spatial, 0.7, 0.4, 0.1)
