# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Recovery of the robot's sampling clock from stamps of the receiver."""

from dataclasses import replace

import numpy as np
from numpy import ndarray

from ..recordings.recording import Recording

MIN_SPEED = 0.05        # of the RMS speed of all joints
PERIOD_TOLERANCE = 0.1  # between the robot's period and the usual interval of stamps
MAX_RESIDUAL = 0.3      # of the step errors under the clock, relative to the stamps
MAX_INTERVAL = 10.0     # periods; longer is no jitter
MAX_DRIFT = 20.0        # periods between the clock and the stamps


def own_clock(recording: Recording) -> tuple[Recording, list[str]]:
    """
    Return a recording with the robot's own sample times, if they are apparent, and notes.

    A program that stamps what it receives records its own delays: samples arrive twice, are
    overwritten, early or late. Position differences divided by measured velocities give the time
    that really passed. Where these are consistently whole periods, and explain the position steps
    far better than the stamps do, samples are counted in periods of the robot and duplicates are
    removed. Otherwise the recording is returned unchanged, with no note.
    """
    time, q, v = recording.time, recording.position, recording.velocity
    if v is None or len(recording) < 100:
        return recording, []
    steps = np.diff(time)
    usual = float(np.median(steps[steps > 0])) if (steps > 0).any() else 0.0
    sound = np.isfinite(time).all() and np.isfinite(q).all() and np.isfinite(v).all()
    if not sound or not (steps > 0).all() or usual <= 0.0:
        return recording, []
    mean = (v[1:] + v[:-1]) / 2
    size = np.sqrt(np.mean(v**2, axis=0))
    weight = mean / np.where(size > 0, size, 1.0)**2        # joints of all units alike
    speed = (mean * weight).sum(1)
    moving = (speed > MIN_SPEED * len(size)) & (steps < MAX_INTERVAL * usual)
    if moving.sum() < len(steps) / 2:
        return recording, []
    passed = (np.diff(q, axis=0) * weight).sum(1)[moving] / speed[moving]
    period = _period(passed, usual)
    if period is None:
        return recording, []
    counts = _at_rest(np.hstack([q, v]), time, period, moving)
    counts[moving] = np.maximum(np.round(passed / period), 0.0)
    scale = mean[moving] / np.where(size > 0, size, 1.0)
    whole = scale * (passed - counts[moving] * period)[:, None]
    stamped = scale * (passed - steps[moving])[:, None]
    if np.sum(whole**2) > MAX_RESIDUAL**2 * np.sum(stamped**2):
        return recording, []
    number = np.concatenate([[0.0], np.cumsum(counts)])
    slope, start = np.polyfit(number, time, 1)
    away = float(np.abs(time - (start + slope * number)).max())
    if abs(slope / period - 1) > PERIOD_TOLERANCE or away > MAX_DRIFT * period:
        return recording, []
    keep = np.concatenate([[True], counts > 0])
    lost = int(np.sum(counts[counts > 1] - 1))
    note = (f'stamps are those of the receiver: the joints moved in whole periods of '
            f'{1e3 * slope:.6g} ms, which explain their steps to '
            f'{100 * np.sqrt(np.sum(whole**2) / np.sum(stamped**2)):.2g} % of what the stamps '
            f'leave. Samples are counted in them: {np.sum(~keep)} that came twice are left out, '
            f'{lost} were lost; stamps were up to {1e3 * away:.3g} ms off')
    effort = None if recording.effort is None else recording.effort[keep]
    return replace(recording, time=(start + slope * number)[keep], position=q[keep],
                   velocity=v[keep], effort=effort), [note]


def _at_rest(states: ndarray, time: ndarray, period: float, moving: ndarray) -> ndarray:
    """
    Return periods between samples at which the joints move too slowly to tell.

    They follow the stamps: a duplicate is equal to the last bit, another sample is at least one
    period later.
    """
    counts = 1.0 - (np.diff(states, axis=0) == 0).all(1)
    edges = np.flatnonzero(np.diff(np.concatenate([[True], moving, [True]]).astype(int)))
    for a, b in zip(edges[::2], edges[1::2]):
        late = np.floor((time[a + 1:b + 1] - time[a]) / period)
        number = 0.0
        for i in range(a, b):
            if counts[i]:
                counts[i] = max(1.0, late[i - a] - number)
                number += counts[i]
    return counts


def _period(passed: ndarray, usual: float) -> float | None:
    """Return the period of which elapsed times are multiples, None if not near the usual one."""
    once = passed[(passed > 0.5 * usual) & (passed < 1.5 * usual)]
    if len(once) < len(passed) / 2:
        return None
    period = float(np.median(once))
    return period if abs(period / usual - 1) < PERIOD_TOLERANCE else None
