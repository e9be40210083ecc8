# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Many independent tasks in several processes."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
import multiprocessing
import signal
from typing import Any, TypeVar

from .errors import SimulationError

TASKS_AHEAD = 2         # submitted per process: Ctrl-C waits for no more
_tool: list[Any] = []   # of this process
Tool = TypeVar('Tool')
Argument = TypeVar('Argument')
Result = TypeVar('Result')


def in_processes(make: Callable[[], Tool], task: Callable[[Tool, Argument], Result],
                 arguments: Iterable[Argument], jobs: int) -> Iterator[Result]:
    """
    Yield ``task(tool, argument)`` of each argument, in the order in which the tasks end.

    :param make: returns the tool that all tasks of a process share, such as a compiled
        controller; it and ``task`` are pickled.
    :param jobs: number of processes; 1 runs the tasks in this process, in their order.
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
                        for argument in islice(left, TASKS_AHEAD * jobs - len(waiting))}
            if not waiting:
                return
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()
    except BrokenProcessPool as error:
        raise SimulationError('a process of --jobs has ended', name='--jobs', value=jobs,
                              remedy='run the command again; with --jobs 1 it shows the error'
                              ) from error
    finally:
        pool.shutdown(cancel_futures=True)


def _begin(make: Callable[[], Any]) -> None:
    """Make the tool of this process, which leaves Ctrl-C to its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _tool[:] = [make()]


def _run(task: Callable[[Any, Any], Any], argument: Any) -> Any:
    return task(_tool[0], argument)
