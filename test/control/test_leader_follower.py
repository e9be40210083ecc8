# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Two coupled arms in MuJoCo, with a link that is late, loses messages, or is cut."""

from control.one_cycle import arm_of, gains_of, memory_of
from control.rig import POSE, TURNING, TWO_LINK
from flight_recorder.flights import replayed
import numpy as np
import pytest
from robodyn_ros import Controller, Dynamics, Settings
from robodyn_ros.closed_loop import ClosedLoop, CoupledLoops
from robodyn_ros.control.controller.partner_and_policy import joint_map
from robodyn_ros.control.inputs.partner import checked, CouplingState, JointMap, POSITION
from robodyn_ros.control.laws import leader_follower
from robodyn_ros.control.steps import guard
from robodyn_ros.errors import ArgumentError, ParameterError
from robodyn_ros.simulation.plant import Obstacle

pytest.importorskip('mujoco')
GAINS = {'mode': 'leader_follower', 'stiffness': [300.0, 100.0], 'damping': [60.0, 20.0]}
UP = np.array([0.0, 0.0, 1.0])


def loops(delay=0.0, follower=POSE, recorded=0, **settings):
    """Leader and follower, which do not follow each other yet."""
    return CoupledLoops(ClosedLoop(TWO_LINK, Settings(**GAINS), POSE, recorded=recorded),
                        ClosedLoop(TWO_LINK, Settings(coupling_role='follower', **{
                            **GAINS, **settings}), follower, recorded=recorded), delay=delay)


def coupled(*delay, **how):
    """Leader and follower, aligned."""
    arms = loops(*delay, **how)
    arms.start()
    return arms


def energy(arms):
    """Energy that is in the coupling, or was dissipated there, by joint (nv,)."""
    return sum(loop.controller.coupling_energy for loop in arms.loops)


def phases(arms):
    return {(guard.PHASES[loop.controller.phase], loop.controller.reason_code)
            for loop in arms.loops}


@pytest.mark.slow
def test_joints_are_mapped_and_arms_brought_together():
    # Neither is jerked: efforts besides gravity stay small, and so do their steps.
    arms = loops(follower=POSE + [0.2, -0.2])
    efforts, limit = [], TWO_LINK.effort_limit
    for loop in arms.loops:
        loop.controller.arm()
    while arms.loops[0].controller.coupling_state().status < 3 and arms.loops[0].now < 10.0:
        arms.tick()
        if arms.loops[0].now > 0.1:
            efforts.append([loop.controller._v.published.copy() for loop in arms.loops])
    (leader, _, _), (follower, _, _) = (loop.row() for loop in arms.loops)
    assert abs(leader - follower).max() < 5e-3 and abs(leader - POSE).max() < 0.05
    assert (abs(np.diff(efforts, axis=0)) / limit).max() < 5e-3
    assert (abs(np.array(efforts)) / limit).max() < 0.1
    # The follower's joints are half as far, the other way round, in the other order.
    arms = coupled(follower=[0.25, 0.2], coupling_joints='joint2,joint1',
                   coupling_scale=[-0.5, 2.0], coupling_offset=[0.5, -0.4])
    arms.loops[0].plant.push('tool0', 3.0 * UP, 0.3)
    least = np.zeros(2)
    for _ in range(600):
        arms.tick()
        (a, _, _), (b, _, _) = (loop.row() for loop in arms.loops)
        own = [loop.controller.coupling_energy for loop in arms.loops]
        least = np.minimum(least, own[0] + own[1][::-1])
    assert b == pytest.approx([0.5 - 0.5 * a[1], -0.4 + 2.0 * a[0]], abs=0.02)
    assert abs(a - POSE).max() > 0.05 and (least > -1e-3).all()


def test_continuous_joints_are_brought_together_the_shortest_way():
    """The follower counts one turn more than its leader, and would turn for half a minute."""
    turn = np.array([2.0 * np.pi, 0.0])
    arms = CoupledLoops(ClosedLoop(TURNING, Settings(**GAINS), POSE), ClosedLoop(
        TURNING, Settings(coupling_role='follower', **GAINS), POSE + turn))
    arms.start()
    arms.loops[0].plant.push('tool0', 3.0 * UP, 0.3)
    for _ in range(500):
        arms.tick()
    (leader, _, _), (follower, _, _) = (loop.row() for loop in arms.loops)
    assert follower == pytest.approx(leader + turn, abs=0.01) and abs(leader - POSE).max() > 0.05


@pytest.mark.parametrize('goes', [True, False])
def test_the_deviation_waits_for_an_arm_that_lags(goes):
    """At coupling_speed at most, and half a second of it ahead of one that does not move."""
    arm, memory = arm_of(TWO_LINK), memory_of(leader_follower.LAW, 2)
    gains = gains_of(leader_follower.LAW, 2, stiffness=300.0, damping=60.0, coupling_delay=0.03,
                     coupling_speed=0.2)
    arm.partner.header[0].follows = 1
    arm.partner.rows[POSITION] = there = np.array([0.3, -0.2])
    rates = []
    for _ in range(4000):
        rates.append([leader_follower.align(arm, gains, memory, i) for i in range(2)])
        if goes:
            arm.q[:] = there - memory.deviation
    assert abs(np.array(rates)).max() < 0.2 + 1e-9
    left = abs(memory.deviation)
    assert not left.any() if goes else (left > abs(there) - 0.1 - 1e-9).all()


@pytest.mark.slow
def test_the_hand_feels_the_wall_and_gets_no_energy():
    # The force on the wall is that of the hand within 10 %, through a link of 10 ms.
    arms = coupled(0.01)
    leader, follower = arms.loops
    tip = Dynamics(TWO_LINK).pose(follower.row()[0], 'tool0')[:3, 3]
    wall = Obstacle('tool0', np.zeros(3), tip + 0.02 * UP, -UP, stiffness=5e3)
    follower.plant.obstacles.append(wall)
    leader.plant.push('tool0', 5.0 * UP, 10.0)
    least, forces = np.zeros(2), []
    for _ in range(1100):
        arms.tick()
        least = np.minimum(least, energy(arms))
        forces.append(wall.force)
    assert np.mean(forces[-400:]) == pytest.approx(5.0, rel=0.1)
    assert (least > -1e-3).all() and phases(arms) == {('RUNNING', 'NO_REASON')}
    # Random pushes of both arms, delays that vary from 0 to 10 ms: no energy comes out.
    arms, random, least = coupled(), np.random.default_rng(3), np.zeros(2)
    for k in range(600):
        if k % 100 == 0:
            arms.delay = random.uniform(0.0, 0.01)
            arms.loops[int(random.integers(2))].plant.push(
                'tool0', random.uniform(-6.0, 6.0, 3) * [1, 0, 1], 0.1)
        arms.tick()
        least = np.minimum(least, energy(arms))
    assert (least > -1e-3 * TWO_LINK.effort_limit).all()
    assert phases(arms) == {('RUNNING', 'NO_REASON')}


def test_maps_conserve_power():
    random = np.random.default_rng(1)
    joints = JointMap(np.array([2, 0]), ('a', 'b'), np.array([-0.5, 3.0]), np.array([0.1, 0.2]))
    rows = random.uniform(0.1, 1.0, (5, 3))
    there = joints.to_leader(rows)
    back = joints.from_leader(there, np.array([0, 1]), 3)
    assert back[:, [0, 2]] == pytest.approx(rows[:, [0, 2]]) and not back[:, 1].any()
    power = rows[3, [2, 0]] * rows[1, [2, 0]]**2
    assert there[3] * there[1]**2 == pytest.approx(power)


@pytest.mark.parametrize(('settings', 'why'), [
    ({'coupling_scale': [2.0]}, 'set on the leader'),
    ({'coupling_role': 'follower', 'coupling_joints': 'joint1'}, 'is refused'),
    ({'coupling_role': 'follower', 'coupling_joints': 'a,a'}, 'is refused'),
    ({'coupling_role': 'follower', 'coupling_scale': [1.0, 0.0]}, 'follows nothing'),
    ({'coupling_delay': [0.5]}, 'needs more damping')])
def test_settings_that_are_refused(settings, why):
    with pytest.raises(ParameterError, match=why):
        Controller(TWO_LINK, Settings(**{**GAINS, **settings}), specialize=False)


@pytest.mark.parametrize(('changed', 'why'), [
    ({'role': 'x'}, "partner is 'x'"), ({'rows': -np.ones((5, 2))}, 'no gains'),
    ({'rows': np.zeros((4, 2))}, 'shape')])
def test_partners_that_are_refused(changed, why):
    settings = Settings(coupling_role='follower', **GAINS)
    good = CouplingState('leader', 1, ('joint1', 'joint2'), np.ones((5, 2)))
    assert (checked(joint_map(TWO_LINK, settings), 'follower', 2, good) == 1.0).all()
    with pytest.raises(ArgumentError, match=why):
        checked(joint_map(TWO_LINK, settings), 'follower', 2, good._replace(**changed))


@pytest.mark.slow
def test_the_recording_has_the_energies_and_is_replayed():
    arms = coupled(recorded=1500)
    arms.loops[0].plant.push('tool0', 3.0 * UP, 0.1)
    for _ in range(300):
        arms.tick()
    _, flown = replayed(arms.loops[1].controller, 400)
    assert flown.snapshot.partner[-1].any()
