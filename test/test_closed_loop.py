# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A controller in MuJoCo by one call."""

import numpy as np
import pytest
from robodyn_ros import load_urdf, Settings, simulate, Waypoints
from robodyn_ros.errors import ArgumentError, ParameterError, SimulationError, TrajectoryError

pytest.importorskip('mujoco')

pytestmark = pytest.mark.slow
START, END = np.array([0.3, 0.5]), np.array([0.6, 0.2])


@pytest.fixture(scope='module')
def two_link():
    return load_urdf('two_link')


def test_it_floats(two_link):
    motion = simulate(two_link, Settings(), START, 0.5)
    assert len(motion.time) == 501 and motion.time[-1] == pytest.approx(0.5)
    assert motion.fault == '' and np.abs(motion.position - START).max() < 1e-6


@pytest.mark.parametrize('rate', [1000, 300])
def test_it_follows(two_link, rate):
    settings = Settings(mode='computed_torque', acceleration_kp=60, acceleration_kd=15, rate=rate)
    motion = simulate(two_link, settings, START, 1.5, Waypoints(
        two_link.joint_names, np.array([1.0]), END[None]))
    assert motion.fault == ''
    assert motion.position[0] == pytest.approx(START) and motion.position[-1] == pytest.approx(
        END, abs=1e-3)


def test_what_ends_it_is_told(two_link):
    weak = Settings(effort_limit=[10.0, 5.0])
    with pytest.raises(SimulationError, match='gravity torque is above the effort limit'):
        simulate(two_link, weak, START, 0.1)
    with pytest.raises(ParameterError, match='joint1, joint2'):
        simulate(two_link, Settings(), [0.3], 0.1)
    with pytest.raises(ArgumentError, match='position is'):
        simulate(two_link, Settings(), [0.3, 'a'], 0.1)
    with pytest.raises(ArgumentError, match='duration is -1'):
        simulate(two_link, Settings(), START, -1.0)
    with pytest.raises(TrajectoryError, match='follows no reference'):
        simulate(two_link, Settings(), START, 0.1, Waypoints(
            two_link.joint_names, np.array([1.0]), END[None]))
    lazy = Settings(mode='pd', stiffness=1, damping=1, following_error=0.05)
    motion = simulate(two_link, lazy, START, 1.0, Waypoints(
        two_link.joint_names, np.array([0.9]), END[None]))
    assert 'does not follow its reference' in motion.fault
