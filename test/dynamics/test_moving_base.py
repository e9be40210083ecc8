# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A base that moves: as other gravity, and as the same robot on joints that move it."""

from dataclasses import replace
from functools import cache

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest
from robodyn_ros import Dynamics, load_urdf
from robodyn_ros.dynamics import BaseMotion

ROBOTS = ('ur5', 'panda_fingers', 'tree2', 'tree7', 'tree13', 'mimic4', 'mimic11')
names, seeds = st.sampled_from(ROBOTS), st.integers(0, 2**32)
many = settings(deadline=None, max_examples=60)

# It turns about two skew axes, slides along a third, and carries the base off all of them.
TABLE = """
<link name="ground"/>
<joint name="tilt" type="continuous"><parent link="ground"/><child link="table_1"/>
  <origin xyz="0.1 0.2 0.3" rpy="0.3 -0.2 0.5"/><axis xyz="1 0 0"/>
  <limit effort="1" velocity="1"/></joint>
<link name="table_1"/>
<joint name="lift" type="prismatic"><parent link="table_1"/><child link="table_2"/>
  <origin xyz="0 0.1 0" rpy="0 0.4 0.1"/><axis xyz="0 1 0"/>
  <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<link name="table_2"/>
<joint name="turn" type="continuous"><parent link="table_2"/><child link="table_3"/>
  <origin xyz="0.2 0 0.1" rpy="0.1 0.2 0.3"/><axis xyz="0.6 0 0.8"/>
  <limit effort="1" velocity="1"/></joint>
<link name="table_3"/>
<joint name="mount" type="fixed"><parent link="table_3"/><child link="{base}"/>
  <origin xyz="0.5 -0.3 0.2" rpy="0.7 0.1 -0.4"/></joint>
</robot>"""
CARRIED = 3         # joints of the table, which come first


@pytest.fixture(scope='session')
def mounted(robot):
    """Return what gives a robot by name, and the same on a table that moves it."""
    @cache
    def mounted(name):
        case = robot(name)
        end = case.urdf.rindex('</robot>')
        table = TABLE.format(base=case.model.base_link)
        on_table = load_urdf(case.urdf[:end] + table, locked=case.locked)
        assert on_table.joint_names[CARRIED:] == case.model.joint_names
        return case.model, Dynamics(on_table)
    return mounted


@pytest.mark.slow
@many
@given(names, seeds)
def test_on_a_table_that_moves_it(mounted, close, name, seed):
    model, whole = mounted(name)
    q, qd, qdd = np.random.default_rng(seed).uniform(-2, 2, (3, whole.model.nv))
    tau = whole.inverse_dynamics(q, qd, qdd)
    robot, base = from_the_table(model, whole, q, qd, qdd)
    own = [x[CARRIED:] for x in (q, qd, qdd)]
    close(robot.inverse_dynamics(*own, base=base), tau[CARRIED:], 1e-11)
    close(robot.bias(*own[:2], base=base) + robot.mass_matrix(own[0]) @ own[2], tau[CARRIED:],
          1e-11)
    condition = np.linalg.cond(robot.mass_matrix(own[0]))
    close(robot.forward_dynamics(*own[:2], tau[CARRIED:], base=base), own[2],
          1e-12 * max(10.0, condition))


def from_the_table(model, whole, q, qd, qdd):
    """Return the robot under the gravity its base feels, and the base's motion, in its axes."""
    base = model.base_link
    R = whole.pose(q, base)[:3, :3]
    acceleration, angular_acceleration = np.split(
        whole.jacobian(q, base, 'aligned') @ qdd
        + whole.jacobian_dot(q, qd, base, 'aligned') @ qd, 2)
    velocity = whole.jacobian(q, base, 'body') @ qd
    return (Dynamics(replace(model, gravity_vector=R.T @ whole.model.gravity_vector)),
            BaseMotion(R.T @ acceleration, velocity[3:], R.T @ angular_acceleration))


@many
@given(names, seeds)
def test_accelerated_it_feels_other_gravity(robot, close, name, seed):
    dynamics = robot(name).dynamics
    rng = np.random.default_rng(seed)
    motion, acceleration = rng.uniform(-2, 2, (3, dynamics.model.nv)), rng.uniform(-20, 20, 3)
    base = BaseMotion(acceleration)
    other = Dynamics(replace(dynamics.model,
                             gravity_vector=dynamics.model.gravity_vector - acceleration))
    for quantity, arguments in {'inverse_dynamics': 3, 'bias': 2, 'forward_dynamics': 3}.items():
        close(getattr(dynamics, quantity)(*motion[:arguments], base=base),
              getattr(other, quantity)(*motion[:arguments]), 1e-13)


def test_on_a_roundabout_it_is_thrown_outwards(robot, close):
    # The first link is level, the second one upright: m2 ω² l1 pulls at the tip, at the height l2
    # above both joints, and the mass of the first link is pulled along it. As in the URDF:
    l1, l2, m2, rate = 0.5, 0.4, 1.0, 3.0
    dynamics, q, still = robot('two_link').dynamics, np.array([0.0, np.pi / 2]), np.zeros(2)
    turning = dynamics.bias(q, still, base=BaseMotion(angular_velocity=(0, 0, rate)))
    close(turning - dynamics.gravity(q), np.full(2, m2 * rate**2 * l1 * l2), 1e-12)
