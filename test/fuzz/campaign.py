# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Many mutants, judged in processes that may die or hang: who does is named, and the rest goes on.

The deadline is a detector of hangs, no measure of speed: it is far above what any mutant takes.
"""

from collections.abc import Callable, Iterator, Sequence
import faulthandler
import multiprocessing
from multiprocessing.connection import Connection, wait
import os
from pathlib import Path
import resource
import signal
from tempfile import TemporaryDirectory
import time

from fuzz.judge import Canary, FAILED, judge, Verdict
from fuzz.mutants import Mutant, mutant
from robots import ARM

DEADLINE = 60.                  # [s] for one mutant
STARTING = 10 * DEADLINE        # [s] for a process to be ready: it may have to compile
MEMORY = 1 << 30                # [bytes] that judging may take in addition to the start

Judge = Callable[[int, int, Canary], Verdict]


def judged(seed: int, index: int, canary: Canary) -> Verdict:
    """Judge mutant number ``index``; below 0, a robot that is as it should be."""
    return judge(Mutant(ARM, {}, ()) if index < 0 else mutant(seed, index), canary)


def campaign(seed: int, indices: Sequence[int], jobs: int, *, deadline: float = DEADLINE,
             judge: Judge = judged) -> Iterator[tuple[int, Verdict]]:
    """Yield index and verdict of each mutant, as they come in."""
    with TemporaryDirectory() as folder:
        workers = [_Worker(seed, indices[i::jobs], Path(folder), judge)
                   for i in range(min(jobs, len(indices)))]
        try:
            while workers:
                ready = wait([worker.receiver for worker in workers], timeout=0.2)
                for worker in workers[:]:
                    if worker.receiver not in ready and time.monotonic() < worker.until:
                        continue
                    verdict = worker.verdict(hangs=worker.receiver not in ready)
                    worker.until = time.monotonic() + deadline
                    if verdict is not None:
                        yield worker.indices.pop(0), verdict
                    if not worker.indices or worker.ended:
                        workers.remove(worker)
                        worker.end()
                        if worker.indices:
                            workers.append(_Worker(seed, worker.indices, Path(folder), judge))
        finally:
            for worker in workers:
                worker.end()


def limit_memory() -> None:
    """Let this process take no more than MEMORY in addition, and leave no core behind."""
    with open('/proc/self/statm') as statm:
        now = int(statm.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + MEMORY, now + MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class _Worker:
    """A process that judges mutants one after the other."""

    def __init__(self, seed: int, indices: Sequence[int], folder: Path, judge: Judge):
        self.indices, self.ended, self._begun = list(indices), False, False
        self._output = folder / f'{time.monotonic_ns()}.txt'
        context = multiprocessing.get_context('spawn')
        self.receiver, sender = context.Pipe(duplex=False)
        self._process = context.Process(target=_work, daemon=True, args=(
            seed, self.indices, self._output, sender, judge))
        self._process.start()
        sender.close()
        self.until = time.monotonic() + STARTING

    def verdict(self, hangs: bool) -> Verdict | None:
        """Return what the process says, None for that it begins; or say that it is at its end."""
        try:
            if not hangs:
                said = self.receiver.recv()
                self._begun = True
                return said
        except EOFError:
            pass
        self.ended = True
        last = self.end()
        if not self._begun:
            raise RuntimeError(f'a process could not begin:\n{last}')
        what = 'hangs' if hangs else f'has died (exit code {self._process.exitcode})'
        return Verdict(FAILED, f'{what}:\n{last}')

    def end(self) -> str:
        """End the process, whatever it does; return where it was and the last that it said."""
        if self._process.is_alive():
            self._process.join(0 if self.indices else 5)
        if self._process.is_alive():
            os.kill(self._process.pid or 0, signal.SIGABRT)     # faulthandler says where it is
            self._process.join(5)
        self._process.kill()
        self._process.join()
        self.receiver.close()
        said = self._output.read_text(errors='replace') if self._output.exists() else ''
        return said.partition('\nExtension modules: ')[0][-3_000:]     # which a trace ends with


def _work(seed: int, indices: Sequence[int], output: Path, sender: Connection,
          judge: Judge) -> None:
    """Send None, and then a verdict on each mutant."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)        # Ctrl-C is the parent's business
    file = os.open(output, os.O_RDWR | os.O_CREAT | os.O_APPEND)
    os.dup2(file, 1)
    os.dup2(file, 2)
    faulthandler.enable(2)
    canary = Canary(output.parent, output.stem)
    judge(seed, -1, canary)             # what is imported and compiled once is no part of it
    limit_memory()
    os.ftruncate(file, 0)
    sender.send(None)
    for index in indices:
        verdict = judge(seed, index, canary)
        if printed := os.pread(file, 1_000, 0):
            verdict = Verdict(FAILED, f'{verdict.complaint} printed {printed!r}')
            os.ftruncate(file, 0)
        sender.send(verdict)
