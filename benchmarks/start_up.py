# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Time from the start of a controller to RUNNING: `python -m benchmarks.start_up`.

Beside a simulated two_link, which runs all the time and takes a part of one CPU, controllers start
one after the other, in turns with an empty cache of machine code (cold) and with that of the user,
which has all (warm). The last column says how fast the machine was meanwhile: it is the time in
which Python counts to ten million.
"""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
import os
from pathlib import Path
import signal
import sys
import tempfile
import time

import numpy as np
from robodyn_ros.demo.run import environment
from robodyn_ros.nodes.clients.processes import Child, running

ROBOT = 'two_link'
READY, RUNNING = '[simulator]: simulator ready', '[controller]: RUNNING'
CACHE = 'ROBODYN_CACHE_DIR'
PATIENCE, POLL = 300.0, 0.005       # s
COUNT = 10_000_000


def node(name: str, *parameters: str) -> list[str]:
    """Return the command line of a node with parameters NAME:=VALUE."""
    return [sys.executable, '-m', f'robodyn_ros.nodes.{name}', '--ros-args',
            *(word for each in parameters for word in ('-p', each))]


def await_text(process: Child, text: str) -> None:
    """Wait until a process has printed a text."""
    end = time.monotonic() + PATIENCE
    while text not in process.output:
        process.check()
        if time.monotonic() > end:
            raise TimeoutError(f'no {text!r} within {PATIENCE:g} s:\n{process.output}')
        time.sleep(POLL)


def start(folder: Path, env: Mapping[str, str]) -> float:
    """Start a controller, wait until its arm is driven, and stop it; return the time [s]."""
    begin = time.monotonic()
    controller = Child('controller', node('controller', 'autostart:=true'),
                       folder / 'controller.log', env)
    try:
        await_text(controller, RUNNING)
        return time.monotonic() - begin
    finally:
        controller.stop()


def compilers(cache: str) -> Iterator[int]:
    """Yield the processes that go on compiling into a cache, though nobody waits for them."""
    for environ in Path('/proc').glob('[0-9]*/environ'):
        with suppress(OSError):         # it has ended meanwhile, or is somebody else's
            if f'{CACHE}={cache}'.encode() in environ.read_bytes().split(b'\0') \
                    and b'compile_others' in (environ.parent / 'cmdline').read_bytes():
                yield int(environ.parent.name)


def counting() -> float:
    """Return the time in which Python counts to COUNT [s]."""
    begin, number = time.perf_counter(), 0
    while number < COUNT:
        number += 1
    return time.perf_counter() - begin


def main(args: Sequence[str] | None = None) -> None:
    """Print a table of cold and warm starts."""
    parser = argparse.ArgumentParser(description=(__doc__ or '').strip().partition('\n')[0])
    parser.add_argument('--starts', type=int, default=5, help='cold and warm ones each')
    given = parser.parse_args(args)
    cold, warm, speed = list[float](), list[float](), list[float]()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        env = environment(folder)
        simulated = node('simulator', f'urdf:={ROBOT}', 'publish_description:=true')
        with running({'simulator': simulated}, folder, env) as nodes:
            await_text(nodes['simulator'], READY)
            start(folder, env)
            while [*compilers(env[CACHE])]:
                time.sleep(1.0)
            for k in range(given.starts):
                speed.append(counting())
                empty = str(folder / f'cache{k}')
                cold.append(start(folder, {**env, CACHE: empty}))
                for compiler in compilers(empty):
                    os.kill(compiler, signal.SIGKILL)
                warm.append(start(folder, env))
    print(f'| {given.starts} starts each, {os.cpu_count()} CPUs | median | shortest | longest | '
          f'counting |\n|---|---:|---:|---:|---:|')
    for kind, measured in (('cold', cold), ('warm', warm)):
        print(f'| {kind} | {np.median(measured):.2f} s | {min(measured):.2f} s | '
              f'{max(measured):.2f} s | {np.median(speed):.2f} s |')


if __name__ == '__main__':
    main()
