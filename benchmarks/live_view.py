# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
What a live page costs a controller: `python -m benchmarks.live_view [--seconds N] [--turns N]`.

A simulated Panda moves under the controller at 1 kHz; in turns it is alone, or watched by `robodyn
view --live --allow-control`, whose page has one client that takes all of its pictures, as a
browser does, or beside a process that takes as much processor time as page and client, and knows
nothing of the controller. A compiled loop that only sleeps has the same priority on the same CPU.
Prints, for each turn, the missed periods, those of them that this loop did not miss, too, the p99
of the wake-up error, the pictures in a second and the processor time of what is beside, and writes
build/bench/live_view.json. Drawing is up to the browser, which is not measured.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
import json
import os
from pathlib import Path
import re
import shutil
import sys
import threading
import time
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy import ndarray
from robodyn_ros.catalog.robots import load_robot
from robodyn_ros.control.references import sine_motion as motion
from robodyn_ros.demo.run import environment
from robodyn_ros.dynamics import Dynamics
from robodyn_ros.nodes.clients.play import trajectory_message
from robodyn_ros.nodes.clients.processes import Child, ending_once, running
from robodyn_ros.nodes.middleware.client_session import Session, session
from robodyn_ros.realtime.scheduling import Scheduling
from robodyn_ros.realtime.statistics import load
from robodyn_ros.realtime.system_checks import attempt, REALTIME_PRIORITY
from trajectory_msgs.msg import JointTrajectory
import typer
import viser
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect
import zstandard

from . import pages
from .loop_peers import CONFIG
from .machine import conditions
from .plant import ROOT
from .soak import ARM
from .soak_results import seen_by, stalls
from .wakeup_node import ASLEEP

OUTPUT = ROOT / 'build' / 'bench'
RATE, SHORTEST = 1000.0, 4.0        # Hz; s of the motion
START, SETTLED = 180.0, 5.0         # s until the arm is driven, at most; s before a turn counts
# The simulator, which has no real-time loop, may be late on a busy machine: it is not measured
PATIENT = ('state_timeout', 1.0), ('late_limit', 100.0), ('missed_limit', 1000000)
ALONE, PAGE, WORK = 'alone', 'with the page', 'beside as much work'
PICTURES = 40.0                     # a second, of the page
POSES = b'SetOrientation'           # in messages with a picture
ZSTD = b'\x28\xb5\x2f\xfd'          # where what is compressed begins


class Turn(NamedTuple):
    """One turn, and what was measured: times on the monotonic clock [s]."""

    kind: str
    begin: float
    end: float
    pictures: float                 # a second
    cpu: float                      # processor time of what is beside, of one CPU


class Spectator:
    """Client of a page, which counts its pictures."""

    def __init__(self, address: str):
        self.count, self.cpu = 0, 0.0       # pictures, processor time [s]
        self._socket = connect(address.replace('http', 'ws'), origin=address, max_size=None,
                               subprotocols=[f'viser-v{viser.__version__}'])
        self._thread = threading.Thread(target=self._take)
        self._thread.start()

    def _take(self) -> None:
        try:
            for message in self._socket:
                packed = message[message.index(ZSTD):]
                self.count += POSES in zstandard.ZstdDecompressor().decompressobj(
                    ).decompress(packed)
                self.cpu = time.thread_time()
        except ConnectionClosed:
            pass

    def close(self) -> None:
        """Leave the page."""
        self._socket.close()
        self._thread.join()


@contextmanager
def viewing(folder: Path, env: dict[str, str]) -> Iterator[tuple[Spectator, Child]]:
    """Yield the client of a page, and the process of the page."""
    command = [sys.executable, '-m', 'robodyn_ros.cli', 'view', 'panda', '--live',
               '--allow-control', '--no-browser', '--port', '18190']
    with running({'view': command}, folder, env) as children:
        end = time.monotonic() + START
        while not (found := re.search(r'panda: (http://\S+)', children['view'].output)):
            children['view'].check()
            if time.monotonic() > end:
                raise RuntimeError(f'no page; see {children["view"].log}')
            time.sleep(0.1)
        client = Spectator(found[1])
        try:
            yield client, children['view']
        finally:
            client.close()


def processor_time(child: Child) -> float:
    """Return the processor time of a process and its threads so far [s]."""
    fields = Path(f'/proc/{child.pid}/stat').read_text().rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


class Moving:
    """Publisher that has the arm repeat a motion."""

    def __init__(self, here: Session):
        robot = load_robot('panda', {}, [])
        asked = motion.plan(Dynamics(robot.model), robot.pose, SHORTEST)
        self._message, self._length = trajectory_message(asked), float(asked.times[-1])
        self._here, self._due = here, 0.0
        self._publisher = here.node.create_publisher(
            JointTrajectory, '/controller/joint_trajectory', 1)

    def wait(self, until: float, child: Child) -> None:
        """Move until a time [s]."""
        while (now := time.monotonic()) < until:
            child.check()
            if 'FAULT' in child.output:
                raise RuntimeError(f'the arm has stopped; see {child.log}')
            if now > self._due:
                self._due = now + self._length + 0.1
                self._publisher.publish(self._message)
            self._here.poll()


def bench(seconds: Annotated[float, typer.Option(help='Of a turn.')] = 20.0,
          turns: Annotated[int, typer.Option(help='Of each kind.')] = 5,
          fifo: Annotated[bool, typer.Option(
              help=f'Ask for SCHED_FIFO {REALTIME_PRIORITY}, as on a robot.')] = True,
          output: Annotated[Path, typer.Option(help='Where results go.')] = OUTPUT,
          docs: Annotated[bool, typer.Option(
              '--docs', help='Copy the results to docs/, and write the figures in its pages '
              'anew.')] = False) -> None:
    """Measure, print, and write the result."""
    output = output.resolve()
    output.mkdir(parents=True, exist_ok=True)
    timing, sleeps = output / 'live_view.npz', output / 'live_view_sleeper.npy'
    for file in (timing, sleeps):
        file.unlink(missing_ok=True)
    cpu = max(os.sched_getaffinity(0))
    if fifo and (refused := attempt(Scheduling(REALTIME_PRIORITY, lock_memory=True)).refused):
        print('Not granted: ' + ' '.join(refused))
    env, done = environment(output), list[Turn]()
    os.environ.update(env)
    node = [sys.executable, '-m', 'robodyn_ros.nodes.{}', '--ros-args', '--params-file',
            str(CONFIG)]
    nodes = {name: [word.format(name) for word in node] for name in ('simulator', 'controller')}
    for name, value in (('urdf', 'panda'), ('autostart', 'true'), ('rate', RATE),
                        ('mode', 'joint_impedance'), ('arming_timeout', 60.0),
                        ('timing_file', timing), ('cpus', f'[{cpu}]'), *PATIENT,
                        *((('priority', REALTIME_PRIORITY), ('lock_memory', 'true')) if fifo
                          else ())):
        nodes['controller'] += ['-p', f'{name}:={value}']
    nodes['simulator'] += ['-p', 'command_timeout:=2.0']
    if fifo and shutil.which(ARM[0]):
        nodes['simulator'][:0] = ARM
    sleeper = {'sleeper': [sys.executable, '-m', 'benchmarks.wakeup_node', str(cpu),
                           str(REALTIME_PRIORITY if fifo else 0), str(sleeps)]}
    with ending_once(), running(nodes, output, env) as children, session('live_view') as here:
        arm, child, end = Moving(here), children['controller'], time.monotonic() + START
        while 'RUNNING' not in child.output:
            child.check()
            if time.monotonic() > end:
                raise RuntimeError(f'the arm is not driven; see {child.log}')
            here.poll()
        with running(sleeper, output, env) as more:
            while ASLEEP not in more['sleeper'].output:
                more['sleeper'].check()
                here.poll()
            for _ in range(turns):
                for kind in (ALONE, PAGE, WORK):
                    share = done[-1].cpu if kind == WORK else 0.0
                    done.append(_turn(kind, arm, child, seconds, output, env, share))
    recording = load(timing)
    found = {'machine': conditions(), 'rate': RATE, 'seconds': seconds,
             'scheduling': recording.about.scheduling,
             'rows': _judged(recording.cycles, np.load(sleeps), done)}
    (output / 'live_view.json').write_text(json.dumps(found, indent=1) + '\n')
    for row in found['rows']:
        print('{kind}: {missed} of {periods} periods missed, {own} of them beside a loop that '
              'sleeps in time, wake-up error p99 {p99:.0f} µs, {pictures:.1f} pictures/s, '
              '{cpu:.0%} of a CPU'.format(**row))
    if docs:
        pages.publish(output / 'live_view.json')


def _turn(kind: str, arm: Moving, child: Child, seconds: float, folder: Path,
          env: dict[str, str], share: float) -> Turn:
    def go(cpu: Callable[[], float] = float, pictures: Callable[[], int] = int) -> Turn:
        arm.wait(time.monotonic() + SETTLED, child)
        begin, used, count = time.monotonic(), cpu(), pictures()
        arm.wait(begin + seconds, child)
        end = time.monotonic()
        return Turn(kind, begin, end, (pictures() - count) / (end - begin),
                    (cpu() - used) / (end - begin))
    if kind == PAGE:
        with viewing(folder, env) as (client, page):
            return go(lambda: client.cpu + processor_time(page), lambda: client.count)
    if kind == WORK:
        command = [sys.executable, '-m', 'benchmarks.busy', str(share), str(PICTURES)]
        with running({'busy': command}, folder, env) as children:
            return go(lambda: processor_time(children['busy']))
    return go()


def _judged(cycles: ndarray, sleeper: ndarray, done: list[Turn]) -> list[dict[str, Any]]:
    rows, (there, late) = [], sleeper
    for turn in done:
        these = cycles[(cycles['woke'] >= turn.begin) & (cycles['woke'] < turn.end)]
        stalled = stalls(these['woke'], these['wake_up'], 1.0 / RATE)
        shared, missed = seen_by(there, late, stalled, 1.0 / RATE), int(stalled.missed.sum())
        rows.append({'kind': turn.kind, 'missed': missed,
                     'own': int(stalled.missed[~shared].sum()), 'periods': len(these) + missed,
                     'p99': 1e6 * float(np.percentile(these['wake_up'], 99)),
                     'pictures': turn.pictures, 'cpu': turn.cpu})
    return rows


if __name__ == '__main__':
    typer.run(bench)
