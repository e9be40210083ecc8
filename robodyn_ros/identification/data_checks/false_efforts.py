# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Efforts that were not measured: spikes of a few samples, and readings that a driver repeats.

The filter spreads one of them over its neighbours, and least squares weighs it by its square: a
single zero in a recording changes friction by tens of percent. They are left out as gaps.
"""

from collections.abc import Collection, Iterator
from dataclasses import replace

import numpy as np
from numpy import ndarray
from scipy.ndimage import median_filter

from .data_issue import DataIssue, Severity
from .samples import FROZEN_TIME, FULL_SPEED, STEPS_BEFORE
from .signal_checks import MIN_LEVELS
from ..recordings.recording import Recording

SPIKE, FROZEN = 'effort spike', 'frozen effort'     # kinds of issue
MAX_SPIKE_SAMPLES = 3
# A spike is farther from the median of its neighbours than MIN_SPIKE_FACTOR times this quantile of
# the distances [%], and than MIN_SPIKE_SHARE of the range of the efforts of the joint
SPIKE_QUANTILE, MIN_SPIKE_FACTOR, MIN_SPIKE_SHARE = 98.0, 25.0, 0.25
MAX_FALSE_SHARE = 0.01  # of the samples, which may be left out


def without_false_efforts(recording: Recording, accept: Collection[str]) -> Recording:
    """Return the recording with NaN in place of efforts of a kind that is not accepted."""
    spikes, frozen = _false_efforts(recording)
    false = np.zeros_like(spikes)
    if SPIKE not in accept:
        false |= spikes
    if FROZEN not in accept:
        false |= frozen[:, None]
    if not false.any():
        return recording
    return replace(recording, effort=np.where(false, np.nan, np.asarray(recording.effort)))


def false_effort_issues(recording: Recording) -> Iterator[DataIssue]:
    """Yield joints whose efforts have spikes, and stretches in which all efforts stand still."""
    spikes, frozen = _false_efforts(recording)
    effort, time = np.asarray(recording.effort), recording.time - np.nanmin(recording.time)
    for j in np.flatnonzero(spikes.any(0)):
        name, at, share = (recording.joint_names[j], int(spikes[:, j].argmax()),
                           float(spikes[:, j].mean()))
        yield DataIssue(
            SPIKE, name, f'{spikes[:, j].sum()} samples of the effort of {name} are far from '
            f'those around them: {effort[at, j]:.4g} at {time[at]:.6g} s after the first',
            *_consequence(share))
    if frozen.any():
        at, share = int(frozen.argmax()), float(frozen.mean())
        yield DataIssue(
            FROZEN, 'effort', f'all efforts stand still while the arm moves in {frozen.sum()} '
            f'samples, first at {time[at]:.6g} s after the first', *_consequence(share))


def _consequence(share: float) -> tuple[str, float, Severity]:
    """Return remedy, value and severity of an issue of this share of the samples."""
    if share < MAX_FALSE_SHARE:
        return 'they are treated as gaps', share, Severity.WARNING
    return ('find out why the driver sends them, and leave these samples out of the file', share,
            Severity.ERROR)


def _false_efforts(recording: Recording) -> tuple[ndarray, ndarray]:
    """Return spikes (N, nv), and samples (N,) whose efforts are repeated."""
    effort = np.asarray(recording.effort)
    good = np.flatnonzero(np.isfinite(np.column_stack([
        effort, recording.position, recording.time])).all(1))
    spikes, frozen = np.zeros(effort.shape, bool), np.zeros(len(effort), bool)
    if len(good) > 2 * MAX_SPIKE_SAMPLES:
        spikes[good] = _spikes(effort[good])
        frozen[good] = _frozen(recording.time[good], recording.position[good], effort[good])
    return spikes, frozen


def _spikes(effort: ndarray) -> ndarray:
    """Return which efforts (N, nv) are far from the median of their neighbours."""
    away = np.abs(effort - median_filter(effort, (2 * MAX_SPIKE_SAMPLES + 1, 1), mode='nearest'))
    low, high = np.percentile(effort, [0.5, 99.5], axis=0)
    usual = np.percentile(away, SPIKE_QUANTILE, axis=0)
    return np.asarray((away > MIN_SPIKE_FACTOR * usual) & (away > MIN_SPIKE_SHARE * (high - low)))


def _frozen(time: ndarray, position: ndarray, effort: ndarray) -> ndarray:
    """Return which samples (N,) repeat all efforts of the one before in full motion."""
    frozen = np.zeros(len(time), bool)
    passed, steps = np.diff(time), np.abs(np.diff(position, axis=0))
    if not (passed > 0).any() or any(len(np.unique(e)) < MIN_LEVELS for e in effort.T):
        return frozen           # timing.py and signal_checks.py say so
    least = max(STEPS_BEFORE, round(FROZEN_TIME / float(np.median(passed[passed > 0]))))
    usual = np.sqrt(np.mean(steps**2, axis=0))
    same = np.concatenate([[False], (np.diff(effort, axis=0) == 0).all(1), [False]])
    edges = np.flatnonzero(np.diff(same.astype(int)))
    for start, end in zip(edges[::2].tolist(), edges[1::2].tolist()):
        moved = (steps[start:end].mean(0) > FULL_SPEED * usual) & (usual > 0)
        if end - start >= least and moved.any():
            frozen[start + 1:end + 1] = True
    return frozen
