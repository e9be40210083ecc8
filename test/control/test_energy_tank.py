# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Energy tank of a variable stiffness: what it pays, what it refuses, and the port it keeps."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robodyn_ros.control.laws.energy_tank import TankMemory, fill, vary_stiffness

DT = 1e-3


def tank(asked=100.0):
    """Return a memory whose law has begun with this stiffness of each axis."""
    memory = TankMemory(np.zeros(6), np.zeros(2))
    vary_stiffness(memory, np.full(6, asked), np.zeros(6), np.zeros(6), 1.0, DT)
    assert memory.stiffness.tolist() == [asked] * 6 and memory.spent.tolist() == [0.0, 1.0]
    return memory


def run(memory, asked, error, capacity, seconds=2.0):
    for _ in range(round(seconds / DT)):
        vary_stiffness(memory, np.full(6, asked), error, error, capacity, DT)


def test_without_load_the_stiffness_follows_and_costs_nothing():
    memory = tank()
    run(memory, 500.0, np.zeros(6), 0.0)
    assert memory.stiffness == pytest.approx(500.0) and memory.spent[0] == 0.0


def test_under_load_it_rises_by_what_the_tank_pays():
    memory, error = tank(), np.array([0.05, 0.0, 0.0, 0.0, 0.0, 0.0])
    run(memory, 500.0, error, 0.2)
    assert memory.stiffness[0] == pytest.approx(100.0 + 2 * 0.2 / 0.05**2)
    assert memory.spent[0] == pytest.approx(0.2)
    fill(memory, 0.4, 0.1)              # half of 0.04 J
    run(memory, 500.0, error, 0.2)
    assert memory.stiffness[0] == pytest.approx(100.0 + 2 * 0.22 / 0.05**2)


def test_softening_gives_back_and_a_full_tank_holds_no_more():
    memory, error = tank(300.0), np.array([0.05] + [0.0] * 5)
    run(memory, 100.0, error, 1.0)
    assert memory.stiffness[0] == pytest.approx(100.0) and memory.spent[0] == 0.0
    run(memory, 300.0, error, 1.0)
    run(memory, 100.0, error, 1.0)
    assert memory.spent[0] == pytest.approx(0.0, abs=1e-6)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), capacity=st.floats(0.0, 0.5))
def test_the_port_is_passive_at_random_stiffness(seed, capacity):
    """
    A mass on the spring, at a K(t) that is chosen to pump it: no more comes out than went in.

    The energy of mass, spring and tank never rises by more than the force outside has given.
    """
    rng, mass, damping = np.random.default_rng(seed), 2.0, 1.0
    memory, x, v = tank(), rng.uniform(-0.1, 0.1, 6), rng.uniform(-0.3, 0.3, 6)
    asked, force, given_energy, limit = np.full(6, 100.0), np.zeros(6), 0.0, 0.08

    def stored():
        # A shortened error pulls with the force of the limit
        size = np.abs(x)
        spring = np.where(size < limit, size**2 / 2, limit * (size - limit / 2))
        return 0.5 * mass * v @ v + memory.stiffness @ spring + capacity - memory.spent[0]
    begin = stored()
    for k in range(1000):
        if k % 20 == 0:
            # Stiff on the way back, soft on the way out, or anything
            asked = np.where(x * v < 0.0, 500.0, 10.0) if rng.uniform() < 0.7 else rng.uniform(
                0.0, 500.0, 6)
            force = rng.uniform(-3.0, 3.0, 6)
        shortened = np.clip(-x, -limit, limit)
        vary_stiffness(memory, asked, -x, shortened, capacity, DT)
        damper = damping * v
        fill(memory, damper @ v, DT)
        v = v + DT / mass * (memory.stiffness * shortened - damper + force)
        x = x + DT * v
        given_energy += DT * force @ v
        assert stored() - begin <= given_energy + 0.02 * (begin + abs(given_energy)) + 1e-3
    assert memory.spent[0] <= capacity + 1e-12
