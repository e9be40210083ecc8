# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Many worlds in several processes; each outcome is a function of seed and index alone."""

from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
import multiprocessing
import signal

from .trial import Case, Outcome, Player
from ..errors import SimulationError

AHEAD = 2               # worlds that are handed out per process, for Ctrl-C to end soon
_here: list[Player] = []


def play_all(case: Case, indices: Iterable[int], jobs: int, *,
             specialize: bool = True) -> Iterator[Outcome]:
    """
    Yield the outcomes of worlds as they come in.

    :param jobs: processes; 1: this one.
    :raises RobodynError: the controller refuses the model or the settings; SimulationError: a
        process has ended.
    """
    if jobs == 1:
        yield from map(Player(case, specialize).play, indices)
        return
    pool = ProcessPoolExecutor(jobs, multiprocessing.get_context('spawn'), begin_worker,
                               (case, specialize))
    waiting, left = set[Future[Outcome]](), iter(indices)
    try:
        while True:
            waiting |= {pool.submit(_play, k) for k in islice(left, AHEAD * jobs - len(waiting))}
            if not waiting:
                return
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()
    except BrokenProcessPool as error:
        raise SimulationError('a process that played worlds has ended', name='--jobs', value=jobs,
                              remedy='run the command again, which resumes; with --jobs 1 it '
                              'shows the error') from error
    finally:
        pool.shutdown(cancel_futures=True)


def check(case: Case) -> None:
    """
    Raise what would end each process.

    :raises RobodynError: the controller refuses the model or the settings.
    """
    Player(case, specialize=False).modes        # noqa: B018  (each is checked)


def begin_worker(case: Case, specialize: bool) -> None:
    """Make the player of this process, which leaves Ctrl-C to its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)        # the parent decides
    _here[:] = [Player(case, specialize)]


def player_here() -> Player:
    """Return the player of this process."""
    return _here[0]


def _play(index: int) -> Outcome:
    return player_here().play(index)
