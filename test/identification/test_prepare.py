# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Preparation: stamps, filters, and motions at an even rate."""

from dataclasses import replace

from motions import recorded, robot, sines
import numpy as np
import pytest
from robodyn_ros.dynamics import Batch
from robodyn_ros.errors import ArgumentError, RecordingError
from robodyn_ros.identification.filtering import choose_cutoff, derivatives, LowPass
from robodyn_ros.identification.motion import resampled, stretches
from robodyn_ros.identification.options import PreparationOptions
from robodyn_ros.identification.recorded_motion import checked_motion

pytestmark = pytest.mark.slow

EVEN = np.arange(1000) / 200
MODEL = robot('two_link')
RATE, RATE_OF_FILTERS = 250.0, 500.0      # [Hz]
TIME = np.arange(6000) / RATE_OF_FILTERS
W = 2 * np.pi * np.array([0.3, 0.5, 0.8])


# Stamps

def wave(time):
    return np.column_stack([np.sin(2 * time), np.cos(3 * time)])


def bounds(found):
    return [(int(piece[0]), int(piece[-1]) + 1) for piece in found.pieces]


@pytest.mark.parametrize(('time', 'expected', 'said'), [
    (EVEN, [(0, 1000)], ''),
    (np.delete(EVEN, [100, 400, 401]), [(0, 997)], '3 samples lost in 2 places'),
    (np.delete(EVEN, np.arange(300, 350)), [(0, 300), (300, 950)],
     'gap of 0.255 s at 1.495 s: 50 samples'),
    (np.repeat(EVEN[:500], 2), [(0, 999)], '500 samples with the stamp of the one before')],
    ids=['even', 'lost', 'gap', 'doubled'])
def test_stretches_of_stamps(time, expected, said):
    found = stretches(time, wave(time))
    assert bounds(found) == expected and found.rate == 200
    assert sum(map(len, found.pieces)) == (500 if 'before' in said else len(time))
    assert any(all(word in note for word in said.split(': ')) for note in found.notes)
    if said == '':
        assert len(found.notes) == 1
    if 'lost' in said:
        assert bounds(stretches(time, wave(time), gap=0.012)) == [(0, 399), (399, 997)]


def test_samples_and_stamps():
    position = wave(EVEN)
    position[500:560, 1] = np.nan
    found = stretches(EVEN, position)
    assert bounds(found) == [(0, 500), (560, 1000)] and '60 samples' in found.notes[0]
    time = np.round(np.arange(1000) / 30, 3)
    assert stretches(time, wave(time)).rate == pytest.approx(30, rel=1e-4)
    time = (np.arange(2000) + np.random.default_rng(0).uniform(-0.2, 0.2, 2000)) / 200
    assert resampled(time, time, 200)[1] is not time
    time = np.round(time[0] + np.arange(2000) / 200, 4)
    assert resampled(time, time, 200)[1] is time
    with pytest.raises(RecordingError, match='never rise'):
        stretches(np.zeros(100), np.zeros((100, 1)))


# Filters

def signal():
    phase = np.outer(TIME, W)
    return np.sin(phase), W * np.cos(phase), -W**2 * np.sin(phase)


def test_derivatives_of_a_known_signal():
    q, v, a = signal()
    first, second = derivatives(q, RATE_OF_FILTERS)
    middle = slice(50, -50)
    np.testing.assert_allclose(first[middle], v[middle], atol=1e-9)
    np.testing.assert_allclose(second[middle], a[middle], atol=1e-6)


@pytest.mark.parametrize('noise', [0, 1e-5, 1e-4, 1e-3])
def test_the_rule_leaves_the_motion_and_takes_the_noise(noise):
    q, v, a = signal()
    rng = np.random.default_rng(1)
    noisy = q + noise * rng.normal(size=q.shape)
    cutoff = choose_cutoff([noisy], RATE_OF_FILTERS)
    low_pass = LowPass(cutoff.frequency, RATE_OF_FILTERS)
    first, second = derivatives(low_pass(noisy), RATE_OF_FILTERS)
    inside = slice(low_pass.settling, -low_pass.settling)
    assert 1 < cutoff.frequency <= 8.1 and cutoff.why
    np.testing.assert_array_less(np.std((first - v)[inside], axis=0), 2e-3 + 2 * noise)
    np.testing.assert_array_less(np.std((second - a)[inside], axis=0) / a.std(0), 0.02)


def test_the_cutoff_is_lower_where_there_is_more_noise():
    q, *_ = signal()
    rng = np.random.default_rng(1)
    chosen = [choose_cutoff([q + noise * rng.normal(size=q.shape)], RATE_OF_FILTERS).frequency
              for noise in (1e-6, 1e-2)]
    assert chosen[1] < 0.7 * chosen[0]


def test_filters_have_no_delay_and_half_at_the_cutoff():
    pulse = np.exp(-((TIME - 6) / 0.2)**2)[:, None]
    filtered = LowPass(5.0, RATE_OF_FILTERS)(pulse)
    assert np.argmax(filtered) == np.argmax(pulse)
    peak = int(np.argmax(pulse))
    around = np.arange(1, 400)
    np.testing.assert_allclose(filtered[peak + around], filtered[peak - around], atol=1e-12)
    wave = np.sin(2 * np.pi * 5.0 * TIME)[:, None]
    low_pass = LowPass(5.0, RATE_OF_FILTERS)
    inside = slice(low_pass.settling, -low_pass.settling)
    assert np.ptp(low_pass(wave)[inside]) / 2 == pytest.approx(0.5, abs=0.01)
    none = LowPass(np.inf, RATE_OF_FILTERS)
    assert none.settling == 0 and (none(wave) == wave).all()
    step = np.where(TIME < 6, 0.0, 1.0)[:, None]
    low_pass = LowPass(5.0, RATE_OF_FILTERS)
    filtered = low_pass(step)
    away = np.abs(np.arange(6000) - 3000) > low_pass.settling
    assert np.abs(filtered - step)[away].max() < 0.01
    assert np.abs(filtered - step)[~away].max() > 0.1


def test_samples_that_are_kept_are_filtered_as_all_are():
    """Of smooth signals; near the ends the reflections differ a little."""
    low_pass = LowPass(5.0, RATE_OF_FILTERS)
    smooth = low_pass(np.random.default_rng(0).normal(size=(len(TIME), 2)))[500:5501]**2
    step = int(RATE_OF_FILTERS / 50.0)
    expected, found = low_pass(smooth)[::step], low_pass.of_kept(smooth[::step], step)
    np.testing.assert_allclose(found[40:-40], expected[40:-40], atol=1e-6 * expected.std())
    np.testing.assert_allclose(found, expected, atol=0.02 * expected.std())
    np.testing.assert_allclose(low_pass.of_kept(smooth[::step], step, 3), found[::3], rtol=1e-12)


def test_a_joint_that_stands_still_has_no_say():
    """Its noise is no motion, however much of it there is; alone it leaves the most there is."""
    q, _, _ = signal()
    rng = np.random.default_rng(3)
    still = 0.3 + 1e-4 * rng.normal(size=(len(TIME), 1))
    alone = choose_cutoff([q], RATE_OF_FILTERS).frequency
    assert choose_cutoff([np.hstack([q, still])], RATE_OF_FILTERS).frequency == alone
    assert 'nothing moves' in choose_cutoff([still], RATE_OF_FILTERS).why
    assert 'nothing moves' in choose_cutoff([np.zeros((6000, 2))], RATE_OF_FILTERS).why


# Motions

def pick(r, index):
    return replace(r, **{name: getattr(r, name)[index]
                         for name in ('time', 'position', 'velocity', 'effort')})


def check(motion, rate=RATE, accuracy=0.02, shift=0.0):
    """Compare with what the robot truly did."""
    q, v, a = sines(MODEL, motion.time + shift)
    for got, true in ((motion.position, q), (motion.velocity, v), (motion.acceleration, a)):
        np.testing.assert_array_less(np.abs(got - true).max(0), accuracy * np.ptp(true, axis=0))
    assert motion.rate == pytest.approx(rate)
    for begin, end in motion.segments:
        np.testing.assert_allclose(np.diff(motion.time[begin:end]), 1 / motion.rate, rtol=1e-6)


def test_recordings_that_are_clean_or_given_a_rate():
    motion, notes, issues = checked_motion(recorded('two_link'), MODEL)
    check(motion)
    assert len(motion.segments) == 1 and motion.segments[0] == (0, len(motion))
    assert 9 < len(motion) / RATE < 12
    for word in ('cutoff', 'cut off', 'low-pass', '250 Hz', 'derivatives', 'samples'):
        assert any(word in note for note in notes), word
    assert issues == ()
    r = recorded('two_link')
    motion, notes, _ = checked_motion(r, MODEL, PreparationOptions(rate=100.0, cutoff=4.0))
    check(motion, 100.0, accuracy=0.05)
    assert any('cutoff 4 Hz: as asked' in note for note in notes)
    motion, notes, _ = checked_motion(r, MODEL, PreparationOptions(cutoff=np.inf))
    assert len(motion) == 3000 and 'no filter, as asked' in notes
    np.testing.assert_array_equal(motion.position, r.position)
    with pytest.raises(RecordingError, match='no efforts'):
        checked_motion(replace(recorded('two_link'), effort=None), MODEL)


def test_effort_passes_the_same_filter_as_the_motion():
    """So that the model holds between them as it did before."""
    r = recorded('two_link')
    q, v, a = sines(MODEL, r.time)
    pure = replace(r, position=q, velocity=None, effort=Batch(MODEL).inverse_dynamics(q, v, a))
    motion, *_ = checked_motion(pure, MODEL)
    expected = Batch(MODEL).inverse_dynamics(motion.position, motion.velocity,
                                             motion.acceleration)
    np.testing.assert_array_less(np.abs(motion.effort - expected).max(0),
                                 2e-3 * np.ptp(expected, axis=0))


def test_nothing_looks_across_a_gap():
    """The joints go elsewhere while nothing is recorded: a derivative across would be huge."""
    r = recorded('two_link')
    keep = np.r_[0:1000, 1500:3000]
    motion, notes, _ = checked_motion(pick(r, keep), MODEL)
    check(motion)
    assert len(motion.segments) == 2
    (_, end), (begin, _) = motion.segments
    assert motion.time[end - 1] < r.time[999] and motion.time[begin] > r.time[1500]
    assert any('gap of 2.004 s' in note for note in notes)


@pytest.mark.parametrize('jump', [-1.5, 2.5])
def test_nothing_looks_across_a_step_of_the_clock(jump):
    r = recorded('two_link')
    time = np.where(np.arange(3000) < 1500, r.time, r.time + jump)
    motion, notes, _ = checked_motion(replace(r, time=time), MODEL)
    assert len(motion.segments) == 2
    (a, b), (c, d) = motion.segments
    check(motion.part(a, b))
    # Ahead, the stamps are believed; back, time goes on
    check(motion.part(c, d), shift=0.0 if jump < 0 else -jump)
    assert any(('set back' if jump < 0 else 'a gap of') in note for note in notes)
    assert (np.diff(motion.time) > 0).all()


def test_jitter_and_lost_samples_do_no_harm():
    rng = np.random.default_rng(3)
    time = (np.arange(3000) + rng.uniform(-0.3, 0.3, 3000)) / RATE
    q, v, a = sines(MODEL, time)
    r = replace(recorded('two_link'), time=time, position=q, velocity=v)
    r = pick(r, np.sort(rng.choice(3000, 2900, replace=False)))
    motion, notes, _ = checked_motion(r, MODEL)
    assert len(motion.segments) == 1
    check(motion, motion.rate)
    assert motion.rate == pytest.approx(RATE, rel=0.02)
    assert any('samples lost' in note for note in notes)


@pytest.mark.parametrize('count', [1, 20, 200])
def test_too_short(count):
    with pytest.raises(RecordingError) as refused:
        checked_motion(pick(recorded('two_link'), slice(0, count)), MODEL)
    assert 'tens of' in refused.value.remedy or 'let it move' in refused.value.remedy


@pytest.mark.parametrize('wrong', [{'rate': 0}, {'cutoff': -1}])
def test_options(wrong):
    with pytest.raises(ArgumentError) as refused:
        PreparationOptions(**wrong)
    assert refused.value.name in wrong
    with pytest.raises(RecordingError, match='half the rate'):
        checked_motion(recorded('two_link'), MODEL, PreparationOptions(cutoff=125.0))
