# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from robodyn_ros.identification.preparation.filtering import choose_cutoff, derivatives, LowPass

pytestmark = pytest.mark.slow

RATE = 500.0
TIME = np.arange(6000) / RATE
W = 2 * np.pi * np.array([0.3, 0.5, 0.8])


def signal():
    phase = np.outer(TIME, W)
    return np.sin(phase), W * np.cos(phase), -W**2 * np.sin(phase)


def test_derivatives_of_a_known_signal():
    q, v, a = signal()
    first, second = derivatives(q, RATE)
    middle = slice(50, -50)
    np.testing.assert_allclose(first[middle], v[middle], atol=1e-9)
    np.testing.assert_allclose(second[middle], a[middle], atol=1e-6)


@pytest.mark.parametrize('noise', [0, 1e-5, 1e-4, 1e-3])
def test_the_rule_leaves_the_motion_and_takes_the_noise(noise):
    q, v, a = signal()
    rng = np.random.default_rng(1)
    noisy = q + noise * rng.normal(size=q.shape)
    cutoff = choose_cutoff([noisy], RATE)
    low_pass = LowPass(cutoff.frequency, RATE)
    first, second = derivatives(low_pass(noisy), RATE)
    inside = slice(low_pass.settling, -low_pass.settling)
    assert 1 < cutoff.frequency <= 8.1 and cutoff.why
    np.testing.assert_array_less(np.std((first - v)[inside], axis=0), 2e-3 + 2 * noise)
    np.testing.assert_array_less(np.std((second - a)[inside], axis=0) / a.std(0), 0.02)


def test_the_cutoff_is_lower_where_there_is_more_noise():
    q, *_ = signal()
    rng = np.random.default_rng(1)
    chosen = [choose_cutoff([q + noise * rng.normal(size=q.shape)], RATE).frequency
              for noise in (1e-6, 1e-2)]
    assert chosen[1] < 0.7 * chosen[0]


def test_no_delay_in_either_direction():
    pulse = np.exp(-((TIME - 6) / 0.2)**2)[:, None]
    filtered = LowPass(5.0, RATE)(pulse)
    assert np.argmax(filtered) == np.argmax(pulse)
    peak = int(np.argmax(pulse))
    around = np.arange(1, 400)
    np.testing.assert_allclose(filtered[peak + around], filtered[peak - around], atol=1e-12)


def test_half_passes_at_the_cutoff():
    wave = np.sin(2 * np.pi * 5.0 * TIME)[:, None]
    low_pass = LowPass(5.0, RATE)
    inside = slice(low_pass.settling, -low_pass.settling)
    assert np.ptp(low_pass(wave)[inside]) / 2 == pytest.approx(0.5, abs=0.01)


def test_a_transient_is_gone_where_it_is_said_to_be():
    step = np.where(TIME < 6, 0.0, 1.0)[:, None]
    low_pass = LowPass(5.0, RATE)
    filtered = low_pass(step)
    away = np.abs(np.arange(6000) - 3000) > low_pass.settling
    assert np.abs(filtered - step)[away].max() < 0.01
    assert np.abs(filtered - step)[~away].max() > 0.1


def test_samples_that_are_kept_are_filtered_as_all_are():
    """Of smooth signals; near the ends the reflections differ a little."""
    low_pass = LowPass(5.0, RATE)
    smooth = low_pass(np.random.default_rng(0).normal(size=(len(TIME), 2)))[500:5501]**2
    step = int(RATE / 50.0)
    expected, found = low_pass(smooth)[::step], low_pass.of_kept(smooth[::step], step)
    np.testing.assert_allclose(found[40:-40], expected[40:-40], atol=1e-6 * expected.std())
    np.testing.assert_allclose(found, expected, atol=0.02 * expected.std())
    np.testing.assert_allclose(low_pass.of_kept(smooth[::step], step, 3), found[::3], rtol=1e-12)


def test_no_filter():
    wave = np.sin(TIME)[:, None]
    none = LowPass(np.inf, RATE)
    assert none.settling == 0
    np.testing.assert_array_equal(none(wave), wave)


def test_a_joint_that_stands_still_has_no_say():
    """Its noise is no motion, however much of it there is; alone it leaves the most there is."""
    q, _, _ = signal()
    rng = np.random.default_rng(3)
    still = 0.3 + 1e-4 * rng.normal(size=(len(TIME), 1))
    alone = choose_cutoff([q], RATE).frequency
    assert choose_cutoff([np.hstack([q, still])], RATE).frequency == alone
    assert 'nothing moves' in choose_cutoff([still], RATE).why
    assert 'nothing moves' in choose_cutoff([np.zeros((6000, 2))], RATE).why
