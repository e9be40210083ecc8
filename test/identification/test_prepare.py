# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace

from motions import recorded, robot, sines
import numpy as np
import pytest
from robodyn_ros.errors import ArgumentError, RecordingError
from robodyn_ros.identification.preparation.options import PreparationOptions
from robodyn_ros.identification.recorded_motion import checked_motion
from robodyn_ros.identification.recordings.recording import Recording

pytestmark = pytest.mark.slow

MODEL = robot('two_link')
RATE = 250.0


def pick(r, index):
    return Recording(r.joint_names, r.time[index], r.position[index], r.velocity[index],
                     r.effort[index])


def check(motion, rate=RATE, accuracy=0.02, shift=0.0):
    """Compare with what the robot truly did."""
    q, v, a = sines(MODEL, motion.time + shift)
    for got, true in ((motion.position, q), (motion.velocity, v), (motion.acceleration, a)):
        np.testing.assert_array_less(np.abs(got - true).max(0), accuracy * np.ptp(true, axis=0))
    assert motion.rate == pytest.approx(rate)
    for begin, end in motion.segments:
        np.testing.assert_allclose(np.diff(motion.time[begin:end]), 1 / motion.rate, rtol=1e-6)


def test_a_clean_recording():
    motion, notes, issues = checked_motion(recorded('two_link'), MODEL)
    check(motion)
    assert len(motion.segments) == 1 and motion.segments[0] == (0, len(motion))
    assert 9 < len(motion) / RATE < 12
    for word in ('cutoff', 'cut off', 'low-pass', '250 Hz', 'derivatives', 'samples'):
        assert any(word in note for note in notes), word
    assert issues == ()


def test_effort_passes_the_same_filter_as_the_motion():
    """So that the model holds between them as it did before."""
    from robodyn_ros.dynamics.api import Batch
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


def test_rate_and_cutoff_can_be_given():
    r = recorded('two_link')
    motion, notes, _ = checked_motion(r, MODEL, PreparationOptions(rate=100.0, cutoff=4.0))
    check(motion, 100.0, accuracy=0.05)
    assert any('cutoff 4 Hz: as asked' in note for note in notes)
    motion, notes, _ = checked_motion(r, MODEL, PreparationOptions(cutoff=np.inf))
    assert len(motion) == 3000 and 'no filter, as asked' in notes
    np.testing.assert_array_equal(motion.position, r.position)


@pytest.mark.parametrize('count', [1, 20, 200])
def test_too_short(count):
    with pytest.raises(RecordingError) as refused:
        checked_motion(pick(recorded('two_link'), slice(0, count)), MODEL)
    assert 'tens of' in refused.value.remedy or 'let it move' in refused.value.remedy


def test_no_efforts():
    with pytest.raises(RecordingError, match='no efforts'):
        checked_motion(replace(recorded('two_link'), effort=None), MODEL)


@pytest.mark.parametrize('wrong', [{'rate': 0}, {'cutoff': -1}])
def test_options(wrong):
    with pytest.raises(ArgumentError) as refused:
        PreparationOptions(**wrong)
    assert refused.value.name in wrong
    with pytest.raises(RecordingError, match='half the rate'):
        checked_motion(recorded('two_link'), MODEL, PreparationOptions(cutoff=125.0))
