# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Estimate of external efforts, against pushes of known force on an arm in MuJoCo."""

from dataclasses import replace

import numpy as np
import pytest
from robodyn_ros import Dynamics, load_urdf, Settings
from robodyn_ros.control.algebra.momentum_residual import filtered
from robodyn_ros.control.settings.suggested_gains import suggest_gains

pytest.importorskip('mujoco')
from robodyn_ros.closed_loop import ClosedLoop  # noqa: E402, I100

POSE = [0.3, 0.5]
FORCE = np.array([3.0, 0.0, 5.0])   # N, world axes
K = 50.0                            # 1/s


def arm(mode='joint_impedance', **settings):
    """Return a two-link arm at rest in its law."""
    model = load_urdf('two_link')
    gains = suggest_gains(model, np.array(POSE), Settings())._asdict()
    loop = ClosedLoop(model, Settings(mode=mode, **gains, **settings), POSE)
    loop.start()
    return model, loop


def expected(model, loop):
    """Return the joint efforts of the force at the origin of the last link."""
    q = loop.row()[0]
    return Dynamics(model).jacobian(q, 'tool0', reference='aligned')[:3].T @ FORCE


@pytest.mark.slow
@pytest.mark.parametrize('mode', ['gravity_compensation', 'joint_impedance', 'computed_torque',
                                  'disturbance_observer'])
def test_a_step_is_followed_with_its_time_constant(mode):
    """Of a step, 1 - 1/e is reached after 1/K, to 2 ms; its end is the effort of the force."""
    model, loop = arm(mode, external_effort_bandwidth=K)
    for _ in range(50):
        loop.tick()
    assert abs(loop.controller.external_effort).max() < 1e-3
    begin = loop.now
    loop.plant.push('tool0', FORCE, 1.0)
    when, rows, wanted = [], [], []
    for _ in range(200):
        loop.tick()
        when.append(loop.now - begin)
        rows.append(loop.controller.external_effort)
        wanted.append(expected(model, loop))
    rows, wanted = np.array(rows), np.array(wanted)
    assert np.allclose(rows[-1], wanted[-1], atol=0.02 * abs(wanted).max())
    reached = np.argmax(abs(rows) > (1.0 - np.exp(-1.0)) * abs(wanted), axis=0)
    assert abs(np.array(when)[reached] - 1.0 / K).max() <= 2e-3


def test_an_exact_model_in_motion_leaves_nothing():
    """Without contact, the estimate in a fast motion is a small part of the efforts."""
    from robodyn_ros.control.references import sine_motion as motion
    model, loop = arm('computed_torque', acceleration_limit=20.0)
    asked = motion.plan(Dynamics(model), np.array(POSE), 2.0)
    loop.controller.follow(asked, loop.now)
    worst, largest = 0.0, 0.0
    for _ in range(2000):
        loop.tick()
        worst = max(worst, abs(loop.controller.external_effort).max())
        largest = max(largest, abs(loop.controller.tau).max())
    assert worst < 0.02 * largest


def test_friction_of_the_model_is_known():
    """Friction that the model has does not appear as an external effort."""
    model = load_urdf('two_link')
    model = replace(model, viscous_friction=np.array([2.0, 1.0]),
                    backward_friction=np.array([[2.0, 1.0], [0.0, 0.0], [0.0, 0.0]]))
    worst = []
    for known in (model, load_urdf('two_link')):
        gains = suggest_gains(model, np.array(POSE), Settings())._asdict()
        loop = ClosedLoop(known, Settings(mode='joint_impedance', **gains), POSE, plant=model)
        loop.start()
        from robodyn_ros.control.references import sine_motion as motion
        loop.controller.follow(motion.plan(Dynamics(model), np.array(POSE), 2.0), loop.now)
        seen = 0.0
        for _ in range(1000):
            loop.tick()
            seen = max(seen, abs(loop.controller.external_effort).max())
        worst.append(seen)
    assert worst[0] < 0.2 * worst[1]


def test_measured_efforts_show_what_the_drives_do_not_deliver():
    """With measured efforts, a drive that delivers less than commanded is no external effort."""
    out = {}
    for observed in ('commanded', 'measured'):
        _, loop = arm(observed_effort=observed)
        command = loop.plant.step
        loop.plant.step = lambda tau, command=command: command(0.9 * np.asarray(tau))
        for _ in range(300):
            loop.tick()
        out[observed] = abs(loop.controller.external_effort).max()
    assert out['measured'] < 0.1 * out['commanded']


def test_no_estimate_without_efforts_in_force():
    """An arm that is not driven, or whose state is stale, has none."""
    model, loop = arm()
    loop.controller.begin()
    assert np.isnan(loop.controller.external_effort).all()
    assert loop.controller.external_effort.shape == (model.nv,)


@pytest.mark.parametrize('dt', [1e-4, 1e-3, 1.0])
def test_the_filter_is_exact_for_any_step(dt):
    """The residual approaches a constant disturbance exponentially, whatever the step is."""
    assert filtered(1.0, K, 3.0 * dt, dt) == pytest.approx(3.0 - 2.0 * np.exp(-K * dt))
