# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The 2R and RP arms against closed forms, other answers known by hand, and task space."""

from dataclasses import replace

import numpy as np
from numpy import cos, sin
import pytest
from robodyn_ros import DhLink, Dynamics, from_dh, load_urdf
from robodyn_ros.errors import SingularityError
from robodyn_ros.model.resources import robot_path

g = 9.81
STATES = np.random.default_rng(7).uniform(-2, 2, (20, 3, 2))


def two_link(q, qd, qdd):
    """Craig 2005, eq. 6.58: both masses are points at the distal end of their link."""
    l1, l2, m1, m2 = 0.5, 0.4, 2.0, 1.0
    c1, c2, s2, c12 = cos(q[0]), cos(q[1]), sin(q[1]), cos(q[0] + q[1])
    tau1 = (m2 * l2**2 * (qdd[0] + qdd[1]) + m2 * l1 * l2 * c2 * (2 * qdd[0] + qdd[1])
            + (m1 + m2) * l1**2 * qdd[0] - m2 * l1 * l2 * s2 * qd[1]**2
            - 2 * m2 * l1 * l2 * s2 * qd[0] * qd[1] + m2 * l2 * g * c12
            + (m1 + m2) * l1 * g * c1)
    tau2 = (m2 * l1 * l2 * c2 * qdd[0] + m2 * l1 * l2 * s2 * qd[0]**2 + m2 * l2 * g * c12
            + m2 * l2**2 * (qdd[0] + qdd[1]))
    return np.array([tau1, tau2])


def two_link_mass_matrix(q):
    """Craig 2005, eq. 6.60."""
    l1, l2, m1, m2 = 0.5, 0.4, 2.0, 1.0
    c2 = cos(q[1])
    m12 = l2**2 * m2 + l1 * l2 * m2 * c2
    return np.array([[l2**2 * m2 + 2 * l1 * l2 * m2 * c2 + l1**2 * (m1 + m2), m12],
                     [m12, l2**2 * m2]])


def rp(q, qd, qdd):
    """Craig 2005, example 6.5, without the inertias about the centers of mass."""
    l1, m1, m2 = 0.3, 3.0, 1.5
    d2, dd2 = q[1], qd[1]
    tau1 = ((m1 * l1**2 + m2 * d2**2) * qdd[0] + 2 * m2 * d2 * qd[0] * dd2
            + (m1 * l1 + m2 * d2) * g * cos(q[0]))
    tau2 = m2 * qdd[1] - m2 * d2 * qd[0]**2 + m2 * g * sin(q[0])
    return np.array([tau1, tau2])


def rp_mass_matrix(q):
    """Return the factors of the accelerations above."""
    l1, m1, m2 = 0.3, 3.0, 1.5
    return np.diag([m1 * l1**2 + m2 * q[1]**2, m2])


ARMS = {'two_link': (two_link, two_link_mass_matrix), 'rp': (rp, rp_mass_matrix)}


@pytest.mark.parametrize('name', ARMS)
def test_agrees_with_the_closed_form(robot, close, name):
    dynamics, (effort, mass_matrix), rest = robot(name).dynamics, ARMS[name], np.zeros(2)
    for q, qd, qdd in STATES:
        close(dynamics.inverse_dynamics(q, qd, qdd), effort(q, qd, qdd), 1e-12)
        close(dynamics.bias(q, qd), effort(q, qd, rest), 1e-12)
        close(dynamics.gravity(q), effort(q, rest, rest), 1e-12)
        close(dynamics.mass_matrix(q), mass_matrix(q), 1e-12)
        close(dynamics.forward_dynamics(q, qd, effort(q, qd, qdd)), qdd, 1e-10)


def test_forces_regressors_and_far_positions(robot, close):
    dynamics, q, rest = robot('two_link').dynamics, np.array([0.3, 0.4]), np.zeros(2)
    c1, c12 = cos(q[0]), cos(q.sum())
    held = dynamics.inverse_dynamics(q, rest, rest, {'tool0': [0, 0, 5.0, 0, 0, 0]}, 'aligned')
    close(dynamics.gravity(q) - held, 5.0 * np.array([0.5 * c1 + 0.4 * c12, 0.4 * c12]), 1e-12)
    case = robot('ur5')
    for q, qd, qdd in case.states():
        far = q + 2 * np.pi * 1e9
        close(case.dynamics.inverse_dynamics(far, qd, qdd), case.rnea(far, qd, qdd))


@pytest.mark.parametrize('name', ['panda', 'tree5'])
def test_armature_adds_to_the_mass_matrix_alone(robot, close, name):
    case = robot(name)
    armature = np.arange(1.0, case.model.nv + 1)
    heavy = Dynamics(replace(case.model, armature=armature))
    for q, qd, qdd in case.states():
        close(heavy.inverse_dynamics(q, qd, qdd), case.rnea(q, qd, qdd) + armature * qdd)
        close(heavy.bias(q, qd), case.bias(q, qd))
        close(heavy.mass_matrix(q), case.mass_matrix(q) + np.diag(armature))
        close(np.array(heavy.kinetic_energy(q, qd)),
              np.array(case.energies(q, qd)[0] + 0.5 * armature @ qd**2), 1e-12)


@pytest.mark.parametrize('axis', range(3))
def test_gravity_follows_any_mounting(robot, close, axis):
    case = robot('panda')
    vector = 9.81 * np.eye(3)[axis]
    case.pin.gravity.linear, upright = vector, case.pin.gravity.linear.copy()
    try:
        dynamics = Dynamics(replace(case.model, gravity_vector=vector))
        for q, _, _ in case.states():
            close(dynamics.gravity(q), case.gravity(q))
    finally:
        case.pin.gravity.linear = upright


def test_the_parameters_of_the_regressor_are_those_of_the_links(robot):
    model = robot('panda').model
    first = model.inertial_parameters[:10]
    assert first[0] == model.mass[0]
    assert (first[1:4] == model.mass[0] * model.com[0]).all()
    assert np.isclose(first[4], model.inertia[0, 0, 0]
                      + model.mass[0] * (model.com[0, 1]**2 + model.com[0, 2]**2))


TASKS = [('panda', 'panda_link8', 'xyzrpy', 'body'), ('panda', 'panda_link8', 'xyz', 'aligned'),
         ('ur5', 'tool0', 'xyzrpy', 'world'), ('ur5', 'tool0', 'zy', 'body'),
         ('two_link', 'tool0', 'xy', 'body')]
ROWS = {'xyzrpy': range(6), 'xyz': (0, 1, 2), 'zy': (2, 5), 'xy': (0, 1), 'z': (2,)}


@pytest.mark.parametrize('task', TASKS, ids=str)
def test_efforts_through_the_task_accelerate_it_as_asked(robot, close, task):
    name, frame, axes, reference = task
    dynamics, rng = robot(name).dynamics, np.random.default_rng(2)
    q, qd = rng.uniform(0.4, 1.0, (2, dynamics.model.nv))
    wanted = rng.uniform(-1, 1, len(axes))
    rows = list(ROWS[axes])
    J = dynamics.jacobian(q, frame, reference)[rows]
    ours = dynamics.task_space(q, qd, frame, axes, reference)
    tau = J.T @ (ours.inertia @ wanted + ours.velocity + ours.gravity)
    qdd = dynamics.forward_dynamics(q, qd, tau)
    Jd = dynamics.jacobian_dot(q, qd, frame, reference)[rows]
    close(J @ qdd + Jd @ qd, wanted, 1e-9)
    close(ours.inertia @ J @ np.linalg.solve(dynamics.mass_matrix(q), J.T), np.eye(len(rows)),
          1e-9)


def test_two_link_arm_as_in_the_textbook(robot, close):
    # Craig 2005, section 6.10, writes the arm of two point masses in the axes of its tip.
    l1, l2, m1, m2, g = 0.7, 0.4, 3.0, 2.0, 9.81
    arm = from_dh([DhLink(0, 0, l1, 0, mass=m1), DhLink(0, 0, l2, 0, mass=m2)],
                  gravity=(0, -g, 0), tool=np.eye(4))
    q, qd = np.array([0.5, 0.9]), np.array([1.2, -0.7])
    (s2, c2), (s12, c12) = (np.sin(0.9), np.cos(0.9)), (np.sin(1.4), np.cos(1.4))
    M, V, G = Dynamics(arm).task_space(q, qd, 'tool', 'xy', 'body')
    close(M, np.array([[m2 + m1 / s2**2, 0], [0, m2]]), 1e-12)
    close(V, np.array([
        -(m2 * l1 * c2 + m2 * l2) * qd[0]**2 - m2 * l2 * qd[1]**2
        - (2 * m2 * l2 + m2 * l1 * c2 + m1 * l1 * c2 / s2**2) * qd[0] * qd[1],
        m2 * l1 * s2 * qd[0]**2 + l1 * m2 * s2 * qd[0] * qd[1]]), 1e-12)
    close(G, np.array([m1 * g * np.cos(0.5) / s2 + m2 * g * s12, m2 * g * c12]), 1e-12)


def test_tasks_that_are_singular(robot, close):
    dynamics = robot('two_link').dynamics
    stretched = np.zeros(2)
    with pytest.raises(SingularityError, match=r"'tool0' cannot move along [+-]1 x: .*damping"):
        dynamics.task_space(stretched, stretched, 'tool0', 'xy', 'body')
    with pytest.raises(SingularityError):
        dynamics.task_space(stretched, stretched, 'tool0', 'x', 'body')
    left = dynamics.task_space(stretched, stretched, 'tool0', 'y', 'body')
    assert np.isfinite(left.inertia).all()
    dynamics = robot('two_link').dynamics
    stretched, bent, qd = np.zeros(2), np.array([0.3, 1.0]), np.ones(2)
    for part in dynamics.task_space(stretched, qd, 'tool0', 'xy', 'body', damping=1e-3):
        assert np.isfinite(part).all()
    exact = dynamics.task_space(bent, qd, 'tool0', 'xy', 'body')
    nearly = dynamics.task_space(bent, qd, 'tool0', 'xy', 'body', damping=1e-6)
    for mine, theirs in zip(nearly, exact):
        close(mine, theirs, 1e-4)


@pytest.mark.parametrize('specialize', [False, True])
def test_a_task_that_moves_nothing_has_nothing_to_damp(specialize):
    """A share of zero is zero: M_x of one axis would be infinite where it is lost."""
    dynamics = Dynamics(load_urdf(robot_path('two_link')), specialize=specialize)
    for q, axes in (([0.3, 0.0], 'x'), ([0.3, 0.5], 'z')):
        for ask in (dynamics, dynamics.batch):
            state = np.array(q) if ask is dynamics else np.array([q])
            with pytest.raises(SingularityError, match='cannot move') as error:
                ask.task_space(state, state, 'tool0', axes, 'body', damping=1e-3)
            assert 'give damping' not in error.value.remedy
