# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Wrenches on any frame in each of the three references, and a base that moves."""

from dataclasses import replace
from functools import cache
import warnings

from hypothesis import given, settings, strategies as st
import numpy as np
import pytest
from robodyn_ros import Dynamics, load_urdf
from robodyn_ros.dynamics import BaseMotion
from thorough import seeds

pytestmark = pytest.mark.slow

ROBOTS = ('panda', 'ur5', 'tiago_pro', 'tree3', 'tree7', 'tree16', 'mimic5', 'mimic12')
BASE = BaseMotion((1.0, -2.0, 3.0), (0.4, 0.5, -0.6), (2.0, -1.0, 0.5))
wrench = st.lists(st.floats(-50, 50), min_size=6, max_size=6)
many = settings(max_examples=seeds(40, 100))


def told(pose, body):
    """Return a wrench in the axes of a frame, by reference."""
    force, moment = pose[:3, :3] @ body[:3], pose[:3, :3] @ body[3:]
    return {'body': body, 'aligned': np.concatenate([force, moment]),
            'world': np.concatenate([force, moment + np.cross(pose[:3, 3], force)])}


@many
@given(st.data(), st.sampled_from(ROBOTS), wrench, st.integers(0, 2**32))
def test_a_wrench_takes_its_transposed_jacobian_from_the_efforts(robot, close, data, name, body,
                                                                 seed):
    """Accelerations are those of efforts that are larger by it."""
    dynamics, body = robot(name).dynamics, np.array(body)
    frame = data.draw(st.sampled_from(dynamics.model.frame_names))
    q, qd, x = motion = np.random.default_rng(seed).uniform(-2, 2, (3, dynamics.model.nv))
    free, bias = dynamics.inverse_dynamics(*motion, base=BASE), dynamics.bias(q, qd, base=BASE)
    size = max(1.0, np.abs(free).max(), np.abs(body).max())
    condition = np.linalg.cond(dynamics.mass_matrix(q))
    for reference, w in told(dynamics.pose(q, frame), body).items():
        taken = dynamics.jacobian(q, frame, reference).T @ w
        efforts = dynamics.inverse_dynamics(*motion, {frame: w}, reference, BASE)
        close((free - efforts) / size, taken / size, 1e-12)
        loaded = dynamics.bias(q, qd, {frame: w}, reference, BASE)
        close((bias - loaded) / size, taken / size, 1e-12)
        close(dynamics.forward_dynamics(q, qd, x, {frame: w}, reference, BASE),
              dynamics.forward_dynamics(q, qd, x + taken, base=BASE),
              1e-13 * max(10.0, condition))


@pytest.mark.parametrize('reference', ['aligned', 'world'])
def test_on_the_links_in_order_as_by_name(robot, close, reference):
    dynamics = robot('tree7').dynamics
    rng = np.random.default_rng(3)
    motion, wrenches = rng.uniform(-2, 2, (3, dynamics.model.nv)), rng.uniform(
        -9, 9, (dynamics.model.nb, 6))
    by_name = dict(zip(dynamics.model.link_names, wrenches, strict=True))
    close(dynamics.inverse_dynamics(*motion, wrenches, reference),
          dynamics.inverse_dynamics(*motion, by_name, reference), 1e-13)


def test_the_reference_is_aligned_where_none_is_given(robot, close):
    dynamics, q, w = robot('panda').dynamics, np.linspace(0.3, 0.9, 7), {'panda_hand': np.ones(6)}
    for ask in (lambda *of: dynamics.jacobian(q, 'panda_hand', *of),
                lambda *of: dynamics.jacobian_dot(q, q, 'panda_hand', *of),
                lambda *of: dynamics.inverse_dynamics(q, q, q, w, *of),
                lambda *of: dynamics.bias(q, q, w, *of),
                lambda *of: dynamics.batch.bias(q[None], q[None], w, *of),
                lambda *of: dynamics.forward_dynamics(q, q, q, w, *of),
                lambda *of: dynamics.task_space(q, q, 'panda_hand', 'xyz', *of).velocity,
                lambda *of: dynamics.task_velocity_terms(q, 'panda_hand', 'xyz', *of).coriolis):
        with warnings.catch_warnings():
            warnings.simplefilter('error')
            close(ask(), ask('aligned'), 0.0)
        assert (ask() != ask('body')).any()


@pytest.mark.parametrize('kind', ['inverse_dynamics', 'forward_dynamics'])
@pytest.mark.parametrize('reference', ['body', 'aligned', 'world'])
def test_derivatives_under_wrenches_on_a_moving_base_are_slopes(robot, close, kind, reference):
    dynamics = robot('tree7').dynamics
    rng = np.random.default_rng(3)
    wrenches = {frame: rng.uniform(-5, 5, 6) for frame in dynamics.model.frame_names}
    function = getattr(dynamics, kind)
    given = rng.uniform(-1, 1, (3, dynamics.model.nv))
    ours = getattr(dynamics, f'{kind}_derivatives')(*given, wrenches, base=BASE,
                                                    reference=reference)
    step = 1e-5
    for argument, derivative in enumerate(ours):
        change = np.zeros_like(given)
        for k in range(given.shape[1]):
            change[:] = 0.0
            change[argument, k] = step
            ahead, behind = (function(*x, wrenches, reference, BASE)
                             for x in (given + change, given - change))
            slope = (ahead - behind) / (2 * step)
            close(derivative[:, k], slope, 1e-6 * max(1.0, np.abs(derivative).max()))


MOVED = ('ur5', 'panda_fingers', 'tree2', 'tree7', 'tree13', 'mimic4', 'mimic11')
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


@many
@given(st.sampled_from(MOVED), st.integers(0, 2**32))
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
