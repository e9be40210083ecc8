# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
The hunt for a stream that a decoder cannot take, and the replay of all that it has found.

Run as a program, this is the process in which atheris hunts: its arguments are those of libFuzzer,
which ends it. What is instrumented is the plain form. The machine code is there before that, so it
is the same as everywhere else.
"""

from collections.abc import Callable, Iterator, Sequence
import os
from pathlib import Path
from random import Random
import re
import subprocess
import sys
import time
import traceback
from types import FunctionType
from typing import NamedTuple

from fuzz.campaign import limit_memory
from fuzz.judge import Canary, FAILED, VALID, Verdict
from fuzz.wire.judge import Judge
from fuzz.wire.streams import KINDS, LONGEST_INPUT, mutated, seed_stream
from robodyn_ros.wire import cdr, decoders, joint_trajectory
from robodyn_ros.wire.compile import compiled_decoders
from robodyn_ros.wire.joint_trajectory import JointTrajectoryMessage

TEST = Path(__file__).resolve().parents[2]
SEEDS = 60              # streams to begin with
RUNS = 20_000           # executions of each process in a round
SLOWEST = 60            # [s] for one execution; they take a millisecond
BLIND = 0.2             # of the mutations are libFuzzer's own, which know nothing of streams
STATUS = re.compile(rb'^#(\d+)\s.*?cov: (\d+) ft: (\d+) corp: (\d+)', re.MULTILINE)

_judges: list[Judge] = []


def verdict(data: bytes, judge: Callable[[], Judge] = Judge) -> Verdict:
    """Judge a stream in this process, whose judge is made once."""
    if not _judges:
        _judges.append(judge())
    try:
        _judges[0](data)
    except Exception:
        return Verdict(FAILED, traceback.format_exc())
    return Verdict(VALID)


def made(seed: int, index: int) -> bytes:
    """Return stream number ``index``; below 0, one that is as it should be."""
    random = Random(f'{seed}/{index}')
    data = seed_stream(random)
    for _ in range(random.choice((0, 1, 2, 4)) if index >= 0 else 0):
        data = mutated(data, random)
    return data


def judged(seed: int, index: int, canary: Canary) -> Verdict:
    """Judge a stream that anybody can make again, for :func:`fuzz.campaign.campaign`."""
    return verdict(made(seed, index))


def replayed(files: Sequence[Path], seed: int, index: int, canary: Canary) -> Verdict:
    """Judge what a file holds, for :func:`fuzz.campaign.campaign`."""
    return verdict(made(seed, -1) if index < 0 else files[index].read_bytes())


class Round(NamedTuple):
    """Executions of one process, and what libFuzzer says of its coverage after them."""

    executions: int
    branches: int       # of the plain form that have been taken
    features: int       # the same, with how often each was taken in one stream
    corpus: int         # streams kept: each has a feature that no smaller one has


def prepare(folder: Path, seed: int) -> None:
    """Write streams to begin with, one of each kind at least; compile what will be called."""
    for name in ('corpus', 'seeds', 'failures'):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for k in range(SEEDS):
        stream = seed_stream(Random(f'{seed}/{k}'), KINDS[k % len(KINDS)])
        (folder / 'seeds' / f'{k}').write_bytes(stream)
    compiled_decoders()


def hunt(folder: Path, seed: int, jobs: int, until: float, runs: int = RUNS,
         ) -> Iterator[list[Round]]:
    """
    Yield what each process has reached after each round, until none reaches more.

    They share ``folder/corpus``, which the next hunt begins with.

    :param until: ``time.monotonic()`` at which the last round ends, whatever it brings.
    :raises Failure: a stream that may not be, in ``folder/failures``.
    """
    most = 0, 0
    number = 0
    while (left := int(until - time.monotonic())) > 0:
        begun = len([*(folder / 'corpus').iterdir()]) + SEEDS
        processes = [_start(folder, seed + 1 + number * jobs + k, begun + runs, left, k)
                     for k in range(jobs)]
        try:
            codes = [process.wait() for process in processes]
        finally:
            for process in processes:
                process.kill()
                process.wait()
        logs = [(folder / f'{k}.log').read_bytes() for k in range(jobs)]
        for code, log in zip(codes, logs):
            if code:
                raise Failure(code, log.decode(errors='replace'), folder)
        rounds = [Round(*map(int, STATUS.findall(log)[-1])) for log in logs]
        yield rounds
        reached = max(r.branches for r in rounds), max(r.features for r in rounds)
        if reached <= most:
            return
        most, number = max(most, reached), number + 1


class Failure(Exception):
    """A process that hunts has ended with ``code``; ``file`` holds what it could not take."""

    def __init__(self, code: int, log: str, folder: Path):
        said = re.search(r'^ === .*?(?=^==)', log, re.MULTILINE | re.DOTALL)
        super().__init__(f'exit code {code}:\n{said[0] if said else log[-3_000:]}')
        # Died in a C library, it could not say so.
        written = re.search(r'Test unit written to (.*)', log)
        self.file = Path(written[1]) if written else folder / 'failures' / 'crash-*'


def _start(folder: Path, seed: int, runs: int, seconds: int, k: int) -> subprocess.Popen[bytes]:
    paths = [str(TEST), os.environ.get('PYTHONPATH', '')]
    with (folder / f'{k}.log').open('wb') as log:
        return subprocess.Popen(
            [sys.executable, '-m', 'fuzz.wire.hunt', f'-runs={runs}', f'-seed={seed}',
             f'-max_total_time={seconds}', f'-max_len={LONGEST_INPUT}', f'-timeout={SLOWEST}',
             '-len_control=0', f'-artifact_prefix={folder / "failures"}/',
             str(folder / 'corpus'), str(folder / 'seeds')],
            stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
            env={**os.environ, 'PYTHONPATH': os.pathsep.join(filter(None, paths))})


def main() -> None:
    """Hunt, instrumented."""
    import atheris

    def mutate(data: bytes, longest: int, seed: int) -> bytes:
        random = Random(seed)
        return (atheris.Mutate(data, longest) if random.random() < BLIND
                else mutated(data, random, longest))
    judge = Judge()
    for kind in KINDS:
        judge(seed_stream(Random(0), kind))
    for owner in (cdr, decoders, joint_trajectory, JointTrajectoryMessage):
        for f in list(vars(owner).values()):
            if isinstance(f, FunctionType) and f.__module__.startswith('robodyn_ros.wire'):
                atheris.instrument_func(f)
    limit_memory()
    atheris.Setup(sys.argv, judge, custom_mutator=mutate)
    atheris.Fuzz()


if __name__ == '__main__':
    main()
