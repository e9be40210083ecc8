# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Stamps of a recording: duplicates, gaps and steps of the clock."""

from dataclasses import dataclass

import numpy as np
from numpy import ndarray

from ...errors import RecordingError

DUPLICATE_INTERVAL = 0.05    # periods, up to which two stamps are of one sample
GRID_TOLERANCE = 0.02     # of a period between stamps and a grid
ROUNDING_TOLERANCE = 0.1  # of a period between equal intervals of rounded stamps
DROPPED_INTERVAL = 1.5    # periods: a longer interval lacks a sample
MAX_BRIDGED_GAP = 10.0    # periods


@dataclass(frozen=True)
class Stretches:
    """
    Segments of a recording.

    :param pieces: indices of samples whose stamps rise without a gap.
    :param time: (N,) [s] with steps of the clock removed.
    :param rate: sample rate where no sample is missing [Hz].
    :param notes: findings, one line each.
    """

    pieces: tuple[ndarray, ...]
    time: ndarray
    rate: float
    notes: tuple[str, ...]


def stretches(time: ndarray, position: ndarray, gap: float | None = None) -> Stretches:
    """
    Return segments without gaps and steps of the clock.

    :param time: (N,) stamps [s].
    :param position: (N, nv) [rad | m]; samples that are not finite are missing.
    :param gap: longest bridged interval without samples [s]; None: MAX_BRIDGED_GAP periods.
    :raises RecordingError: the stamps never rise.
    """
    usable = np.flatnonzero(np.isfinite(time) & np.isfinite(position).all(1))
    notes = []
    if len(usable) < len(time):
        notes.append(f'{len(time) - len(usable)} samples with a number that is not finite are '
                     f'treated as missing')
    steps = np.diff(time[usable])
    if not (steps > 0).any():
        raise RecordingError('the stamps never rise', name='time', value=time[:5].tolist(),
                             remedy='say which column is the time, or give the rate')
    period = float(np.median(steps[steps > 0]))
    alike = np.abs(steps) <= DUPLICATE_INTERVAL * period
    if alike.any():
        usable = usable[np.r_[True, ~alike]]
        steps = np.diff(time[usable])
        notes.append(f'{np.sum(alike)} samples with the stamp of the one before are left out')
        period = float(np.median(steps[steps > 0]))
    regular = steps[(steps > 0) & (steps < DROPPED_INTERVAL * period)]
    # The mean where only digits are rounded; what jitters is brought to the usual interval
    even = np.ptp(np.percentile(regular, [1, 99])) < ROUNDING_TOLERANCE * period
    rate = float(f'{1 / (np.mean(regular) if even else period):.6g}')
    limit = MAX_BRIDGED_GAP * period if gap is None else gap
    back, ahead = steps < 0, steps > limit
    notes += _described(time[usable], period, limit)
    shift = np.zeros(len(usable))
    shift[1:] = np.cumsum(np.where(back, period - steps, 0.0))
    moved = np.array(time, float)
    moved[usable] += shift
    pieces = tuple(np.split(usable, np.flatnonzero(back | ahead) + 1))
    return Stretches(pieces, moved, rate, tuple(notes))


def grid(time: ndarray, rate: float) -> ndarray | None:
    """
    Return equidistant times from the first to the last of rising stamps (n,) [s].

    :return: None where the stamps are equidistant already.
    """
    even = time[0] + np.arange(len(time)) / rate
    if np.abs(time - even).max() <= GRID_TOLERANCE / rate:
        return None
    count = int((time[-1] - time[0]) * rate * (1 + 1e-12)) + 1
    return time[0] + np.arange(count) / rate


def _described(time: ndarray, period: float, limit: float) -> list[str]:
    notes, steps = [], np.diff(time)
    regular = steps[(steps > 0) & (steps < DROPPED_INTERVAL * period)]
    spread = np.percentile(regular, [1, 99])
    notes.append(f'period {1e3 * period:.6g} ms; 98 % of intervals without a lost sample within '
                 f'{1e3 * spread[0]:.4g} to {1e3 * spread[1]:.4g} ms')
    short = (steps >= DROPPED_INTERVAL * period) & (steps <= limit)
    if short.any():
        lost = np.sum(np.round(steps[short] / period) - 1)
        notes.append(f'{lost:.0f} samples lost in {np.sum(short)} places, none longer than '
                     f'{1e3 * steps[short].max():.4g} ms: bridged')
    for k in np.flatnonzero((steps < 0) | (steps > limit)).tolist():
        at = f'at {time[k] - time[0]:.6g} s after the first stamp'
        if steps[k] < 0:
            notes.append(f'the clock was set back by {-steps[k]:.6g} s {at}: a new segment')
        else:
            notes.append(f'a gap of {steps[k]:.6g} s {at}, {steps[k] / period - 1:.0f} samples: '
                         f'a new segment')
    return _few(notes)


def _few(notes: list[str], most: int = 8) -> list[str]:
    """Return the first notes of a long list, and the number of the others."""
    return notes if len(notes) <= most else [
        *notes[:most], f'and {len(notes) - most} more borders of this kind']
