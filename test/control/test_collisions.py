# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""External efforts on an arm in MuJoCo, collisions with an elastic obstacle, and reactions."""

from dataclasses import replace

from control.rig import POSE, Rig, TWO_LINK
import numpy as np
import pytest
from robodyn_ros import Dynamics, Settings
from robodyn_ros.control.algebra import filtered
from robodyn_ros.control.learning import thresholds
from robodyn_ros.control.settings.suggested_gains import suggest_gains
from robodyn_ros.control.steps.collisions import RETREAT_SPEED
from robodyn_ros.errors import ArgumentError

pytest.importorskip('mujoco')
pytestmark = pytest.mark.slow
from benchmarks.collisions import (  # noqa: E402, I100, E501
    arm, begin, impact, LATER, quiet, scenes)
from robodyn_ros.closed_loop import ClosedLoop  # noqa: E402
from robodyn_ros.control.references.sine_motion import plan  # noqa: E402
from thorough import seeds  # noqa: E402

LIMITS = np.array([10.0, 10.0])     # N·m, rad/s
SHARE = 0.03        # effort limits, threshold of these tests
FORCE = np.array([3.0, 0.0, 5.0])   # N, world axes
K = 50.0                            # 1/s


def pushed(force=(0.0, 0.0, 40.0), **settings):
    """Return a two-link arm at rest in joint impedance that has been pushed for 50 ms."""
    loop = begin(TWO_LINK, TWO_LINK, POSE, **{
        'collision_threshold': SHARE * TWO_LINK.effort_limit, **settings})
    loop.plant.push('tool0', force, 0.05)
    for _ in range(60):
        loop.tick()
    return loop


@pytest.mark.parametrize('name, error', [('panda', 0.0), ('ur5', 0.05)])
def test_an_impact_is_found_and_located(name, error):
    """At 0.5 m/s on 75 N/mm: found within 10 ms, by the right joint, no harder than without."""
    model, plant, _ = arm(name, error)
    # Held until the end, else an arm without brakes may fall onto the obstacle
    held = {'fault_hold_time': 2.0 * LATER}
    limit = {'collision_threshold': SHARE * (1.0 + error) * model.effort_limit,
             'collision_effort_band': 1.5 * error, **held}
    found = scenes(model, seeds(2, 20))
    for scene in found:
        reacting = impact(model, plant, scene, **limit)
        assert reacting.reason == 'COLLISION' and reacting.right
        assert 0.0 <= reacting.found <= 0.01
        if not error:
            assert reacting.peak < impact(model, plant, scene, **held).peak
    assert len(found) >= 2


def test_learned_thresholds_raise_no_alarm():
    """A motion with masses that are 5 % wrong, and another with the thresholds learned from it."""
    model, plant, q = arm('two_link', 0.05)
    velocity, bias, external, _ = quiet(model, plant, q, 4.0, seed=1)
    learned = thresholds(velocity, bias, external, model.effort_limit, model.velocity_limit)
    bound = (learned[0] + learned[1] * abs(velocity) + learned[2] * abs(bias))
    assert (1.5 * abs(external) <= bound + 1e-9).all()
    assert (bound < model.effort_limit).all()
    assert quiet(model, plant, q, 6.0, seed=2, **learned._asdict())[3] == ''


@pytest.mark.proof
@pytest.mark.parametrize(('rise', 'settings', 'code'), [
    (0.7, {'push_bandwidth': 10.0}, 'NO_REASON'), (0.0, {'push_bandwidth': 10.0}, 'COLLISION'),
    (0.7, {'push_bandwidth': 10.0, 'push_threshold': 6.0}, 'PUSHED'), (0.7, {}, 'COLLISION')])
def test_a_push_is_told_from_a_collision_by_its_speed(rise, settings, code):
    """20 N at the tool, within ``rise`` [s] or at once; 12.7 N·m on the first joint."""
    loop = begin(TWO_LINK, TWO_LINK, POSE, **settings,
                 collision_threshold=SHARE * TWO_LINK.effort_limit)
    for k in range(900):
        if k % 10 == 0:
            loop.plant.push('tool0', [0.0, 0.0, 20.0 * min(1.0, 1e-3 * k / max(rise, 1e-3))], 1.0)
        loop.tick()
        if loop.controller.reason_code != 'NO_REASON':
            break
    assert loop.controller.reason_code == code
    if code == 'NO_REASON':
        assert abs(loop.controller.external_effort[0]) > 10.0


def test_a_push_is_no_collision_where_the_arm_is_to_be_pushed():
    """In gravity_compensation nothing is detected, and without a threshold nowhere."""
    for mode, threshold in (('gravity_compensation', SHARE * TWO_LINK.effort_limit),
                            ('joint_impedance', ())):
        loop = resting(mode, collision_threshold=threshold)
        loop.plant.push('tool0', [0.0, 0.0, 40.0], 0.05)
        for _ in range(60):
            loop.tick()
        assert loop.controller.reason_code == 'NO_REASON'


@pytest.mark.proof
def test_reactions_end_in_time():
    # Stop brakes, float lets the arm drift, and retreat moves away from the push.
    moved = {}
    for reaction in ('stop', 'float', 'retreat'):
        loop = pushed(collision_reaction=reaction, fault_hold_time=1.0)
        begin_at = loop.row()[0]
        speed = 0.0
        for _ in range(250):
            loop.tick()
            speed = max(speed, abs(loop.row()[1] / loop.controller.model.velocity_limit).max())
        assert loop.controller.reason_code == 'COLLISION'
        moved[reaction] = loop.row()[0] - begin_at
        if reaction == 'retreat':
            assert speed < 2.0 * RETREAT_SPEED
    assert abs(moved['stop']).max() < 0.5 * abs(moved['float']).max()
    assert abs(moved['stop']).sum() < 0.8 * abs(moved['retreat']).sum()
    rig = Rig(TWO_LINK, POSE, mode='joint_impedance',
              collision_threshold=(3.0, 1.5), collision_reaction='retreat', fault_action='hold')
    rig.controller.cycle_input['simulated_time'] = 1
    rig.time = 100.0
    rig.rise()
    rig.external = np.array([0.0, 4.0])
    rig.run(0.05)
    rig.external[:] = 0.0
    assert rig.controller.reason_code == 'COLLISION'
    rig.time -= 60.0
    rig.run(1.5)
    before = rig.q.copy()
    rig.run(0.5)
    assert abs(rig.q - before).max() < 1e-3


def test_an_arm_that_is_clamped_lets_go():
    """A push that lasts is not resisted by the spring of the law, whatever its reference asks."""
    model, plant, _ = arm('panda', 0.0)
    scene = scenes(model, 1)[0]
    for reaction in ('stop', 'float', 'retreat'):
        hit = impact(model, plant, scene, collision_threshold=SHARE * model.effort_limit,
                     collision_reaction=reaction, fault_hold_time=2.0)
        assert hit.reason == 'COLLISION'
        assert hit.clamping < 0.5 * hit.peak


def test_a_joint_that_sticks_does_not_switch_the_detection_off():
    """Its efforts, divided by velocities of noise, are no band for motions."""
    external = np.array([[0.0, 0.0], [1.0, 1.0]])
    learned = thresholds(1e-7 * external, 0.0 * external, external, LIMITS, LIMITS)
    assert learned.collision_threshold == pytest.approx(1.5)
    assert (learned.collision_velocity_band <= 1.0).all()


def test_what_cannot_be_learned_or_estimated():
    # No estimate, or external efforts of the size of the effort limit.
    ones = np.ones((5, 2))
    with pytest.raises(ArgumentError, match='no external effort'):
        thresholds(ones, ones, np.nan * ones, LIMITS, LIMITS)
    with pytest.raises(ArgumentError, match='joint 1 .* although nothing touches the arm'):
        thresholds(ones, ones, ones * [1.0, 9.0], LIMITS, LIMITS)
    # An arm that is not driven, or whose state is stale, has none.
    loop = resting()
    loop.controller.begin()
    assert np.isnan(loop.controller.external_effort).all()
    assert loop.controller.external_effort.shape == (2,)


def resting(mode='joint_impedance', **settings):
    """Return a two-link arm at rest in its law."""
    gains = suggest_gains(TWO_LINK, POSE, Settings())._asdict()
    loop = ClosedLoop(TWO_LINK, Settings(mode=mode, **gains, **settings), POSE)
    loop.start()
    return loop


def expected(loop):
    """Return the joint efforts of the force at the origin of the last link."""
    q = loop.row()[0]
    return Dynamics(TWO_LINK).jacobian(q, 'tool0', reference='aligned')[:3].T @ FORCE


@pytest.mark.parametrize('mode', ['gravity_compensation', 'computed_torque'])
def test_a_step_is_followed_with_its_time_constant(mode):
    """Of a step, 1 - 1/e is reached after 1/K, to 2 ms; its end is the effort of the force."""
    loop = resting(mode, external_effort_bandwidth=K)
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
        wanted.append(expected(loop))
    rows, wanted = np.array(rows), np.array(wanted)
    assert np.allclose(rows[-1], wanted[-1], atol=0.02 * abs(wanted).max())
    reached = np.argmax(abs(rows) > (1.0 - np.exp(-1.0)) * abs(wanted), axis=0)
    assert abs(np.array(when)[reached] - 1.0 / K).max() <= 2e-3


def test_a_model_in_motion_leaves_what_it_does_not_know():
    """A small part of the efforts where it is exact, and friction where it has none."""
    model, unknown = TWO_LINK, []
    rusty = replace(model, viscous_friction=np.array([2.0, 1.0]),
                    backward_friction=np.array([[2.0, 1.0], [0.0, 0.0], [0.0, 0.0]]))
    for known in (rusty, model):
        gains = suggest_gains(rusty, POSE, Settings())._asdict()
        loop = ClosedLoop(known, Settings(mode='computed_torque', **gains), POSE, plant=rusty)
        loop.start()
        loop.controller.follow(plan(Dynamics(rusty), POSE, 2.0), loop.now)
        seen = []
        for _ in range(2000):
            loop.tick()
            seen.append([abs(loop.controller.external_effort).max(),
                         abs(loop.controller.tau).max()])
        unknown.append(np.max(seen, axis=0))
    assert unknown[0][0] < 0.02 * unknown[0][1]
    assert unknown[0][0] < 0.2 * unknown[1][0]


@pytest.mark.proof
def test_measured_efforts_show_what_the_drives_do_not_deliver():
    """With measured efforts, a drive that delivers less than commanded is no external effort."""
    out = {}
    for observed in ('commanded', 'measured'):
        loop = resting(observed_effort=observed)
        command = loop.plant.step
        loop.plant.step = lambda tau, command=command: command(0.9 * np.asarray(tau))
        for _ in range(300):
            loop.tick()
        out[observed] = abs(loop.controller.external_effort).max()
    assert out['measured'] < 0.1 * out['commanded']


@pytest.mark.parametrize('dt', [1e-4, 1e-3, 1.0])
def test_the_filter_is_exact_for_any_step(dt):
    """The residual approaches a constant disturbance exponentially, whatever the step is."""
    assert filtered(1.0, K, 3.0 * dt, dt) == pytest.approx(3.0 - 2.0 * np.exp(-K * dt))
