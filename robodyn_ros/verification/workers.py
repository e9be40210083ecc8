# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Many worlds in several processes; each outcome is a function of seed and index alone."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from itertools import islice
import multiprocessing
import signal
from typing import Any, TypeVar

from .trial import Case, Outcome, Player
from ..errors import SimulationError

AHEAD = 2               # tasks that are handed out per process, for Ctrl-C to end soon
_here: list[Any] = []
Tool = TypeVar('Tool')
Argument = TypeVar('Argument')
Result = TypeVar('Result')


def in_processes(make: Callable[[], Tool], task: Callable[[Tool, Argument], Result],
                 arguments: Iterable[Argument], jobs: int) -> Iterator[Result]:
    """
    Yield the results of a task as they come in, one for each argument.

    :param make: makes what all tasks of a process use, such as a player; it and ``task`` are
        pickled.
    :param jobs: processes; 1: this one.
    :raises SimulationError: a process has ended.
    """
    if jobs == 1:
        tool = make()
        yield from (task(tool, argument) for argument in arguments)
        return
    pool = ProcessPoolExecutor(jobs, multiprocessing.get_context('spawn'), _begin, (make,))
    waiting, left = set[Future[Result]](), iter(arguments)
    try:
        while True:
            waiting |= {pool.submit(_run, task, argument)
                        for argument in islice(left, AHEAD * jobs - len(waiting))}
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


def play_all(case: Case, indices: Iterable[int], jobs: int, *,
             specialize: bool = True) -> Iterator[Outcome]:
    """
    Yield the outcomes of worlds as they come in.

    :raises RobodynError: the controller refuses the model or the settings; see
        :func:`in_processes`.
    """
    return in_processes(partial(Player, case, specialize), Player.play, indices, jobs)


def check(case: Case) -> None:
    """
    Raise what would end each process.

    :raises RobodynError: the controller refuses the model or the settings.
    """
    Player(case, specialize=False).modes        # noqa: B018  (each is checked)


def _begin(make: Callable[[], Any]) -> None:
    """Make what the tasks of this process use; it leaves Ctrl-C to its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)        # the parent decides
    _here[:] = [make()]


def _run(task: Callable[[Any, Any], Any], argument: Any) -> Any:
    return task(_here[0], argument)
