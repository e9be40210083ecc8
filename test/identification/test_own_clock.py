# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Samples of a robot's own clock, with the stamps of a receiver that is late at random."""

from dataclasses import replace

from excited import robot, sines
import numpy as np
import pytest
from robodyn_ros.dynamics.api import Batch
from robodyn_ros.identification.preparation.clock import own_clock
from robodyn_ros.identification.recorded_motion import checked_motion
from robodyn_ros.identification.recordings.recording import Recording
from robodyn_ros.identification.validation import of_model

pytestmark = pytest.mark.slow

MODEL = robot('two_link')
PERIOD = 0.002


def received(jitter=0.4, seed=0, count=6000):
    """Return what a program reads about every 2 ms from a robot that samples every 2 ms."""
    rng = np.random.default_rng(seed)
    stamps = PERIOD * (np.arange(count) + 0.5 + jitter * rng.uniform(-1, 1, count)
                       + 0.6 * np.sin(np.arange(count) / 40))
    stamps = np.sort(stamps)
    ticks = np.floor(stamps / PERIOD)
    q, v, a = sines(MODEL, ticks * PERIOD)
    effort = Batch(MODEL, threads=1).inverse_dynamics(q, v, a)
    return Recording(MODEL.joint_names, stamps, q, v, effort), ticks


def test_samples_are_counted_in_periods_of_the_robot():
    recording, ticks = received()
    found, (note,) = own_clock(recording)
    true = np.unique(ticks) * PERIOD
    assert len(found) == len(true) < len(recording)
    same = np.isclose(np.diff(found.time), np.diff(true), rtol=1e-3)
    assert np.mean(same) > 0.98
    assert np.abs(found.time - true).max() < 3 * PERIOD
    assert f'{len(recording) - len(true)} that came twice' in note


def test_efforts_are_those_of_the_motion():
    recording, _ = received()
    motion, notes, _ = checked_motion(recording, MODEL)
    assert any('stamps are those of the receiver' in note for note in notes)
    assert (of_model(MODEL, motion).relative < 0.01).all()


@pytest.mark.parametrize('change', ['right stamps', 'no velocity', 'noise', 'a gap'])
def test_other_recordings_are_left_as_they_are(change):
    recording, ticks = received()
    rng = np.random.default_rng(1)
    if change == 'right stamps':        # sampled when they say
        q, v, _ = sines(MODEL, recording.time)
        recording = Recording(MODEL.joint_names, recording.time, q, v, v)
    elif change == 'no velocity':
        recording = replace(recording, velocity=None)
    elif change == 'noise':             # in which no periods show
        recording = replace(recording, position=recording.position + 5e-3 * rng.normal(
            size=recording.position.shape))
    else:
        time = recording.time.copy()
        time[3000:] -= 5.0
        recording = replace(recording, time=time)
    found, notes = own_clock(recording)
    assert found is recording and not notes
