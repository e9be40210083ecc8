# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Several ways to compute one thing, timed in turn, so that the machine's moods hit all alike."""

from collections.abc import Callable, Mapping
import gc
from time import thread_time, thread_time_ns
from timeit import Timer
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray

STATES = 4          # whose inputs and results, even 32 x 32 matrices, stay in the fastest memory


class Missing(Exception):
    """Why somebody cannot take part, for a person to read."""


class Contestant(NamedTuple):
    """
    One way to compute one quantity.

    ``block(n)`` computes it about n times and returns the time of one [ns]: of the processor, so
    that what other processes take meanwhile does not count. ``answer(k)`` is what it finds for
    state k, in our order of joints.
    """

    block: Callable[[int], float]
    answer: Callable[[int], ndarray]


class States:
    """Random states (STATES, nv): q, v = q̇, w = q̈ or τ, each in [-3, 3] rad, m, s, N, N·m."""

    def __init__(self, nv: int):
        self.q, self.v, self.w = np.random.default_rng(1).uniform(-3, 3, (3, STATES, nv))

    def inputs(self, count: int) -> tuple[ndarray, ...]:
        """Return the first ``count`` of q, v, w."""
        return (self.q, self.v, self.w)[:count]


def from_python(statement: str, **names: Any) -> Callable[[int], float]:
    """Return the block of a statement of Python, which nothing but a loop surrounds."""
    timer = Timer(statement, globals=names, timer=thread_time)
    return lambda count: 1e9 * timer.timeit(count) / count


def timed(run: Callable[[int], Any], chunk: int = 1) -> Callable[[int], float]:
    """Return the block of what computes ``chunk`` times as many as it is told."""
    def block(count: int) -> float:
        calls = -(-count // chunk)
        begin = thread_time_ns()
        run(calls)
        return (thread_time_ns() - begin) / (calls * chunk)
    return block


def interleaved(contestants: Mapping[Any, Contestant], rounds: int, seconds: float
                ) -> dict[Any, ndarray]:
    """
    Return the times (rounds,) [ns] of each contestant, who take turns.

    :param seconds: about how long one of them computes before it is the next one's turn.
    """
    counts = {key: _count(contestant.block, seconds) for key, contestant in contestants.items()}
    times: dict[Any, list[float]] = {key: [] for key in contestants}
    gc.collect()
    gc.disable()
    try:
        for k in range(rounds):
            # Forth and back: what only one order would favour cancels
            for key in [*contestants][::1 if k % 2 else -1]:
                times[key].append(contestants[key].block(counts[key]))
    finally:
        gc.enable()
    return {key: np.array(series) for key, series in times.items()}


def _count(block: Callable[[int], float], seconds: float) -> int:
    """Return how many evaluations take about so long."""
    count, each = 1, block(1)
    while count * each < 0.3e9 * seconds:
        count *= 2
        each = block(count)
    return max(1, round(1e9 * seconds / each))
