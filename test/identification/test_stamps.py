# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from robodyn_ros.errors import RecordingError
from robodyn_ros.identification.preparation.timing import grid, stretches

pytestmark = pytest.mark.slow


def wave(time):
    return np.column_stack([np.sin(2 * time), np.cos(3 * time)])


def bounds(found):
    return [(int(piece[0]), int(piece[-1]) + 1) for piece in found.pieces]


def test_even_stamps_are_one_piece():
    time = np.arange(1000) / 200
    found = stretches(time, wave(time))
    assert bounds(found) == [(0, 1000)] and found.rate == 200
    assert len(found.notes) == 1


def test_rounded_stamps_have_the_rate_of_their_mean():
    time = np.round(np.arange(1000) / 30, 3)
    assert stretches(time, wave(time)).rate == pytest.approx(30, rel=1e-4)


def test_a_few_lost_samples_are_bridged_and_said():
    time = np.delete(np.arange(1000) / 200, [100, 400, 401])
    found = stretches(time, wave(time))
    assert len(found.pieces) == 1
    assert any('3 samples lost in 2 places' in note for note in found.notes)
    assert bounds(stretches(time, wave(time), gap=0.012)) == [(0, 399), (399, 997)]


def test_a_gap_is_a_border():
    time = np.delete(np.arange(1000) / 200, np.arange(300, 350))
    found = stretches(time, wave(time))
    assert bounds(found) == [(0, 300), (300, 950)]
    assert any('gap of 0.255 s at 1.495 s' in note and '50 samples' in note
               for note in found.notes)


def test_a_clock_that_is_set_back():
    true = np.arange(1000) / 200
    time = np.where(true < 2, true, true - 1.3)
    found = stretches(time, wave(true))
    assert bounds(found) == [(0, 400), (400, 1000)]
    assert any('set back by 1.295 s' in note for note in found.notes)
    np.testing.assert_allclose(found.time, true, atol=1e-9)


def test_a_clock_that_jumps_ahead_begins_a_segment():
    true = np.arange(1000) / 200
    time = np.where(true < 2, true, true + 1.3)
    found = stretches(time, wave(true))
    assert bounds(found) == [(0, 400), (400, 1000)]
    assert any('gap of 1.305 s' in note for note in found.notes)


def test_doubled_stamps_are_left_out():
    time = np.repeat(np.arange(500) / 200, 2)
    found = stretches(time, wave(time))
    assert found.rate == 200
    assert len(found.pieces) == 1 and len(found.pieces[0]) == 500
    assert any('500 samples with the stamp of the one before' in note for note in found.notes)


def test_samples_that_are_no_numbers_are_as_if_they_had_not_come():
    time = np.arange(1000) / 200
    position = wave(time)
    position[500:560, 1] = np.nan
    found = stretches(time, position)
    assert bounds(found) == [(0, 500), (560, 1000)]
    assert '60 samples' in found.notes[0]


def test_jitter_is_told():
    rng = np.random.default_rng(0)
    time = (np.arange(2000) + rng.uniform(-0.2, 0.2, 2000)) / 200
    found = stretches(time, wave(time))
    assert len(found.pieces) == 1 and found.rate == pytest.approx(200, rel=0.02)
    assert grid(time, 200) is not None
    assert grid(np.round(time[0] + np.arange(2000) / 200, 4), 200) is None


def test_stamps_that_do_not_rise():
    with pytest.raises(RecordingError, match='never rise'):
        stretches(np.zeros(100), np.zeros((100, 1)))
