# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`make soak`: our two nodes for minutes at 1 kHz on a loaded machine; nothing may be missing."""

from collections.abc import Iterator
from contextlib import contextmanager
import json
import os
from pathlib import Path
import shutil
import sys
import time
from typing import Annotated, Any

from diagnostic_msgs.msg import DiagnosticArray
import numpy as np
from numpy import ndarray
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rich.console import Console
from robodyn_ros.cli import check_machine
from robodyn_ros.demo.run import environment
from robodyn_ros.nodes.clients.processes import Child, ending_once, running
from robodyn_ros.nodes.middleware.raw_subscription import LeftAlone, never_called
from robodyn_ros.realtime.scheduling import Scheduling
from robodyn_ros.realtime.statistics import load, save
from robodyn_ros.realtime.system_checks import attempt, REALTIME_PRIORITY
from std_msgs.msg import Float64MultiArray
import typer

from .loop_peers import CONFIG
from .native import Ear
from .plant import HEARD, ROOT
from .soak_results import Check, judge, RUNNING, seen_by, stalls
from .wakeup_node import ASLEEP

OUTPUT = ROOT / 'build' / 'soak'
RATE, JOINTS = 1000.0, 7
LONGEST = 16.0              # minutes: what a recording of the timing holds
START = 120.0               # s until the arm is driven, at most: where nothing is compiled yet
SETTLED = 1.0               # s after it before anything counts
LOOK = 1.0                  # s between two looks at the memory
WARM_UP = 60.0              # s before the memory counts, at most a third of the time
# Of the simulator, below the controller: a real arm does not wait for a processor that others use
ARM = ('chrt', '--fifo', str(REALTIME_PRIORITY // 2))
WIDTH = 100                 # of tables in a file
BUSY = """
import os
os.sched_setaffinity(0, {{{}}})
while True:
    pass
"""


def soak(minutes: Annotated[float, typer.Option(
             min=0.01, max=LONGEST, help='How long.')] = 10.0,
         data_path: Annotated[str, typer.Option(help='Of the controller.')] = 'auto',
         fifo: Annotated[bool, typer.Option(
             help=f'Ask for SCHED_FIFO {REALTIME_PRIORITY} and locked memory.')] = True,
         output: Annotated[Path, typer.Option(help='Where results go.')] = OUTPUT) -> None:
    """Run controller and simulator under load; exit code 0 if no effort was missing, else 1."""
    console = Console(highlight=False, markup=False, emoji=False,
                      width=None if sys.stdout.isatty() else WIDTH)
    output = output.resolve()
    output.mkdir(parents=True, exist_ok=True)
    env, seconds = environment(output), 60.0 * minutes
    os.environ.update(env)
    cpus = sorted(os.sched_getaffinity(0))
    mine, other = cpus[-1], cpus[0]
    say(console, f'{minutes:g} minutes at {RATE:g} Hz. The control thread runs on CPU {mine}, '
        'asked for '
        f'{f"SCHED_FIFO {REALTIME_PRIORITY} and locked memory" if fifo else "no priority"}; a '
        f'process that only computes, at normal priority, on CPU {other}'
        f'{", the only one there is" if mine == other else ""}; all else where the kernel likes.')
    if fifo and (refused := attempt(Scheduling(REALTIME_PRIORITY, lock_memory=True)).refused):
        say(console, 'Not granted: ' + ' '.join(refused))
    run = _Run(output, env, mine, other, fifo, data_path, seconds, min(WARM_UP, seconds / 3))
    if run.arm_first:
        say(console, f'The simulator, which stands for an arm, has SCHED_FIFO '
                     f'{REALTIME_PRIORITY // 2}.')
    with ending_once():
        run.go(lambda text: say(console, text))
    checks, figures = run.judged()
    check_machine.print_timing(run.window, console)
    for check in checks:
        say(console, f'{"passed" if check.passed else "FAILED"}: {check.sentence}.')
    say(console, _stalled(figures))
    passed = all(check.passed for check in checks)
    (output / 'soak.json').write_text(json.dumps(
        {'passed': passed, 'minutes': minutes, 'load average': os.getloadavg()[0], **figures,
         'checks': [check._asdict() for check in checks]}, indent=1) + '\n')
    say(console, f'{"Passed" if passed else "Failed"}; results and logs are in {output}.')
    raise typer.Exit(0 if passed else 1)


def say(console: Console, line: str) -> None:
    """Print a line as it is."""
    console.print(line, soft_wrap=True)


def _stalled(f: dict[str, Any]) -> str:
    return (f'Lateness: {f["missed"]} points of the grid were missed in {f["stalls"]} stalls; the '
            f'latest wake-up was {1e3 * f["largest"]:.3f} ms late. A loop that only sleeps, at '
            f'the same priority on the same CPU, missed {f["sleeper missed"]} points and was late '
            f'by {1e3 * f["sleeper largest"]:.3f} ms at most; {f["shared"]} of the '
            f'{f["stalls"]} stalls were its own, too: those are of the machine, or of its host.')


class _Run:
    """One soak: processes, what is heard and read of them, and what is left in files."""

    def __init__(self, output: Path, env: dict[str, str], mine: int, other: int, fifo: bool,
                 data_path: str, seconds: float, warm_up: float):
        self.output, self.env, self.mine, self.other = output, env, mine, other
        self.seconds, self.warm_up = seconds, warm_up
        self.priority, self.path = REALTIME_PRIORITY if fifo else 0, data_path
        self.arm_first = bool(shutil.which(ARM[0])) and not attempt(
            Scheduling(REALTIME_PRIORITY // 2)).refused
        self.timing, self.window = output / 'timing.npz', output / 'window.npz'
        self.sleeps = output / 'sleeper.npy'
        self.phases: list[str] = []
        self.resident: list[tuple[float, int]] = []     # s since the begin, kB
        for file in (self.timing, self.window, self.sleeps):
            file.unlink(missing_ok=True)

    def go(self, tell: Any) -> None:
        """Run it all; RuntimeError or DemoError if something does not start or ends too early."""
        nodes = {
            'simulator': [*(ARM if self.arm_first else ()), *self._node('simulator')],
            'controller': self._node(
                'controller', urdf='panda', autostart='true', data_path=self.path, rate=RATE,
                priority=self.priority, lock_memory='true' if self.priority else 'false',
                cpus=f'[{self.mine}]', arming_timeout='60.0', timing_file=self.timing)}
        load = {'busy': [sys.executable, '-c', BUSY.format(self.other)],
                'sleeper': [sys.executable, '-m', 'benchmarks.wakeup_node', str(self.mine),
                            str(self.priority), str(self.sleeps)]}
        with self._listening() as (ear, spin), running(nodes, self.output, self.env) as children:
            end = time.monotonic() + START
            while RUNNING not in self.phases[-1:]:
                spin()
                self._check(children, end)
            with running(load, self.output, self.env) as more:
                settled = time.monotonic() + SETTLED
                while time.monotonic() < settled or ASLEEP not in more['sleeper'].output:
                    spin()
                    self._check({**children, **more}, settled + START)
                tell('RUNNING: it counts from here.')
                self.phases.clear()
                self.begin, heard = time.monotonic(), ear.count
                while (now := time.monotonic()) < self.begin + self.seconds:
                    spin()
                    self._check({**children, **more}, np.inf)
                    if not self.resident or now >= self.begin + self.resident[-1][0] + LOOK:
                        self.resident.append((now - self.begin,
                                              resident(children['controller'].pid)))
                self.end, told = self.begin + self.seconds, len(self.phases)
                spin()
                time.sleep(0.1)         # what is under way
                self.heard = ear.heard(heard)
                del self.phases[told:]

    def judged(self) -> tuple[list[Check], dict[str, Any]]:
        """Return the checks and the figures; write the recording of the time that counts."""
        recording, period = load(self.timing), 1.0 / RATE
        woke = recording.cycles['woke']
        cycles = recording.cycles[(woke >= self.begin) & (woke < self.end)]
        save(self.window, cycles, recording.about)
        there, late = self._sleeper()
        ours = stalls(cycles['woke'], cycles['wake_up'], period)
        theirs = stalls(there, late, period)
        warm = [kb for since, kb in self.resident if since >= self.warm_up]
        checks = judge(cycles, self.heard, self.phases, warm, self.seconds, period, self.warm_up)
        return checks, {
            'data path': recording.about.data_path, 'scheduling': recording.about.scheduling,
            'missed': int(ours.missed.sum()), 'stalls': len(ours.times), 'largest': ours.largest,
            'shared': int(seen_by(there, late, ours, period).sum()), 'sleeper missed': int(
                theirs.missed.sum()), 'sleeper largest': theirs.largest,
            'resident kB': warm, 'efforts heard': len(self.heard.times)}

    def _sleeper(self) -> ndarray:
        columns = np.load(self.sleeps)
        return columns[:, (columns[0] >= self.begin) & (columns[0] < self.end)]

    def _node(self, name: str, **own: object) -> list[str]:
        return [sys.executable, '-m', f'robodyn_ros.nodes.{name}', '--ros-args', '--params-file',
                str(CONFIG), *(w for key, value in own.items() for w in ('-p', f'{key}:={value}'))]

    @contextmanager
    def _listening(self) -> Iterator[tuple[Ear, Any]]:
        rclpy.init(args=[])
        node, executor = rclpy.create_node('soak'), SingleThreadedExecutor()
        executor.add_node(node)
        node.create_subscription(DiagnosticArray, '/diagnostics', self._on_diagnostics, 10)
        efforts = node.create_subscription(Float64MultiArray, 'commands', never_called, HEARD,
                                           raw=True, callback_group=LeftAlone())
        ear = Ear(efforts.handle, JOINTS, round(1.2 * RATE * (self.seconds + START)))
        ear.open()
        try:
            yield ear, lambda: executor.spin_once(timeout_sec=0.2)
        finally:
            ear.close()
            executor.shutdown()
            node.destroy_node()
            rclpy.shutdown()

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            self.phases += [v.value for v in status.values if v.key == 'phase']

    @staticmethod
    def _check(children: dict[str, Child], end: float) -> None:
        for child in children.values():
            child.check()
        if time.monotonic() > end:
            raise RuntimeError(f'the arm is not driven; see {children["controller"].log}')


def resident(pid: int) -> int:
    """Resident memory of a process [kB]."""
    lines = Path(f'/proc/{pid}/status').read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith('VmRSS:'))


if __name__ == '__main__':
    typer.run(soak)
