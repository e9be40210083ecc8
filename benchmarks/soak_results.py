# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Criteria of a soak test, evaluated on its recordings."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy import ndarray

from .native import Heard

TOGETHER = 0.002        # s between two stalls that are one of the machine
RUNNING = 'RUNNING'
MEMORY = 1024           # kB that the resident memory may grow by, less than
TOLD = 0.8              # diagnostics a second, at least


class Check(NamedTuple):
    """One thing that has to hold, and a sentence of what was seen."""

    passed: bool
    sentence: str


class Stalls(NamedTuple):
    """Where a loop came too late for points of its grid."""

    times: ndarray          # (M,) s, when it woke at last
    missed: ndarray         # (M,) points of the grid that were over by then
    largest: float          # s, the latest of all wake-ups, in time or not


def stalls(woke: ndarray, late: ndarray, period: float) -> Stalls:
    """Return the stalls of a loop that woke (N,) [s], so much later than its points (N,) [s]."""
    missed = np.rint(np.diff(woke - late) / period).astype(int) - 1
    after = np.flatnonzero(missed > 0)
    # The wake-up before a gap in the grid was so late that the points after its own were over
    return Stalls(woke[after], missed[after], float(late.max()))


def seen_by(theirs: ndarray, late: ndarray, stalled: Stalls, period: float) -> ndarray:
    """Return which of the stalls (M,) another loop had, too: woken (N,) [s], late by (N,) [s]."""
    slow = theirs[late > 0.5 * period]
    return np.array([bool(len(slow)) and bool(np.abs(slow - at).min() < TOGETHER)
                     for at in stalled.times], bool)


def published(woke: ndarray, heard: Heard) -> tuple[int, int, int]:
    """
    Return how many cycles there were, and how many efforts were published and heard of them.

    :param woke: (N,) when the cycles began [s]; the publisher's own numbers count what it
        published, whether it was heard or not.
    """
    first, last = np.searchsorted(heard.times * 1e-9, woke[[0, -1]])
    if first >= len(heard.times):
        return len(woke), 0, 0
    last = min(last, len(heard.times) - 1)      # where nothing came any more
    return (len(woke), int(heard.numbers[last] - heard.numbers[first]) + 1, int(last - first) + 1)


def judge(cycles: ndarray, heard: Heard, phases: Sequence[str], resident: Sequence[int],
          seconds: float, period: float, warm_up: float) -> list[Check]:
    """
    Judge a run.

    :param cycles: (N,) TIMING within the time that counts.
    :param phases: those that the controller has told, once a second.
    :param resident: its resident memory after the warm-up [kB].
    """
    points = int(np.rint(np.ptp(cycles['woke'] - cycles['wake_up']) / period)) + 1
    number, out, came = published(cycles['woke'], heard)
    gone = points - number
    others = sorted(set(phases) - {RUNNING})
    grown = max(resident) - resident[0] if resident else 0
    return [
        Check(gone == 0, f'{points} periods, {number} cycles: '
              + ('none was missed' if gone == 0 else f'{gone} were missed by lateness')),
        Check(out == number, f'{number} cycles, {out} efforts published: '
              + ('each published one' if out == number else f'{number - out} too few')),
        Check(came == out, f'{out} efforts published, {came} heard by an independent listener: '
              + ('none was lost' if came == out else f'{out - came} were lost')),
        Check(bool(phases) and not others and len(phases) >= TOLD * seconds - 2,
              f'{len(phases)} times in {seconds:.0f} s the controller has told its phase: '
              + (f'always {RUNNING}' if not others else f'also {", ".join(others)}')),
        Check(bool(resident) and grown < MEMORY,
              f'resident memory has grown by {grown} kB after a warm-up of {warm_up:.0f} s '
              f'(less than {MEMORY} kB is asked for)'),
    ]
