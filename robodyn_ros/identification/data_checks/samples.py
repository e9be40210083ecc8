# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Checks of positions and stamps: jumps, frozen encoders, stamps with too few digits."""

from collections.abc import Iterator

import numpy as np
from numpy import ndarray

from .data_issue import DataIssue
from ...errors import Argument
from ...model.robot import RobotModel

MAX_SPEED_FACTOR = 3.0    # times the velocity limit
UNUSUAL_STEP = 10.0       # times the 99.5 % quantile of the steps of a joint
FROZEN_TIME = 0.1         # [s]; shorter, a sample was late or duplicated
STEPS_BEFORE = 5          # a freeze, from which the speed is computed
FULL_SPEED = 0.3          # of the RMS speed, from which no joint stops at once
MANY_FREEZES = 20         # from which on they are the way of recording
MAX_COARSE_STAMPS = 0.05  # share of samples that moved under the same stamp
TURN_TOLERANCE = 0.2      # [rad] between a jump and a full turn


def sample_issues(time: ndarray, position: ndarray, model: RobotModel) -> Iterator[DataIssue]:
    """
    Yield issues of positions (N, nv) at stamps (N,) [s].

    The checks use velocity limits and the statistics of the recording, not dynamics.
    """
    steps = np.diff(position, axis=0)
    passed = np.diff(time)
    if not (passed > 0).any():
        return          # timing.py says so
    period = float(np.median(passed[passed > 0]))
    yield from _stamps(passed, steps)
    for j, name in enumerate(model.joint_names):
        yield from _stood(time, steps, j, name, round(FROZEN_TIME / period))
    yield from _jumps(time, passed, steps, period, model)


def _stamps(passed: ndarray, steps: ndarray) -> Iterator[DataIssue]:
    """Yield stamps that stay the same while the joints move."""
    coarse = (passed == 0) & (steps != 0).any(1)
    share = float(np.mean(coarse))
    if share > MAX_COARSE_STAMPS:
        yield DataIssue(
            'stamps', 'time', f'{coarse.sum()} samples ({100 * share:.2g} %) have the '
            f'stamp of the one before, though the joints moved between them',
            ('the stamps have too few digits or stood still: write more of them, or give '
             'the sample rate (', Argument('rate', 500.0), ')'), share)


def _jumps(time: ndarray, passed: ndarray, steps: ndarray, period: float,
           model: RobotModel) -> Iterator[DataIssue]:
    """Yield joints that move further from one sample to the next than they can."""
    usual = np.percentile(np.abs(steps), 99.5, axis=0)
    limit = np.where(np.isfinite(model.velocity_limit) & (model.velocity_limit > 0),
                     MAX_SPEED_FACTOR * model.velocity_limit, 0.0)
    # A gap in the stamps explains a step of the position; a clock that was set back does not
    elapsed = np.maximum(passed, period)[:, None]
    unusual = UNUSUAL_STEP * usual * elapsed / period
    jumps = (np.abs(steps) > limit * elapsed) & (np.abs(steps) > unusual)
    together = jumps.sum(1) > model.nv / 2
    for j in np.flatnonzero(jumps.any(0)):
        at = int(np.flatnonzero(jumps[:, j])[0])
        name, size = model.joint_names[j], float(steps[at, j])
        if abs(abs(size) - 2 * np.pi) < TURN_TOLERANCE and not model.slides[j]:
            remedy = 'it was wrapped to a turn: unwrap it, as numpy.unwrap does'
        elif together[at] and model.nv > 1:
            remedy = 'samples were lost there: record stamps, or cut the file in two'
        else:
            remedy = 'leave these samples out of the file, or leave their cells empty'
        more = int(jumps[:, j].sum()) - 1
        yield DataIssue(
            'jump', name, f'{name} jumps by {size:.3g} at sample {at + 1}, '
            f'{time[at] - time[0]:.6g} s after the first'
            + (f', and {more} times more' if more else ''), remedy, size)


def _stood(time: ndarray, steps: ndarray, j: int, name: str, most: int) -> Iterator[DataIssue]:
    """
    Yield an encoder that freezes while its joint moves at full speed.

    A joint that comes to rest decelerates first, and so do rounded positions.

    :param most: equal samples in a row that are normal.
    """
    moves = np.abs(steps[:, j])
    usual = float(np.sqrt(np.mean(moves**2)))
    still = np.concatenate([[False], moves == 0, [False]])
    edges = np.flatnonzero(np.diff(still.astype(int)))
    starts, ends = edges[::2], edges[1::2]
    if not len(starts) or usual == 0:
        return
    # Positions that are held between slower updates stand again and again
    held = 4 * int(np.median(ends - starts)) if len(starts) > MANY_FREEZES else 0
    least = max(most, STEPS_BEFORE, held)
    for start, end in zip(starts.tolist(), ends.tolist()):
        before = steps[max(0, start - STEPS_BEFORE):start, j]
        if end - start >= least and len(before) == STEPS_BEFORE \
                and abs(before.mean()) > FULL_SPEED * usual:
            yield DataIssue(
                'stuck', name, f'the position of {name} stands at the same number for '
                f'{end - start + 1} samples, from {time[start] - time[0]:.6g} to '
                f'{time[end] - time[0]:.6g} s after the first, and was in full motion '
                f'just before', 'the encoder or its driver stood still: leave this '
                'stretch out of the file', float(time[end] - time[start]))
            return
