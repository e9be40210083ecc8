# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Arms of vendors go where they are told with suggested gains, or a sentence says why not."""

import re

import numpy as np
import pytest
from robodyn_ros import Dynamics, load_urdf, Settings, simulate, suggest_gains, Waypoints
from robodyn_ros.control.settings.motion_limits import (
    holding_warning,
    resting_error_warning,
    resting_errors,
)
from robots import WIDE

pytestmark = pytest.mark.slow


@pytest.mark.parametrize('mode', ['computed_torque', 'joint_impedance'])
@pytest.mark.parametrize('name', ['z1', 'xarm7'])
def test_an_arm_with_friction_and_without_rotors_reaches_its_target(name, mode):
    """Coulomb friction of 1 or 2 N·m, wrists of 1e-3 kg·m², no rotor inertia in the URDF."""
    model = load_urdf(WIDE[name])
    gains = suggest_gains(model)
    light = Dynamics(model).mass_matrix(np.zeros(model.nv)).diagonal() < 0.05
    assert ((gains.armature > 0.0) | ~light).all()
    settings = Settings(mode=mode, **gains._asdict())
    start = 0.5 * (model.position_lower + model.position_upper).clip(-2.0, 2.0)
    goal = start + 0.5 * np.where(model.position_upper - start > 0.6, 1.0, -1.0)
    run = simulate(model, settings, start, 3.0, Waypoints(
        model.joint_names, [1.5], [goal], np.zeros((1, model.nv))))
    assert run.fault == run.warning == ''
    assert abs(run.position[-1] - goal).max() < 0.01


def test_limits_and_friction_that_do_not_suffice_are_named():
    model = load_urdf(WIDE['z1'])
    weak = Settings(mode='joint_impedance', stiffness=[5.0], damping=[1.0])
    assert resting_errors(model, weak)[1] == pytest.approx(2.0 / 5.0)
    assert 'joint2 may rest 0.4 rad away (friction 2)' in resting_error_warning(model, weak)
    for cured in (Settings(mode='joint_impedance', stiffness=[5.0], damping=[1.0],
                           friction_compensation=[1.0]),
                  Settings(mode='gravity_compensation')):
        assert resting_errors(model, cured).max() == 0.0
    assert 'may rest' not in resting_error_warning(model, Settings(
        mode='joint_impedance', **suggest_gains(model)._asdict()))
    model = load_urdf('two_link')
    assert holding_warning(model, model.effort_limit) == ''
    weak = np.array([10.0, model.effort_limit[1]])
    poses = np.random.default_rng(0).uniform(model.position_lower, model.position_upper, (999, 2))
    gravity = abs(Dynamics(model).batch.gravity(poses)[:, 0])
    found = holding_warning(model, weak)
    assert 'joint1 in ' in found and 'joint2' not in found
    share, largest = re.search(r'joint1 in (\d+) % \(10 of up to ([\d.]+) N·m', found).groups()
    assert int(share) == pytest.approx(100.0 * (gravity > 10.0).mean(), abs=8.0)
    assert float(largest) == pytest.approx(gravity.max(), rel=0.1)
    model = load_urdf(WIDE['z1'])
    for given in (0.0, 0.01):
        gains = suggest_gains(model, settings=Settings(armature=[given]))
        assert (gains.armature == given).all()


@pytest.mark.parametrize('limits, cause', [
    ({'acceleration_kp': [10.0], 'acceleration_kd': [10.0]},
     'the gains are too low for a friction of 1 N'),
    ({'effort_limit': [30.0, 60.0, 30.0, 30.0, 30.0, 0.5, 30.0], 'effort_rate_limit': [600.0]},
     'limits withhold')])
def test_an_arm_that_rests_away_from_its_target_says_why(limits, cause):
    model = load_urdf(WIDE['z1'])
    start = 0.5 * (model.position_lower + model.position_upper).clip(-2.0, 2.0)
    settings = Settings(mode='computed_torque', following_error=[0.0], **{
        **suggest_gains(model)._asdict(), **limits})
    aside = Waypoints(model.joint_names, [0.2], [start + 0.02], np.zeros((1, model.nv)))
    run = simulate(model, settings, start, 0.35, aside)
    assert not run.fault and 'joint6 rests 0.02 rad from its target: ' in run.warning
    assert cause in run.warning
    assert simulate(model, settings, start, 0.1).warning == ''
