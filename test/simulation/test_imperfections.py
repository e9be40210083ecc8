# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0

import numpy as np
import pytest
from robodyn_ros.errors import ArgumentError
from robodyn_ros.simulation.drive import Delay, Noise
from robodyn_ros.simulation.plant import PlantState

pytestmark = pytest.mark.slow

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
