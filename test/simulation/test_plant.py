# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0

from functools import partial

import numpy as np
import pytest
from robodyn_ros import Dynamics
from robodyn_ros.errors import ArgumentError, SimulationError, UnknownNameError
from robodyn_ros.model.urdf import load_urdf
from robodyn_ros.simulation.plant import Plant
from robots import LOCKED, OWN, random_tree, REAL

pytestmark = pytest.mark.slow

STEP = 5e-7     # s; small enough to see an acceleration in a difference of velocities
ROBOTS = {
    'panda': (REAL['panda'].read_text(), LOCKED['panda']),
    'arm6': (OWN['arm6'].read_text(), {}),
    'rp': (OWN['rp'].read_text(), {}),
    'tree, locked': (random_tree(7, 8), {'joint_01': 0.3, 'joint_02': -0.2, 'joint_04': 0.4}),
}


def make(name, **options) -> Plant:
    urdf, locked = ROBOTS.get(name) or (OWN[name].read_text(), {})
    return Plant(urdf, model=load_urdf(urdf, locked=locked), locked=locked, **options)


def measured_acceleration(make, position, velocity, tau, push=None):
    """
    Return q̈ (nv,) of a plant at an instant, extrapolated from two short periods.

    :param make: returns a plant with the given ``timestep`` and ``substeps``.
    """
    means = []
    for steps in (1, 2):
        plant: Plant = make(timestep=STEP / 2, substeps=steps)
        plant.reset(position, velocity)
        if push:
            plant.push(*push, 1.0)
        plant.step(tau)
        means.append((plant.state().velocity - velocity) / plant.period)
    return 2 * means[0] - means[1]


def acceleration(name, *instant, **push):
    return measured_acceleration(partial(make, name), *instant, **push)


def somewhere(model, seed=1):
    """Return a pose well inside the limits, a velocity of each joint, efforts below theirs."""
    rng = np.random.default_rng(seed)
    low, high = np.maximum(model.position_lower, -1.5), np.minimum(model.position_upper, 1.5)
    speed = rng.uniform(0.3, 0.8, model.nv) * rng.choice([-1, 1], model.nv)
    return (low + (high - low) * rng.uniform(0.2, 0.8, model.nv), speed,
            rng.uniform(-0.9, 0.9, model.nv) * np.minimum(model.effort_limit, 50))


@pytest.mark.parametrize('name', ROBOTS)
def test_accelerates_as_the_dynamics_say(name):
    urdf, locked = ROBOTS[name]
    model = load_urdf(urdf, locked=locked)
    q, v, tau = somewhere(model)
    friction = model.viscous_friction * v + model.coulomb_friction * np.sign(v)
    expected = Dynamics(model).forward_dynamics(q, v, tau - friction)
    error = acceleration(name, q, v, tau) - expected
    assert np.abs(error).max() < 1e-6 * max(1, np.abs(expected).max())


def test_pushes():
    urdf, locked = ROBOTS['panda']
    model = load_urdf(urdf, locked=locked)
    q, v, tau = somewhere(model)
    force, link = np.array([3.0, -20.0, 8.0]), 'panda_link6'
    friction = model.viscous_friction * v
    expected = Dynamics(model).forward_dynamics(q, v, tau - friction, {link: [*force, 0, 0, 0]})
    error = acceleration('panda', q, v, tau, push=(link, force)) - expected
    assert np.abs(error).max() < 1e-6 * np.abs(expected).max()
    plant = make('two_link')
    plant.reset([0.3, 0.4])
    plant.push('tool0', [0, 0, 5], 0.0025)
    q = []
    for _ in range(6):
        plant.step(0.0)
        q.append(plant.state())
    free = make('two_link')
    free.reset(q[2].position, q[2].velocity)
    free.step(0.0)
    assert np.abs(free.state().velocity - q[3].velocity).max() < 1e-6
    assert np.abs(q[0].velocity - q[2].velocity).max() > 1e-3


def energy(state):
    """Of two_link, from the textbook: l = 0.5, 0.4 m, m = 2, 1 kg at the ends of the links [J]."""
    (q1, q2), (w1, w2) = state.position, state.velocity
    x, y = -0.5 * np.sin(q1) * w1, 0.5 * np.cos(q1) * w1
    x2 = x - 0.4 * np.sin(q1 + q2) * (w1 + w2)
    y2 = y + 0.4 * np.cos(q1 + q2) * (w1 + w2)
    height = 0.5 * np.sin(q1)
    return (x * x + y * y + (x2 * x2 + y2 * y2) / 2
            + 9.81 * (2 * height + height + 0.4 * np.sin(q1 + q2)))


def swing(timestep, duration=1.0):
    """States of a free swing from rest, below the horizontal."""
    plant = make('two_link', timestep=timestep, substeps=1)
    plant.reset([-0.6, 0.5])
    for _ in range(round(duration / timestep)):
        plant.step(0.0)
        yield plant.state()


def test_a_free_swing_keeps_its_energy_in_fourth_order():
    energies = np.array([energy(state) for state in swing(0.25e-3, 2.0)])
    assert np.ptp(energies) < 1e-6
    *_, coarse = swing(8e-3)
    *_, fine = swing(4e-3)
    *_, exact = swing(0.5e-3)
    errors = [np.abs(s.position - exact.position).max() for s in (coarse, fine)]
    assert errors[0] / errors[1] == pytest.approx(16, rel=0.3)


@pytest.mark.parametrize('name', ['arm6', 'tree, locked'])
def test_brakes_hold_the_pose_and_report_gravity(name):
    plant = make(name)
    q, v, tau = somewhere(plant.model)
    plant.brakes = True
    plant.reset(q, v)
    for _ in range(5):
        plant.step(tau)
    state = plant.state()
    assert (state.position == q).all() and (state.velocity == 0).all()
    assert state.effort == pytest.approx(Dynamics(plant.model).gravity(q), abs=1e-9)
    assert state.time == pytest.approx(0.005)


def test_limits_of_the_plant():
    plant = make('two_link')
    plant.step([1e6, -3.5])
    assert plant.state().effort == pytest.approx([plant.model.effort_limit[0], -3.5])
    plant = make('arm6')
    for _ in range(1500):
        plant.step(0.5 * plant.model.effort_limit)
    assert plant.state().position == pytest.approx(plant.model.position_upper, abs=1e-3)


@pytest.mark.parametrize('name', ['panda', 'tree, locked'])
def test_gravity_is_added_to_efforts_where_the_robot_compensates_it(name):
    plant = make(name, compensates_gravity=True)
    q, v, _ = somewhere(plant.model)
    gravity = Dynamics(plant.model).gravity(q)
    assert np.abs(gravity).max() > 1.0
    plant.reset(q)
    for _ in range(100):
        plant.step(0.0)
    assert plant.state().position == pytest.approx(q, abs=1e-9)
    assert plant.state().effort == pytest.approx(gravity, abs=1e-9)

    # Nothing else is: it moves as one that is commanded the sum, and both measure the sum
    plain, tau = make(name, timestep=STEP, substeps=1), 0.1 * np.arange(len(q))
    plant = make(name, timestep=STEP, substeps=1, compensates_gravity=True)
    for p, command in ((plant, tau), (plain, tau + gravity)):
        p.reset(q, v)
        p.step(command)
    assert plant.state().velocity - v == pytest.approx(plain.state().velocity - v, rel=1e-4)
    assert plant.state().effort == pytest.approx(plain.state().effort, abs=1e-4)

    # The limit is the motor's: of the sum
    limited = np.isfinite(plant.model.effort_limit)
    plant.step(1e6)
    assert plant.state().effort[limited] == pytest.approx(plant.model.effort_limit[limited])
    plant.brakes = True
    plant.reset(q)
    assert plant.state().effort == pytest.approx(gravity, abs=1e-9)


def test_dry_friction_holds_and_brakes():
    plant = make('arm6')
    arm6 = Dynamics(plant.model)
    for _ in range(1000):
        q = plant.state().position
        plant.step(arm6.gravity(q) + 0.5 * plant.model.coulomb_friction)
    assert np.abs(plant.state().position).max() < 1e-4
    # 0.6 N·m of it and 0.6 N·m·s/rad of the other kind on the wrist against 5 N·m
    plant.reset([0, 0, 0, 0, 0, 6.0])
    for _ in range(1200):
        plant.step(arm6.gravity(plant.state().position) + [0, 0, 0, 0, 0, -5])
    assert plant.state().velocity[5] == pytest.approx(-(5 - 0.6) / 0.6, rel=1e-3)


def test_joint_damping_is_added_and_may_be_stiff():
    plant, q = make('panda', joint_damping=0.5), np.array([0, 0, 0, -1.5, 0, 1.5, 0])
    plant.reset(q, 1.0)
    plant.joint_damping = 500.0
    for _ in range(50):
        plant.step(plant.model.effort_limit * 0)
    # Gravity only creeps against it: at most 50 N·m / 500 N·m·s/rad
    assert np.abs(plant.state().velocity).max() < 0.1
    plant.joint_damping = 0.0
    plant.reset(q, 1.0)
    plant.step(0.0)
    assert np.abs(plant.state().velocity).max() > 0.5


def test_what_cannot_be_followed_is_an_error():
    plant = make('two_link')
    plant.reset([0, 0], 1e200)
    with pytest.raises(SimulationError, match='diverged'):
        for _ in range(10):
            plant.step(0.0)


def test_unusable_arguments_are_refused():
    plant = make('two_link')
    with pytest.raises(ArgumentError, match='tau.*joint1, joint2'):
        plant.step([1.0, 2.0, 3.0])
    with pytest.raises(ArgumentError, match='tau'):
        plant.step([1.0, np.nan])
    with pytest.raises(ArgumentError, match='position'):
        plant.reset([0.0])
    with pytest.raises(UnknownNameError, match="no link 'tool'.*tool0"):
        plant.push('tool', [0, 0, 1], 1.0)
    with pytest.raises(ArgumentError, match='force'):
        plant.push('tool0', [0, 1], 1.0)
