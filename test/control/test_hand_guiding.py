# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Hand guiding: floating within walls while it is enabled, holding where it is let go."""

from control.one_cycle import arm_of, readable
from control.rig import backward, follow, POSE, Rig, risen, Told, TWO_LINK
from hypothesis import given, settings, strategies as st
import numpy as np
import pytest
from robodyn_ros import Dynamics
from robodyn_ros.control.inputs.task import Bounds
from robodyn_ros.control.laws.hand_guiding import add_tool_walls, joint_wall, wall_force
from robodyn_ros.control.references.trajectory import Waypoints
from robodyn_ros.control.settings.settings import Settings
from robodyn_ros.control.settings.task_and_bounds import coincidence, workspace_planes
from robodyn_ros.dynamics.model_data import frame_record, parameters
from robodyn_ros.errors import ParameterError, TrajectoryError

near = pytest.approx
HAND = {'mode': 'hand_guiding', 'stiffness': [400.0, 100.0], 'damping': [20.0, 4.0]}
RANDOM = np.random.default_rng(0)


class Hand(Told):
    """A rig whose arm a hand pushes with constant efforts."""

    def pushed(self, seconds, push, *, guided=True):
        self.external = np.asarray(push)
        for _ in range(round(seconds / self.period)):
            if guided:
                self.controller.guide(self.time + 0.05)
            assert self.tick() is not None
        self.external = np.zeros(2)


def hand(**given):
    return risen(Hand, **{**HAND, **given})


def test_the_arm_follows_the_hand_and_holds_where_it_is_let_go():
    """Without a step of an effort above the rate limit, at either change."""
    rig = hand()
    held = rig.q.copy()
    rig.pushed(0.1, np.array([2.0, 0.0]), guided=False)
    assert abs(rig.q - held).max() < 0.01                   # joint impedance
    rig.pushed(0.3, np.array([1.0, 0.5]))
    assert rig.q[1] > held[1] + 0.05
    rig.controller.guide(-np.inf)
    where = rig.q.copy()
    rig.pushed(0.5, np.zeros(2), guided=False)
    assert abs(rig.q - where).max() < 0.06 and abs(rig.qd).max() < 0.02
    assert rig.controller._v.target == near(where, abs=2e-3)
    steps = abs(np.diff(rig.published[5:], axis=0)).max(0)
    assert (steps <= 10.0 * rig.period * TWO_LINK.effort_limit + 0.2).all()
    assert rig.phase == 'RUNNING'


def test_hands_that_let_go():
    # The permission ends by itself, and one too far ahead is none.
    rig = hand(guiding_timeout=0.05)
    rig.controller.guide(rig.time + 0.05)
    rig.run(0.04)
    assert rig.controller.memory['guided'][0] == 1
    rig.run(0.02)
    assert rig.controller.memory['guided'][0] == 0
    rig.controller.guide(rig.time + 0.2)
    rig.run(0.01)
    assert rig.controller.memory['guided'][0] == 0
    # As `robodyn play` sends them after `robodyn teach`.
    rig = hand()
    asked = Waypoints(TWO_LINK.joint_names, [0.3], [[0.4, 0.6]])
    rig.pushed(0.02, np.zeros(2))
    with pytest.raises(TrajectoryError, match='guided by hand'):
        rig.controller.follow(asked, rig.time)
    rig.controller.guide(-np.inf)
    rig.run(0.05)
    rig.controller.follow(asked, rig.time)
    rig.run(0.8)
    assert rig.q == near([0.4, 0.6], abs=5e-3)
    follow(rig, POSE, 0.5)
    rig.run(0.1)
    rig.pushed(0.05, np.zeros(2))           # a hand takes the arm in motion
    where = rig.q.copy()
    rig.controller.guide(-np.inf)
    rig.run(0.5)
    assert abs(rig.q - where).max() < 0.05


@pytest.mark.parametrize('walls', ['joint', 'tool'])
def test_walls_hold_a_push(walls):
    """Beyond a wall the arm is where the push equals the spring, and comes back to it."""
    T = Dynamics(TWO_LINK).pose(POSE, 'tool0')
    given = ({'wall_upper': [9.0, POSE[1] + 0.05]} if walls == 'joint' else
             {'workspace_upper': [*(T[:2, 3] + 5.0), T[2, 3] + 0.03], 'workspace_stiffness': 800.0,
              'workspace_lower': [-9.0] * 3})
    rig = hand(**given, guiding_damping=[1.0, 1.0])
    up = rig.dynamics.jacobian(POSE, 'tool0', reference='aligned')[2]
    push = np.array([0.0, 2.0]) if walls == 'joint' else 8.0 * up
    rig.pushed(0.7, push)
    if walls == 'joint':
        assert rig.q[1] - POSE[1] - 0.05 == near(2.0 / 100.0, abs=4e-3)
    else:
        depth = rig.dynamics.pose(rig.q, 'tool0')[2, 3] - T[2, 3] - 0.03
        assert 0.005 < depth < 0.015
    beyond = np.array([rig.q[1], rig.dynamics.pose(rig.q, 'tool0')[2, 3]])
    rig.pushed(0.3, np.zeros(2))
    after = np.array([rig.q[1], rig.dynamics.pose(rig.q, 'tool0')[2, 3]])
    assert (after < beyond)[0 if walls == 'joint' else 1]
    assert (abs(np.array(rig.published)) <= TWO_LINK.effort_limit).all()
    assert rig.phase == 'RUNNING'


def test_walls_of_a_corner_and_of_a_box():
    # Beyond two planes, the tool is pushed by each as if it were alone.
    tool, dynamics = frame_record(TWO_LINK, parameters(TWO_LINK), 'tool0'), Dynamics(TWO_LINK)
    x, _, z = dynamics.pose(POSE, 'tool0')[:3, 3]
    walls = [[1.0, 0.0, 0.0, x - 0.01], [0.0, 0.0, 1.0, z - 0.02], [0.0, 0.0, 1.0, z + 0.02]]

    def efforts(*planes):
        arm = arm_of(TWO_LINK, q=POSE, qd=np.array([0.1, -0.3]), bounds=readable(
            Bounds.none(2)._replace(tool=tool, planes=np.array(planes), walls=np.array([800.0]))))
        arm.workspace.M[:] = dynamics.mass_matrix(POSE)
        effort = np.zeros(2)
        add_tool_walls(arm, np.zeros(2), np.zeros(2), effort)
        return effort
    first, second, inside = map(efforts, walls)
    assert abs(first).max() > 1.0 and abs(second).max() > 1.0 and not inside.any()
    assert efforts(*walls) == near(first + second)
    # Six planes, of which two that face each other are no stiffer than one; twins are.
    box = workspace_planes(Settings(workspace_lower=[-1.0] * 3, workspace_upper=[1.0] * 3,
                                    workspace_planes=[0.0, 0.0, 2.0, 3.0]))
    assert box.shape == (7, 4) and box[6] == near([0.0, 0.0, 1.0, 1.5])
    assert coincidence(box[:6]) == near(1.0) and coincidence(box) == near(2.0)


@pytest.mark.parametrize('given', [{'wall_upper': [9.0, 0.55]}, {
    'wall_upper': [9.0, 1.5], 'guiding_damping': [1.0, 1.0]}])
def test_a_wall_that_stops_a_hand_is_no_wrong_sign(given):
    """A quarter of the effort limit against what a hand goes on pushing, and the joint obeys."""
    rig = hand(**given)
    rig.lie = lambda q, qd: (q, qd + 0.005 * RANDOM.standard_normal(2))
    rig.pushed(0.7, np.array([0.0, 6.0]))
    assert rig.q[1] > given['wall_upper'][1] - 0.1
    rig.pushed(0.3, np.zeros(2), guided=False)      # let go while the wall still slows it down
    assert rig.phase == 'RUNNING', rig.controller.reason


def test_an_encoder_that_counts_backward_is_found_although_a_hand_guides():
    """The spring of the wall drives the joint on, which does not obey it."""
    rig = hand(wall_upper=[9.0, POSE[1] + 0.05], wall_lower=[-9.0, POSE[1] - 0.05])
    rig.lie = backward(1)
    while rig.phase == 'RUNNING' and rig.time < 1.0:
        rig.pushed(rig.period, np.array([0.0, 1.0]))
    assert rig.controller.reason_code == 'WRONG_DIRECTION'
    assert abs(rig.qd[1]) < 0.5 * TWO_LINK.velocity_limit[1]


@settings(max_examples=40)
@given(st.floats(1.0, 1e4), st.floats(0.0, 2.0), st.floats(0.01, 3.0), st.floats(0.2, 20.0))
def test_walls_are_passive(stiffness, ratio, speed, mass):
    """A mass that runs into a wall leaves it no faster; nothing pulls it back."""
    damping = 2.0 * ratio * np.sqrt(stiffness * mass)
    h = 1e-2 / max(np.sqrt(stiffness / mass), damping / mass)
    x, v = 0.0, speed
    for _ in range(3000):
        effort = joint_wall(x, v, -np.inf, 0.0, stiffness, damping)
        assert effort <= 0.0
        v += h * effort / mass
        x += h * v
        if x < 0.0:
            break
    assert -v <= speed * (1.0 + 1e-3)               # rounded by the steps
    assert joint_wall(-x, -v, 0.0, np.inf, stiffness, damping) >= 0.0
    assert wall_force(0.01, -10.0 * speed, stiffness, 1.0 / mass) >= 0.0


@pytest.mark.parametrize('given, why', [
    ({'workspace_lower': [1.0] * 3, 'workspace_upper': [0.5] * 3}, 'no volume'),
    ({'workspace_planes': [1.0, 0.0, 0.0]}, 'has 3 numbers'),
    ({'workspace_planes': [0.0, 0.0, 0.0, 1.0]}, 'no normal'),
    ({'workspace_upper': [5.0] * 3, 'task_frame': ''}, 'task_frame'),
    ({'workspace_upper': [5.0] * 3, 'workspace_stiffness': 1e5, 'loop_delay': 0.01},
     'workspace_stiffness = 100000 N/m would be unstable'),
    ({'friction_compensation': [0.9], 'coulomb_friction': [1.0]}, 'friction_compensation')])
def test_bad_walls_are_refused(given, why):
    with pytest.raises(ParameterError, match=why):
        Rig(TWO_LINK, POSE, **{**HAND, **given})
