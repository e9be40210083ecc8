# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Checks of positions and stamps: jumps, frozen encoders, stamps with too few digits."""

from collections.abc import Iterator

import numpy as np
from numpy import ndarray

from ...errors import Argument
from ...model.robot import RobotModel
from .data_issue import DataIssue

FAST = 3.0          # times the velocity limit: faster is no motion
RARE = 10.0         # times what all but 0.5 % of the steps of a joint are below: no motion either
STOOD = 0.1         # [s] that a position is the same: shorter, a sample came late or twice
PACE = 5            # steps from which its speed just before is told
ENTERED = 0.3       # of the usual speed of a joint: faster, none stops between two samples
FEW = 20            # times that a position stood: so often, it is the way it is recorded
COARSE = 0.05       # of the samples: so many that moved without their stamp are no accident
TURN = 0.2          # [rad] by which a jump may differ from a turn and be one


def sample_issues(time: ndarray, position: ndarray, model: RobotModel) -> Iterator[DataIssue]:
    """
    Yield what is doubtful in the course of positions (N, nv) at stamps (N,) [s].

    Limits of speed and what is usual in the recording itself are asked, not the dynamics.
    """
    steps = np.diff(position, axis=0)
    passed = np.diff(time)
    if not (passed > 0).any():
        return          # timing.py says so
    period = float(np.median(passed[passed > 0]))
    yield from _stamps(passed, steps)
    for j, name in enumerate(model.joint_names):
        yield from _stood(time, steps, j, name, round(STOOD / period))
    yield from _jumps(time, passed, steps, period, model)


def _stamps(passed: ndarray, steps: ndarray) -> Iterator[DataIssue]:
    """Yield stamps with too few digits: the joints moved, and they did not."""
    coarse = (passed == 0) & (steps != 0).any(1)
    share = float(np.mean(coarse))
    if share > COARSE:
        yield DataIssue(
            'stamps', 'time', f'{coarse.sum()} samples ({100 * share:.2g} %) have the '
            f'stamp of the one before, though the joints moved between them',
            ('the stamps have too few digits or stood still: write more of them, or give '
             'the sample rate (', Argument('rate', 500.0), ')'), share)


def _jumps(time: ndarray, passed: ndarray, steps: ndarray, period: float,
           model: RobotModel) -> Iterator[DataIssue]:
    """Yield joints that go, from one sample to the next, further than they can."""
    usual = np.percentile(np.abs(steps), 99.5, axis=0)
    limit = np.where(np.isfinite(model.velocity_limit) & (model.velocity_limit > 0),
                     FAST * model.velocity_limit, 0.0)
    # What a gap in the stamps explains is no jump; a clock that was set back explains nothing
    elapsed = np.maximum(passed, period)[:, None]
    jumps = (np.abs(steps) > limit * elapsed) & (np.abs(steps) > RARE * usual * elapsed / period)
    together = jumps.sum(1) > model.nv / 2
    for j in np.flatnonzero(jumps.any(0)):
        at = int(np.flatnonzero(jumps[:, j])[0])
        name, size = model.joint_names[j], float(steps[at, j])
        if abs(abs(size) - 2 * np.pi) < TURN and model.joint_types[j] != 'prismatic':
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
    Yield an encoder that stands from one sample to the next while its joint was at full speed.

    A joint that comes to rest slows down first, and so do positions that are rounded.

    :param most: equal samples in a row that are no reason.
    """
    moves = np.abs(steps[:, j])
    usual = float(np.sqrt(np.mean(moves**2)))
    still = np.concatenate([[False], moves == 0, [False]])
    edges = np.flatnonzero(np.diff(still.astype(int)))
    starts, ends = edges[::2], edges[1::2]
    if not len(starts) or usual == 0:
        return
    # Positions that are held between slower updates stand again and again
    least = max(most, PACE, 4 * int(np.median(ends - starts)) if len(starts) > FEW else 0)
    for start, end in zip(starts.tolist(), ends.tolist()):
        before = steps[max(0, start - PACE):start, j]
        if end - start >= least and len(before) == PACE \
                and abs(before.mean()) > ENTERED * usual:
            yield DataIssue(
                'stuck', name, f'the position of {name} stands at the same number for '
                f'{end - start + 1} samples, from {time[start] - time[0]:.6g} to '
                f'{time[end] - time[0]:.6g} s after the first, and was in full motion '
                f'just before', 'the encoder or its driver stood still: leave this '
                'stretch out of the file', float(time[end] - time[start]))
            return
