# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Energies and center of mass against Pinocchio, and by the laws that they obey."""

from dataclasses import replace

import numpy as np
import pytest
from robodyn_ros import Dynamics


def test_agree_with_pinocchio(case, close):
    for q, qd, _ in case.states():
        ours = case.dynamics.kinetic_energy(q, qd), case.dynamics.potential_energy(q)
        assert all(type(energy) is float for energy in ours)
        close(np.array(ours), np.array(case.energies(q, qd)))
        close(case.dynamics.center_of_mass(q), case.center_of_mass(q))


def test_the_rotors_count_as_kinetic_energy(robot, close):
    case = robot('ur5')
    heavy = Dynamics(replace(case.model, armature=np.arange(1.0, 7.0)))
    q, qd, _ = next(case.states())
    close(np.array(heavy.kinetic_energy(q, qd)), np.array(
        case.dynamics.kinetic_energy(q, qd) + 0.5 * np.arange(1.0, 7.0) @ qd**2), 1e-12)


@pytest.mark.parametrize('name', ['panda', 'rp', 'tree7'])
def test_a_free_fall_keeps_its_energy_to_the_order_of_the_integrator(robot, name):
    dynamics = robot(name).dynamics
    start = np.random.default_rng(5).uniform(-0.5, 0.5, (2, dynamics.model.nv))

    def rate(x):
        return np.array([x[1], dynamics.forward_dynamics(*x, np.zeros(len(x[0])))])

    def energy(x):
        return dynamics.kinetic_energy(*x) + dynamics.potential_energy(x[0])

    def drift(steps):
        x, h = start.copy(), 0.1 / steps
        for _ in range(steps):                          # Runge-Kutta of order 4
            a = rate(x)
            b = rate(x + h / 2 * a)
            c = rate(x + h / 2 * b)
            x += h / 6 * (a + 2 * b + 2 * c + rate(x + h * c))
        return abs(energy(x) - energy(start)), np.abs(x - start).max()

    (coarse, moved), (fine, _) = drift(20), drift(40)
    assert moved > 0.01
    assert fine < coarse / 10 + 1e-12 * abs(energy(start))      # 16 = 2⁴, less the higher orders
