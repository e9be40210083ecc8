# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A controller in MuJoCo by one call."""

from dataclasses import replace
import sys

import numpy as np
import pytest
from robodyn_ros import load_urdf, Phase, Settings, simulate, Waypoints
from robodyn_ros.errors import ArgumentError, ParameterError, SimulationError, TrajectoryError

pytest.importorskip('mujoco')

pytestmark = pytest.mark.slow
START, END = np.array([0.3, 0.5]), np.array([0.6, 0.2])


@pytest.fixture(scope='module')
def two_link():
    return load_urdf('two_link')


def test_it_floats(two_link):
    motion = simulate(two_link, Settings(), START, 0.5)
    assert motion.reference.shape == (501, 2) and np.isnan(motion.error).all()
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
    assert motion.reference[0] == pytest.approx(START)
    assert motion.reference[-1] == pytest.approx(END)
    assert 0.0 < np.abs(motion.error).max() < 2e-3 and set(motion.phase) == {'RUNNING'}


def test_a_motion_begins_where_it_should_after_the_motors_were_tested(two_link):
    """The test moves them by 20 mrad, more than this controller lets a motion begin away."""
    settings = Settings(mode='computed_torque', acceleration_kp=60, acceleration_kd=15,
                        motor_test_effort=0.1, trajectory_start_tolerance=0.01)
    path = Waypoints(two_link.joint_names, np.array([0.0, 1.0]), np.array([START, END]))
    motion = simulate(two_link, settings, START, 1.0, path)
    assert motion.fault == '' and motion.reference[[0, -1]] == pytest.approx(
        np.array([START, END]), abs=1e-6)
    assert 0.0 < np.abs(motion.error).max() < 5e-3


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
    for delay in (-1.0, np.nan, np.inf, '1'):      # the brakes of this arm would never open
        with pytest.raises(ArgumentError, match='delay is'):
            simulate(two_link, Settings(), START, 0.1, delay=delay)
    with pytest.raises(ArgumentError, match='duration is None'):
        simulate(two_link, Settings(), START, None)
    swapped = replace(two_link, joint_names=('joint2', 'joint1'))
    for plant in (swapped, load_urdf('two_link', locked={'joint2': 0.0})):
        with pytest.raises(ArgumentError, match='plant has the joints .*order: joint1, joint2'):
            simulate(two_link, Settings(), START, 0.1, plant=plant)
    with pytest.raises(TrajectoryError, match='follows no reference'):
        simulate(two_link, Settings(), START, 0.1, Waypoints(
            two_link.joint_names, np.array([1.0]), END[None]))
    lazy = Settings(mode='pd', stiffness=1, damping=1, following_error=0.05)
    motion = simulate(two_link, lazy, START, 1.0, Waypoints(
        two_link.joint_names, np.array([0.9]), END[None]))
    assert 'does not follow its reference' in motion.fault
    faulty = motion.phase == Phase.FAULT.name
    assert motion.time[faulty][0] == pytest.approx(motion.fault_time)
    assert np.isnan(motion.error[faulty]).all() and np.isfinite(motion.error[~faulty]).all()


def test_a_run_is_drawn(two_link, monkeypatch):
    pytest.importorskip('matplotlib')
    held = simulate(two_link, Settings(mode='pd', stiffness=30, damping=5), START, 0.01).plot()
    assert [ax.get_ylabel().split(',')[0] for ax in held.axes] == [
        'position [rad]', 'error [mrad]', 'velocity [rad/s]', 'effort [N·m]']
    run = simulate(two_link, Settings(), START, 0.01)
    assert len(run.plot().axes) == 3        # there is no reference, and so no error
    monkeypatch.setitem(sys.modules, 'matplotlib', None)
    with pytest.raises(ImportError, match='needs Matplotlib: run `pip install.* matplotlib`'):
        run.plot()
