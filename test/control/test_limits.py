# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The limits hold in a bad world, with nothing but the controller to keep the arm inside."""

from dataclasses import replace

from control.disturbed import guided_within_walls, HARD, MOST, run, Worst
from control.rig import ARMS, BENT, PANDA, risen, TWO_LINK
import numpy as np
import pytest
from robodyn_ros import Dynamics, load_urdf, Settings, simulate, Waypoints
from robodyn_ros.control.settings import settings
from robodyn_ros.control.settings.friction import with_friction
from robodyn_ros.control.settings.suggested_gains import suggest_gains
from robodyn_ros.control.steps.acceleration_limits import (
    acceleration_bounds, ACCELERATION_SHARE, DISTURBANCE_WEIGHT, permitted_acceleration,
    RETURN_VELOCITY_SHARE, VELOCITY_SHARE)
from robodyn_ros.control.steps.cycle_data import JOINT
from robodyn_ros.model.robot import with_payload
from thorough import seeds

SEEDS = seeds(8, 200)
TOP = VELOCITY_SHARE * 3.0    # rad/s, of the limit in test_the_net_acceleration_is_bounded
FAR = ACCELERATION_SHARE * TOP
# Arms meet worse poses here than those that gains are judged at
pytestmark = pytest.mark.slow


@pytest.mark.parametrize('name', ARMS)
def test_no_joint_leaves_its_limits(name):
    # Random poses, modes, gains, payloads and references; late efforts, lost samples.
    model, acted = ARMS[name][0], 0
    dynamics = Dynamics(model)
    for seed in range(SEEDS):
        worst = run(model, dynamics, seed)
        assert not worst.violations(), f'{name}, seed {seed}: {worst}'
        acted += worst.cut > 0
    assert acted > 0.1 * SEEDS
    # Floating within walls near its pose, held, and moved along trajectories in between.
    for seed in range(seeds(3, 200)):
        worst = run(model, dynamics, seed, **guided_within_walls(model))
        assert not worst.violations(), f'{name}, seed {seed}: {worst}'


def test_efforts_of_faults_and_of_users_are_limited():
    # They pass zero while what acted before looks like a reversed motor: the arm is braked on.
    dynamics = Dynamics(TWO_LINK)
    worst = run(TWO_LINK, dynamics, 72, mode='disturbance_observer')
    assert not worst.violations() and worst.phase == 'FAULT', worst
    # The limits do not ask who computes the effort.
    for seed in range(seeds(8, 200)):
        worst = run(TWO_LINK, dynamics, seed, mode='own_laws:IMPEDANCE')
        assert not worst.violations(), f'seed {seed}: {worst}'


@pytest.mark.parametrize('mode, seed', [
    ('feedback_policy', 123), ('feedback_policy', 144), ('feedback_policy', 145),
    ('feedback_policy', 177), ('hand_guiding', 114)])
def test_coupled_joints_are_limited_together(mode, seed):
    """
    Efforts of joints with nearly parallel axes, at their velocity limits, all of them large.

    The correction of each joint counts on those of the others, so it has to be what can be
    published in this cycle, and must not begin at zero in each.
    """
    worst = run(PANDA, Dynamics(PANDA), seed,
                **(guided_within_walls(PANDA) if mode == 'hand_guiding' else {'mode': mode}))
    assert not worst.violations() and worst.cut > 100, worst


def test_violations_are_told_and_no_limits_are_missed():
    # All that the other tests here ask.
    fine = Worst(0.0, 1.0, 1.0, 0.01, 0.01, 'RUNNING', 0)
    assert fine.violations() == []
    for name, most in MOST.items():
        assert fine._replace(**{name: 1.01 * most}).violations() == [name]
    # The same world is too much for a controller that knows of no limits.
    unlimited = np.full(2, np.inf)
    known = replace(TWO_LINK, position_lower=-unlimited, position_upper=unlimited,
                    velocity_limit=np.full(2, 1e3))
    for seed in (20, 27, 29):
        worst = run(TWO_LINK, Dynamics(TWO_LINK), seed, known)
        assert worst.velocity > 1.10 or worst.position > 0.02, f'seed {seed}: {worst}'


@pytest.mark.parametrize('disturbance', [HARD, HARD._replace(stopped=0.3)],
                         ids=['runs', 'in fault'])
def test_unknown_load(disturbance):
    """3 kg that the model does not know, 8 ms of delay, lost samples: no joint is too fast."""
    dynamics = Dynamics(PANDA)
    for seed in range(seeds(6, 100)) if disturbance is HARD else range(20, 20 + seeds(3, 50)):
        worst = run(PANDA, dynamics, seed, disturbance=disturbance)
        worst = worst._replace(position=0.0)        # such a load may not be stopped in time
        assert not worst.violations(), f'seed {seed}: {worst}'
        # Unknown loads may be a fault, too: joints that move against their efforts
        assert disturbance is HARD or worst.phase == 'FAULT'


@pytest.mark.parametrize('rate, delay, limit_rate, approach_rate', [
    (1000.0, 0.002, 80.0, 7.0), (100.0, 0.002, 20.0, 4.0), (1000.0, 0.02, 40.0, 7.0),
    (500.0, 0.0, 80.0, 7.0)])
def test_slow_loops_correct_slowly(rate, delay, limit_rate, approach_rate):
    record = settings.Settings(rate=rate, loop_delay=delay).settings_record()
    assert record['limit_rate'] == pytest.approx(limit_rate)
    assert record['approach_rate'] == pytest.approx(approach_rate)


@pytest.mark.parametrize('qd, disturbance, prevented, least, most', [
    (0.0, 0.0, 0.0, -FAR, FAR), (TOP, 0.0, 0.0, -FAR, 0.0),
    # More where the joint is too fast
    (1.2 * TOP, 0.0, 0.0, -FAR, -0.2 * TOP), (2.0 * TOP, 0.0, 0.0, -TOP, -TOP),
    (-2.0 * TOP, 0.0, 0.0, TOP, TOP),
    # A load to be held
    (0.0, 0.5, 0.0, -FAR - 0.5, FAR - 0.5), (0.0, -0.5, 0.0, 0.5 - FAR, FAR + 0.5),
    (TOP, 1.0, 0.0, -FAR - 1.0, -DISTURBANCE_WEIGHT), (TOP, -1.0, 0.0, -FAR + 1.0, 0.0),
    # Friction
    (0.0, -0.5, 0.5, 0.5 - FAR, 0.5 + FAR), (TOP, -1.0, 1.0, 1.0 - FAR, 1.0),
    (-TOP, 1.0, -1.0, -1.0, FAR - 1.0), (TOP, -1.5, 1.0, 1.5 - FAR, 1.0),
    (TOP, 1.0, -0.5, -FAR - 1.0, -0.5 - 0.5 * DISTURBANCE_WEIGHT)])
def test_the_net_acceleration_is_bounded(qd, disturbance, prevented, least, most):
    """In multiples of the rate, for a joint with a velocity limit of 3 rad/s."""
    rig = risen(loop_delay=0.0)
    rate, v = 80.0, rig.controller._v
    j, s = (getattr(rig.controller.records, name).view(np.recarray)[0]
            for name in ('joints', 'record'))
    v.speed_limit[:], v.limits.predicted_q[:], v.limits.predicted_qd[:] = 3.0, 0.0, qd
    v.limits.disturbance[:], v.limits.explained[:] = rate * disturbance, rate * prevented
    assert permitted_acceleration(j, s, v, 0) == pytest.approx((rate * least, rate * most))


@pytest.mark.parametrize('share', [1.0, 0.3, 0.0])
def test_friction_does_not_stop_a_slow_arm(share):
    """A tenth of the efforts, at 5 % of the velocities; the arm may have less than is known."""
    smooth = load_urdf('arm6')
    friction = {'coulomb_friction': 0.1 * smooth.effort_limit,
                'viscous_friction': 0.1 * smooth.effort_limit / smooth.velocity_limit}
    model = with_friction(smooth, friction)
    gains = suggest_gains(model)
    plant = with_friction(replace(model, armature=gains.armature),
                          {name: share * values for name, values in friction.items()})
    start = np.array([0.0, 0.4, 0.4, 0.0, 0.4, 0.0])
    run = simulate(model, Settings(mode='computed_torque', velocity_scale=0.05,
                                   friction_compensation=[1.0], **gains._asdict()), start, 2.0,
                   Waypoints(model.joint_names, [0.0], [start + 0.05]), plant=plant)
    assert run.code == '' and (abs(run.velocity) <= 1.1 * 0.05 * model.velocity_limit).all()
    assert abs(run.error).max() < (5e-3 if share == 1.0 else 0.03)


def test_a_load_that_the_model_does_not_know_is_held():
    """Gripped by the Panda: efforts that oppose a disturbance are no acceleration."""
    scale = 0.1
    rig = risen(q=BENT, model=PANDA, mode='joint_impedance', loop_delay=0.002,
                velocity_scale=scale, damping=[8.0, 30.0, 4.0, 20.0, 3.0, 5.0, 1.0],
                stiffness=[600.0, 600.0, 400.0, 600.0, 250.0, 150.0, 50.0])
    rig.dynamics = Dynamics(with_payload(PANDA, 'panda_hand', 3.0, (0.0, 0.0, 0.0)))
    fastest = farthest = 0.0
    for _ in range(1000):
        rig.tick()
        fastest = max(fastest, (abs(rig.qd) / (scale * PANDA.velocity_limit)).max())
        farthest = max(farthest, abs(rig.q - BENT).max())
    assert rig.phase == 'RUNNING' and fastest < 1.1 and farthest < 0.1


@pytest.mark.proof
def test_the_state_is_predicted_for_the_time_when_efforts_act():
    """Of an arm that moves on under gravity compensation: where it will be 20 ms later."""
    rig = risen(loop_delay=0.02, stiffness=[10.0], damping=[1.0], acceleration_kp=[25.0],
                acceleration_kd=[10.0])
    rig.qd[:] = 0.3, -0.2
    rig.run(0.1)
    predicted, here = rig.controller._v.limits.predicted_q.copy(), rig.q.copy()
    rig.run(0.02)
    assert predicted - here == pytest.approx(rig.q - here, rel=0.1)


def test_room():
    """Far from the limits, near them, at them, beyond them: inward is never forbidden."""
    j = np.zeros(1, JOINT).view(np.recarray)[0]
    j.position_lower, j.position_upper, j.velocity_limit = -1.0, 2.0, 3.0
    top, slow = VELOCITY_SHARE * 3.0, RETURN_VELOCITY_SHARE * 3.0
    for q, qd, least, most in ((0.5, 0.0, -top, top), (0.5, top, -2 * top, 0.0),
                               (1.9, 0.0, -top, 0.7), (1.9, 0.7, -top - 0.7, 0.0),
                               (2.0, 0.0, -top, 0.0), (2.02, 0.1, -slow - 0.1, -0.24),
                               (2.1, -1.0, 1.0 - slow, 1.0 - slow), (-1.02, 0.0, 0.14, slow),
                               (9.0, 0.0, -slow, -slow), (-9.0, 0.0, slow, slow)):
        found = acceleration_bounds(j, 80.0, 7.0, j.velocity_limit, q, qd)
        assert found == pytest.approx((80.0 * least, 80.0 * most))
    j.position_lower, j.position_upper, j.velocity_limit = -np.inf, np.inf, np.inf
    assert acceleration_bounds(j, 80.0, 7.0, np.inf, 5.0, 1e3) == (-np.inf, np.inf)
