# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Gains that shake the arm are refused, and what is proposed instead does not."""

from collections import deque
from math import ceil, pi, sin
import re

from hypothesis import assume, given, settings, strategies as st
import numpy as np
import pytest
from robodyn_ros.control.settings.gain_stability import (
    check, GAIN_MARGIN, highest, RADIUS_TOLERANCE, spectral_radius)
from robodyn_ros.errors import ParameterError
from scipy.linalg import expm
from thorough import seeds

T = 1e-3
TWO = np.array([[1.5, 0.4], [0.4, 0.2]])


def bound(periods: int) -> float:
    """Highest damping [1/s] of a unit mass, by Levin and May."""
    return 2.0 * sin(pi / (4 * periods + 2)) / T


def random_mass(rng, nv: int) -> np.ndarray:
    X = rng.normal(size=(nv, nv))
    scale = np.sqrt(10.0**rng.uniform(-2.0, 1.0, nv))
    return scale[:, None] * (X @ X.T + 0.1 * np.eye(nv)) * scale


def refusal(M, K, D, delay=0.0, viscous=0.0, **how) -> ParameterError:
    with pytest.raises(ParameterError) as error:
        check([f'joint{i}' for i in range(1, len(K) + 1)], M, K, D, T, delay, viscous, **how)
    return error.value


def follow(text: str, K, D):
    """Gains where 'stiffness 3.5 (joint1), 4 (joint2) and damping 1 (joint2)' is put in."""
    gains = {'stiffness': np.array(K, float), 'damping': np.array(D, float)}
    listed = r'(stiffness|damping) ((?:[^ ]+ \(joint\d+\),? ?)+)'
    for parameter, values in re.findall(listed, text):
        for value, joint in re.findall(r'([^ ]+) \(joint(\d+)\)', values):
            gains[parameter][int(joint) - 1] = float(value)
    return gains['stiffness'], gains['damping']


@pytest.mark.parametrize('periods', range(9))
def test_damping_of_one_mass(periods):
    """x⁺ = x - a x₋d has its closed bound: 2 without delay, 1 with one period."""
    assert periods > 1 or bound(periods) * T == pytest.approx(2 - periods)
    below, above = (spectral_radius([[1.0]], [0.0], [share * bound(periods)], T, periods * T)
                    for share in (0.9999, 1.0001))
    assert below < 1.0 < above


def growth(M, K, D, delay, viscous, periods) -> float:
    """Ratio of late to early motion, simulated period by period with efforts in a queue."""
    n = len(K)
    flow = np.zeros((3 * n, 3 * n))
    flow[:n, n:2 * n] = np.eye(n)
    flow[n:2 * n, n:2 * n] = -np.linalg.solve(M, np.diag(viscous))
    flow[n:2 * n, 2 * n:] = np.linalg.inv(M)
    flow = expm(flow * T)[:2 * n]
    queue = deque([np.zeros(n)] * ceil(delay / T))
    x, size = np.ones(2 * n), np.empty(periods)
    for k in range(periods):
        queue.append(-K * x[:n] - D * x[n:])
        x = flow @ np.concatenate([x, queue.popleft()])
        size[k] = np.abs(x[n:]).max()
    half = periods // 2
    return size[half:].max() / size[periods // 4:half].max()


@pytest.mark.parametrize('seed', range(12))
def test_against_simulation(seed):
    """Coupled joints with friction: motion dies out below the boundary and grows above it."""
    rng = np.random.default_rng(seed)
    nv, delay = int(rng.integers(1, 4)), float(rng.choice([0.0, 0.5e-3, 2e-3, 3e-3]))
    M, viscous = random_mass(rng, nv), rng.choice([0.0, 1.0]) * rng.uniform(0.0, 3.0, nv)
    periods = ceil(delay / T)
    D = 0.3 * bound(periods) / np.linalg.inv(M).diagonal() * rng.uniform(0.3, 1.0, nv)
    K = rng.uniform(0.02, 0.3, nv) * D / ((periods + 0.5) * T)
    low, high = 1.0, 100.0                      # by what stiffness or damping may be multiplied
    which = np.array([seed % 2, 1 - seed % 2])

    def scaled(level):
        return M, K * level**which[0], D * level**which[1], T, delay, viscous
    assert spectral_radius(*scaled(low)) < 1.0 < spectral_radius(*scaled(high))
    while high - low > 1e-6 * high:
        middle = (low + high) / 2.0
        low, high = (middle, high) if spectral_radius(*scaled(middle)) < 1.0 else (low, middle)
    for level, grows in ((0.9 * low, False), (1.1 * low, True)):
        _, k, d, _, _, _ = scaled(level)
        assert (growth(M, k, d, delay, viscous, 4000) > 1.0) == grows


def test_what_a_joint_weighs():
    # Without stiffness the position counts for nothing, without any gain the joint does.
    assert spectral_radius(TWO, [0.0, 0.0], [0.0, 0.0], T, 5e-3) == 0.0
    assert spectral_radius(TWO, [0.0, 0.0], [5.0, 1.0], T, 5e-3) < 0.999
    assert spectral_radius(TWO, [0.0, 50.0], [0.0, 5.0], T, 5e-3) < 0.999
    # What joint 2 feels of itself while joint 1 floats
    alone = spectral_radius([[0.2 - 0.4**2 / 1.5]], [50.0], [5.0], T, 5e-3)
    assert spectral_radius(TWO, [0.0, 50.0], [0.0, 5.0], T, 5e-3) == pytest.approx(alone)
    # The bound of a damped joint is that of its inertia while the others give way.
    error = refusal(TWO, [0.0, 0.0], [0.0, 100.0], 5e-3)
    expected = (0.2 - 0.4**2 / 1.5) * bound(5) / GAIN_MARGIN
    _, damping = follow(error.remedy, [0.0, 0.0], [0.0, 100.0])
    assert 0.99 * expected < damping[1] <= expected
    assert (error.name, error.value) == ('damping', 100.0)
    assert 'damping 100 (joint2)' in str(error) and 'joint1' not in str(error)


def test_poses():
    light, heavy = 0.2 * TWO, TWO
    gains = [300.0, 50.0], [60.0, 10.0]
    assert spectral_radius(heavy, *gains, T, 5e-3) < 1.0 < spectral_radius(light, *gains, T, 5e-3)
    both = np.stack([heavy, light, 2.0 * heavy])
    assert spectral_radius(both, *gains, T, 5e-3) == spectral_radius(light, *gains, T, 5e-3)
    assert np.array_equal(highest(both, *gains, T, 5e-3), highest(light, *gains, T, 5e-3))
    # Joint 1 is light at one pose, joint 2 at the other; what is proposed suits both.
    poses = np.stack([np.diag([0.1, 1.0]), np.diag([1.0, 0.1])])
    K, D = highest(poses, [0.0, 0.0], [1e3, 1e3], T, 2e-3)
    assert D == pytest.approx(0.1 * bound(2) / GAIN_MARGIN * np.ones(2), rel=0.01)


def test_computed_torque():
    """The mass matrix is the identity, and the gains have their own names."""
    names = ('acceleration_kp', 'acceleration_kd')
    check(['a', 'b'], np.eye(2), [400.0] * 2, [40.0] * 2, T, 5e-3, parameters=names)
    error = refusal(np.eye(2), [400.0] * 2, [40.0, 300.0], 5e-3, parameters=names)
    assert error.name == 'acceleration_kd' and 'acceleration_kd 300 (joint2)' in str(error)
    error = refusal(np.eye(2), [400.0, 1e5], [40.0] * 2, 5e-3, parameters=names)
    assert error.name == 'acceleration_kp' and error.value == 1e5


@pytest.mark.parametrize(('K', 'D', 'name', 'wrong'), [
    ([100.0, 10.0], [20.0, 50.0], 'damping', [2]),
    ([100.0, 10.0], [500.0, 50.0], 'damping', [1, 2]),
    ([1e5, 10.0], [20.0, 3.0], 'stiffness', [1]),
    ([1e5, 1e4], [20.0, 3.0], 'stiffness', [1, 2]),
])
def test_blame(K, D, name, wrong):
    """The parameter whose reduction is the cure, and all joints where it is too high."""
    error = refusal(TWO, K, D, 5e-3)
    assert error.name == name
    assert [int(i) for i in re.findall(r'joint(\d)', error.remedy.split(', or')[0])] == wrong
    assert error.value == (K if name == 'stiffness' else D)[wrong[0] - 1] or len(wrong) == 2


def test_stiffness_without_damping():
    """No stiffness is stable with a delay then; more damping is, and the remedy says how much."""
    M, K, D = np.diag([1.5, 0.2]), [100.0, 10.0], [20.0, 0.0]
    less, more = refusal(M, K, D, 5e-3).remedy.split(', or ')
    assert less == 'use at most stiffness 0 (joint2)'
    check(['1', '2'], M, K, follow(more, K, D)[1], T, 5e-3)
    assert more == 'damping 0.0757 (joint2)'            # 1.1 MARGIN (5 + 1/2) T K
    assert refusal(M, K, D, 5e-3, [0.0, 0.05]).remedy.endswith('or damping 0.0257 (joint2)')
    # The joint's own friction is damping as well, and so is that of a joint it is coupled with
    check(['1', '2'], M, K, D, T, 5e-3, [0.0, 0.1])
    check(['1', '2'], TWO, K, D, T, 5e-3)


def test_rounding_and_delay():
    for exponent in range(-14, 1):
        k = 10.0**exponent
        check(['1', '2'], TWO, [k, 2 * k], [k, k], T, 5e-3)
        check(['1', '2'], TWO, [k * k, 0.0], [k, 0.0], T, 0.0)
    K, D = [30.0, 10.0], [15.0, 5.0]
    part, whole, more = (spectral_radius(TWO, K, D, T, delay) for delay in (1.2e-3, 2e-3, 2.1e-3))
    assert part == whole != more


@pytest.mark.parametrize('periods', [9, 17, 40])
def test_long_delay(periods):
    """More periods than are kept as states: a little stricter, never laxer."""
    exact = bound(periods)
    _, damping = highest([[1.0]], [0.0], [1e3], T, periods * T)
    assert 0.93 * exact < GAIN_MARGIN * damping[0] < exact


@st.composite
def arms(draw):
    """Mass matrices of some poses, gains from weak to absurd, delay and friction."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    nv, periods = draw(st.integers(1, 3)), draw(st.integers(0, 5))
    M = np.stack([random_mass(rng, nv) for _ in range(draw(st.integers(1, 3)))])
    viscous = draw(st.sampled_from([0.0, 1.0])) * rng.uniform(0.0, 2.0, nv)
    D = bound(periods) / np.linalg.inv(M[0]).diagonal() * 10.0**rng.uniform(-2.0, 1.5, nv)
    K = D / ((periods + 0.5) * T) * 10.0**rng.uniform(-3.0, 1.0, nv)
    for gain in (K, D):
        gain[rng.random(nv) < draw(st.sampled_from([0.0, 0.3]))] = 0.0
    return M, K, D, periods * T, viscous


@pytest.mark.slow
@settings(max_examples=seeds(25, 800))
@given(arms())
def test_what_is_proposed_is_accepted(arm):
    """With the margin and without it, with less delay; and the highest value is the highest."""
    M, K, D, delay, viscous = arm
    k, d = highest(M, K, D, T, delay, viscous)
    assert (k <= K).all() and (d <= D).all()
    radius = spectral_radius(M, k, d, GAIN_MARGIN * T, GAIN_MARGIN * delay, viscous)
    assert radius <= 1.0 + RADIUS_TOLERANCE
    for periods in range(round(delay / T) + 1):
        assert spectral_radius(M, k, d, T, periods * T, viscous) <= 1.0 + RADIUS_TOLERANCE
    changed = np.concatenate([k < K, d < D])
    if changed.sum() == 1:
        higher = [np.clip(1.02 * low, 1e-3 * gain, gain) for low, gain in ((k, K), (d, D))]
        assert spectral_radius(M, *higher, GAIN_MARGIN * T, GAIN_MARGIN * delay, viscous) >= 1.0


@pytest.mark.slow
@settings(max_examples=seeds(25, 800))
@given(arms())
def test_following_the_remedy(arm):
    """Gains as the sentence says, and damping as its alternative says, are accepted at once."""
    M, K, D, delay, viscous = arm
    names = [f'joint{i}' for i in range(1, len(K) + 1)]
    K, D = (np.array([float(f'{x:.6g}') for x in gain]) for gain in (K, D))
    try:
        check(names, M, K, D, T, delay, viscous)
        assume(False)
    except ParameterError as error:
        for way in error.remedy.split(', or '):
            k, d = follow(way, K, D)
            assert not (np.array_equal(k, K) and np.array_equal(d, D))
            check(names, M, k, d, T, delay, viscous)
