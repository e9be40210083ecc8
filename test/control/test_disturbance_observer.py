# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Disturbance observer in MuJoCo, with friction that it does not know and late efforts."""

from dataclasses import replace

from control.rig import ARMS, follow, POSE, Told, TWO_LINK
import numpy as np
import pytest
from robodyn_ros import Dynamics, Settings, simulate
from robodyn_ros.control.references import sine_motion as motion
from robodyn_ros.control.settings.suggested_gains import suggest_gains
from robodyn_ros.law_comparison import drive, EFFORT_DELAY, scenes
from thorough import seeds

pytest.importorskip('mujoco')
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures('few_poses')]
# Each law knows the whole arm: most checks are as good on the short one
EACH = pytest.mark.parametrize('name', ['two_link', 'panda'] if seeds(0, 1) else ['two_link'])


@EACH
def test_friction_is_cancelled(name):
    """At equal stiffness, the error is a fifth of that of joint impedance, or less."""
    false, pose = scenes(ARMS[name][0])[1], ARMS[name][1]
    asked = motion.plan(Dynamics(false.known), pose, 3.0)
    observed, impedance = (drive(false, law, pose, asked, 0.5).rms
                           for law in ('disturbance_observer', 'joint_impedance'))
    assert 5.0 * observed < impedance


@EACH
def test_no_limit_cycle_at_rest(name):
    """After a motion, 12 s at rest with Coulomb friction: neither arm nor efforts move."""
    (_, known, plant, _), pose = scenes(ARMS[name][0])[1], ARMS[name][1]
    asked = motion.plan(Dynamics(known), pose, 2.0)
    settings = Settings(mode='disturbance_observer', **suggest_gains(known, pose)._asdict())
    run = simulate(known, settings, pose, asked.times[-1] + 12.0, asked, plant=plant,
                   delay=EFFORT_DELAY)
    late = run.time > run.time[-1] - 8.0
    assert run.fault == ''
    assert abs(run.position[late] - pose).max() < 2e-3
    assert np.ptp(run.position[late], axis=0).max() < 1e-4
    assert (np.ptp(run.effort[late], axis=0) < 1e-3 * known.effort_limit).all()


@EACH
def test_undeclared_delay_shakes_no_more_than_with_joint_impedance(name):
    """The gains of `robodyn init`, whose bandwidth is near the highest, with 8 ms of delay."""
    model, pose = ARMS[name]
    gains = suggest_gains(model, pose, Settings())._asdict()
    asked = motion.plan(Dynamics(model), pose, 2.0)
    speed = {}
    for mode in ('joint_impedance', 'disturbance_observer'):
        run = simulate(model, Settings(mode=mode, **gains), pose, 4.0, asked, delay=0.008)
        assert run.fault == ''
        speed[mode] = abs(run.velocity / model.velocity_limit).max()
    assert speed['disturbance_observer'] < 1.2 * speed['joint_impedance']


def test_compensated_friction_counts_as_known():
    """Friction that is compensated is not compensated once more by the observer."""
    model = replace(TWO_LINK, coulomb_friction=np.array([1.0, 0.4]),
                    static_friction=np.array([1.0, 0.4]),
                    backward_friction=np.array([[0.0, 0.0], [1.0, 0.4], [1.0, 0.4]]))
    asked = motion.plan(Dynamics(model), POSE, 2.0)
    gains = suggest_gains(model, POSE, Settings())._asdict()
    rms = []
    for share in (0.0, 1.0):
        run = simulate(model, Settings(mode='disturbance_observer', friction_compensation=share,
                                       **gains), POSE, asked.times[-1], asked)
        error = run.position - motion.reference(model, asked)(run.time)
        rms.append(np.sqrt((error**2).mean()))
    assert rms[1] < 0.5 * rms[0]


@pytest.mark.parametrize('noise', [0.01, 0.03])
def test_noise_of_the_velocity_is_no_oscillation(noise):
    """It exceeds the effort rate in most cycles: no fault, and the arm hardly notices."""
    random, rates = np.random.default_rng(0), []
    rig = Told(TWO_LINK, POSE, mode='disturbance_observer', stiffness=[115.0, 16.0],
               damping=[23.0, 3.2], observer_bandwidth=[50.0], acceleration_limit=[],
               arming_velocity=0.5)
    rig.lie = lambda q, qd: (q, qd + noise * random.standard_normal(2))
    rig.rise()
    follow(rig, [0.9, -0.2], 1.5, at_rest=True)
    for _ in range(4000):
        rig.tick()
        rates.append(rig.qd - rig.controller._v.target_qd)
    assert rig.phase == 'RUNNING', rig.controller.reason
    assert rig.controller.memory['rate_limited'][0] > 1000
    assert np.sqrt(np.mean(np.square(rates), axis=0)).max() < 2.0 * noise
