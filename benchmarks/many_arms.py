# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
`python -m benchmarks.many_arms`: 1 to 8 simulated arms on one machine, each with its controller.

Each arm has a simulator and a controller of its own, in a namespace of its own, both at 1 kHz with
trigger *state*. What is counted comes from the controllers' diagnostics: states that arrived and
were answered, states that were lost (by their sequence numbers), periods, and the time from state
to effort; processor time and memory come from /proc.
"""

import os
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from diagnostic_msgs.msg import DiagnosticArray
from rich.console import Console
from rich.table import Table

from robodyn_ros.catalog.robots import load_robot, write_parameters
from robodyn_ros.demo.processes import ending_once
from robodyn_ros.nodes.client_session import Session, session

STARTING, ENDING = 180.0, 30.0      # s
TICKS = os.sysconf('SC_CLK_TCK')
# A busy machine loses states, which is what is measured: it is no fault here
TOLERANT = {'state_timeout': 1.0, 'missed_limit': 10**6, 'late_limit': 1.0, 'flight_recorder': 0.0,
            'autostart': True, 'trigger': 'state', 'robot_compensates_gravity': False}


class Row(NamedTuple):
    """Figures of a number of arms; times are the worst of all arms."""

    arms: int
    answered: float         # share of the states that were published
    rate: float             # Hz, of the slowest arm
    p99: float              # µs from state to effort
    controllers: float      # CPUs
    simulators: float       # CPUs
    memory: float           # MiB of a controller (proportional set size)
    faults: int


def main(robot: Annotated[str, typer.Argument(help='Robot of each arm.')] = 'panda',
         most: Annotated[int, typer.Option(min=1, help='Arms at last.')] = 8,
         seconds: Annotated[float, typer.Option(help='Of each measurement.')] = 10.0,
         rate: Annotated[float, typer.Option(help='Of states and controllers [Hz].')] = 1000.0
         ) -> None:
    """Measure 1, 2, 4, ... arms and print a table."""
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 120)
    console.print(f'{os.cpu_count()} CPUs, load average {os.getloadavg()[0]:.1f} at the beginning')
    numbers = sorted({n for n in (1, 2, 3, 4, 6, 8, 12, 16) if n < most} | {most})
    rows = []
    for n in numbers:
        rows.append(measure(robot, n, seconds, rate))
        console.print(f'{rows[-1]}, load average {os.getloadavg()[0]:.1f}')
    table = Table(*('arms', 'answered', 'slowest arm [Hz]', 'p99 [µs]', 'CPUs: controllers',
                    'simulators', 'MiB a controller', 'faults'))
    for r in rows:
        table.add_row(str(r.arms), f'{r.answered:.3%}', f'{r.rate:.0f}', f'{r.p99:.0f}',
                      f'{r.controllers:.2f}', f'{r.simulators:.2f}', f'{r.memory:.0f}',
                      str(r.faults))
    console.print(table)


def measure(robot: str, arms: int, seconds: float, rate: float) -> Row:
    """Start the arms, let them hold for a while, and return what that took."""
    found = load_robot(robot, {}, ())
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        stack.enter_context(ending_once())
        write_parameters(folder / 'parameters.yaml', {
            'controller': {**found.parameters['controller'], **TOLERANT, 'rate': rate,
                           'mode': 'joint_impedance', 'urdf': str(found.path)},
            'simulator': {**found.parameters['simulator'], 'rate': rate}})
        names = [f'arm{i + 1}' for i in range(arms)]
        processes = {(kind, name): stack.enter_context(_Node(kind, name, folder))
                     for name in names for kind in ('simulator', 'controller')}
        here = stack.enter_context(session('many_arms', sim_time=False, arguments=[]))
        reports = _Reports(here, names)
        if not here.until(lambda: reports.phases() <= {'RUNNING', 'FAULT'}, STARTING):
            raise SystemExit(f'not all arms run: {reports.phases()}')
        begin, used = reports.fresh(), {key: p.used() for key, p in processes.items()}
        at = time.monotonic()
        here.until(lambda: False, seconds)
        elapsed = time.monotonic() - at
        spent = {key: p.used() - used[key] for key, p in processes.items()}
        memory = max(p.memory() for (kind, _), p in processes.items() if kind == 'controller')
        return _row(arms, begin, reports.fresh(), spent, elapsed, memory)


def _row(arms: int, begin: dict, end: dict, spent: dict, elapsed: float, memory: float) -> Row:
    def grown(key: str, name: str) -> float:
        return float(end[name][key]) - float(begin[name][key])
    accepted = {name: grown('accepted samples', name) for name in end}
    lost = sum(grown('lost samples', name) for name in end)
    cpus = {kind: sum(s for (k, _), s in spent.items() if k == kind) / elapsed
            for kind in ('controller', 'simulator')}
    between = {name: end[name]['at'] - begin[name]['at'] for name in end}
    return Row(arms, sum(accepted.values()) / max(1.0, sum(accepted.values()) + lost),
               min(accepted[name] / between[name] for name in end),
               max(float(end[name]['state to effort p99 [us]']) for name in end),
               cpus['controller'], cpus['simulator'], memory,
               sum(end[name]['phase'] == 'FAULT' for name in end))


class _Node:
    """A node of this package as a process that ends with the context."""

    def __init__(self, kind: str, name: str, folder: Path):
        self._command = [
            sys.executable, '-m', f'robodyn_ros.nodes.{kind}', '--ros-args', '-r',
            f'__ns:=/{name}', '--params-file', str(folder / 'parameters.yaml'),
            '--log-level', 'error']

    def __enter__(self) -> '_Node':
        self._process = subprocess.Popen(self._command, stdin=subprocess.DEVNULL)
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(ENDING)
        except subprocess.TimeoutExpired:
            self._process.kill()

    def used(self) -> float:
        """Return the processor time so far [s]."""
        fields = Path(f'/proc/{self._process.pid}/stat').read_text().rpartition(')')[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def memory(self) -> float:
        """Return the proportional set size [MiB]."""
        text = Path(f'/proc/{self._process.pid}/smaps_rollup').read_text()
        return next(int(line.split()[1]) for line in text.splitlines()
                    if line.startswith('Pss:')) / 1024


class _Reports:
    """Latest diagnostics of each arm."""

    def __init__(self, here: Session, names: list[str]):
        self._here, self._names = here, names
        self._latest: dict[str, dict] = {}
        here.node.create_subscription(DiagnosticArray, '/diagnostics', self._on, 100)

    def phases(self) -> set[str]:
        """Return the phases of all arms."""
        return {self._latest.get(name, {}).get('phase', '') for name in self._names}

    def fresh(self) -> dict[str, dict]:
        """Return new reports of all arms."""
        self._latest = {}
        self._here.until(lambda: all('state to effort p99 [us]' in self._latest.get(name, {})
                                     for name in self._names), STARTING)
        return dict(self._latest)

    def _on(self, message: DiagnosticArray) -> None:
        for status in message.status:
            name = status.name.partition('/')[0]
            self._latest.setdefault(name, {}).update(
                {pair.key: pair.value for pair in status.values}, at=time.monotonic())


if __name__ == '__main__':
    typer.run(main)
