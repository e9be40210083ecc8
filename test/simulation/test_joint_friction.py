# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a URDF cannot express of drives and sensors: friction, noise, steps, delay."""

from dataclasses import replace

import numpy as np
import pytest
from robodyn_ros import load_urdf
from robodyn_ros.dynamics.friction import advance_presliding, friction, loaded_friction
from robodyn_ros.dynamics.model_data import friction_parameters
from robodyn_ros.errors import ArgumentError
from robodyn_ros.simulation.drive import Delay, Noise
from robodyn_ros.simulation.plant import Plant, PlantState

pytestmark = pytest.mark.slow

COULOMB, DISTANCE = np.array([2.0, 0.8]), 0.002


@pytest.fixture(scope='module')
def arm():
    """Return the textbook 2R arm on a table, with dry friction."""
    model = load_urdf('two_link', gravity=(0, 0, 0))
    return replace(model, coulomb_friction=COULOMB, static_friction=COULOMB,
                   backward_friction=np.array([np.zeros(2), COULOMB, COULOMB]))


def pushed(model, effort, seconds, **options):
    """Return the positions (N, 2) of an arm under constant efforts."""
    plant = Plant(model.to_urdf(), model=model, **options)
    found = []
    for _ in range(round(seconds / plant.period)):
        plant.step(effort)
        found.append(plant.state().position.copy())
    return np.array(found)


def test_presliding_is_elastic_then_slides(arm):
    elastic = replace(arm, presliding_distance=np.full(2, DISTANCE),
                      viscous_friction=np.full(2, 0.5),
                      backward_friction=np.array([np.full(2, 0.5), COULOMB, COULOMB]))
    q = pushed(elastic, 0.5 * COULOMB, 3.0)
    # Half of dry friction is reached after ln 2 distances; the arm swings further, and is held
    assert (q[-1] > np.log(2.0) * DISTANCE).all() and (q[-1] < 4.0 * DISTANCE).all()
    assert np.ptp(q[-200:], axis=0).max() < 0.2 * DISTANCE
    assert pushed(elastic, 1.5 * COULOMB, 1.0)[-1].max() > 0.1


def test_static_and_load_dependent_friction(arm):
    sticky = replace(arm, static_friction=1.5 * COULOMB, backward_friction=np.array(
        [np.zeros(2), COULOMB, 1.5 * COULOMB]))
    assert abs(pushed(sticky, 1.3 * COULOMB, 0.3)[-1]).max() < 1e-3     # above Coulomb friction
    assert abs(pushed(sticky, 1.7 * COULOMB, 0.3)[-1]).max() > 1e-2
    offset = 0.6 * COULOMB
    assert abs(pushed(arm, 1.3 * COULOMB, 0.3, friction_offset=offset)[-1]).max() < 1e-3
    model = load_urdf('two_link')
    steep = replace(model, load_friction=np.full(2, 1.2))
    falls, holds = (Plant(model.to_urdf(), model=it) for it in (model, steep))
    for plant in (falls, holds):
        plant.reset([0.3, 0.5])
        for _ in range(100):
            plant.step(0.0)
    assert abs(falls.state().velocity).max() > 0.1 > 1e-2 > abs(holds.state().velocity).max()


def test_the_state_is_solved_exactly(arm):
    parameters = friction_parameters(replace(arm, presliding_distance=np.full(2, DISTANCE)))
    one, many = np.array([-1.0, 0.3]), np.array([-1.0, 0.3])
    advance_presliding(parameters, np.full(2, 3e-3), one)
    for _ in range(100):
        advance_presliding(parameters, np.full(2, 3e-5), many)
    assert one == pytest.approx(many, rel=1e-12)
    assert one[0] == pytest.approx(1.0 - 2.0 * np.exp(-1.5))
    for move, share in ((1e-3, np.nan), (1e-3, np.inf), (1e-3, 5.0), (np.nan, -1.0)):
        broken = np.array([0.5, share])         # begins anew
        advance_presliding(parameters, np.array([0.0, move]), broken)
        assert broken.tolist() == [0.5, 0.0]


def test_coupled_friction_dissipates(arm):
    """A motor that turns with two joints never drives them; equal speeds against it, no effort."""
    model = replace(arm, coupled_friction=np.array([[-1.0, 0], [0.5, 0], [0.3, 0]]))
    parameters, alone = friction_parameters(model), friction_parameters(arm)
    for qd in np.random.default_rng(0).normal(size=(50, 2)):
        with_it, without, loaded = np.zeros((3, 2))
        friction(parameters, qd, with_it)
        friction(alone, qd, without)
        assert qd @ (with_it - without) >= 0.0
        loaded_friction(parameters, qd, np.zeros(2), np.zeros(2), loaded)
        assert loaded == pytest.approx(with_it)
    friction(parameters, np.ones(2), with_it)
    friction(alone, np.ones(2), without)
    assert with_it == pytest.approx(without)


STATE = PlantState(1.5, np.arange(3.0), np.arange(3.0) + 10, np.arange(3.0) + 20)


def samples(noise, count=4000):
    return [noise.apply(STATE) for _ in range(count)]


def test_noise_of_the_sensors():
    seen = samples(Noise(1e-3, 0.02, 0.5, seed=3))
    for name, deviation in (('position', 1e-3), ('velocity', 0.02), ('effort', 0.5)):
        errors = np.array([getattr(state, name) for state in seen]) - getattr(STATE, name)
        assert errors.std(0) == pytest.approx(np.full(3, deviation), rel=0.05)
        assert np.abs(np.corrcoef(errors.T) - np.eye(3)).max() < 0.1
    assert {state.time for state in seen} == {1.5}
    (a,), (b,), (c,) = (samples(Noise(velocity=1, seed=s), 1) for s in (5, 5, 6))
    assert (a.velocity == b.velocity).all() and (a.velocity != c.velocity).all()
    assert (a.position == STATE.position).all() and (a.effort == STATE.effort).all()
    assert Noise().apply(STATE) == STATE


def test_encoders_have_steps():
    (seen,) = samples(Noise(resolution=0.3), 1)
    assert seen.position == pytest.approx([0.0, 0.9, 2.1])
    assert (seen.velocity == STATE.velocity).all()
    (seen,) = samples(Noise(position=0.01, resolution=0.5), 1)
    assert (np.remainder(seen.position, 0.5) == 0.0).all()


def test_commands_arrive_in_time():
    delay, tau = Delay(0.003), [np.full(2, float(n)) for n in range(4)]
    delay.send(tau[0], 0.1)
    delay.send(tau[1], 0.1005)
    delay.send(tau[2], 0.102)
    # 0.1 + 0.003 is reached in three steps that do not add up exactly
    assert delay.arrived(0.1 + 0.001 + 0.001) is None
    assert delay.arrived(0.1 + 0.001 + 0.001 + 0.001) is tau[0]
    assert delay.arrived(0.1031) is None
    delay.send(tau[3], 0.1031)
    assert delay.arrived(0.105) is tau[2]
    delay.forget()
    assert delay.arrived(9.0) is None
    delay = Delay()
    delay.send(np.ones(2), 0.1)
    assert delay.arrived(0.1) is not None
    assert delay.arrived(0.1) is None


@pytest.mark.parametrize('given', [-1e-3, np.nan, np.inf, '0'])
def test_what_is_no_size_is_refused(given):
    for name in ('position', 'velocity', 'effort', 'resolution'):
        with pytest.raises(ArgumentError, match=f'{name} is'):
            Noise(**{name: given})
    with pytest.raises(ArgumentError, match='delay is'):
        Delay(given)
