# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Demo of an arm whose motors are on a CAN bus, on simulated time, in one process and without ROS.

It is what a person does with a new arm: scan, check, hold, float, push, follow, rest.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy import ndarray
from rich.console import Console

from .results import Check, Results, tables, Tracking
from ..control.references import sine_motion
from ..control.settings.settings import Settings
from ..control.settings.suggested_gains import suggest_gains
from ..control.steps import guard
from ..driver_loop import with_facts
from ..drivers.arm import load_arm
from ..drivers.bring_up import check, scan
from ..drivers.holding import compare, Held, hold
from ..dynamics import Dynamics
from ..errors import DemoError
from ..report.document import Report
from ..testing.desk_arm import Bench, POSES, RATE

FLOAT_TIME, COAST_TIME, FOLLOW_TIME = 2.0, 3.0, 4.0    # [s]
MAX_DRIFT = 0.1    # [rad] in FLOAT_TIME: codes of efforts are steps, and nothing sticks here
PUSH = 0.4    # [rad/s] that a push gives the first joint
MIN_PUSHED = 0.05    # [rad]
MAX_ERROR = 0.02    # [rad] RMS of all joints
MAX_LOWERING = 0.5    # [rad/s]


class RecordedBench(Bench):
    """A bench that records what it does, for the picture; a fault ends it."""

    def __init__(self, arm: str):
        super().__init__(load_arm(arm))
        self.times: list[float] = []
        self.rows: list[ndarray] = []       # positions and efforts, (2, nv)
        self.marks: list[tuple[float, str]] = []

    def cycle(self) -> None:
        """
        Run and record a cycle.

        :raises DemoError: there is a fault.
        """
        super().cycle()
        if self.phase == guard.FAULT:
            raise DemoError(self.controller.reason, name='arm',
                            remedy='file an issue with this line')
        self.times.append(self.bus.clock())
        self.rows.append(np.array([self.plant.q, self.controller.tau]))

    def mark(self, name: str) -> None:
        """Name what begins now, for the picture."""
        self.marks.append((self.bus.clock(), name))


def run(arm: str, output: Path, console: Console) -> int:
    """
    Run the demo of an arm by its name; return 0 if every check has passed, else 1.

    :raises UnknownNameError, ParameterError: there is no such arm, or it has other joints.
    """
    output.mkdir(parents=True, exist_ok=True)
    bench, results = RecordedBench(arm), Results()
    for name, step in (('scan: which motors are on the bus', _scan),
                       ('check: the file of the arm against their registers', _check),
                       ('hold: efforts of their springs against g(q)', _hold),
                       ('float: gravity compensation', _float), ('push: it coasts', _push),
                       ('follow: computed torque', _follow), ('rest: it is lowered', _rest)):
        console.print(f'{name} ...')
        results.checks += step(bench, results)
    shown = tables(bench.model, results)
    picture, page = output / f'{arm}_bus.png', output / f'{arm}_bus.html'
    _draw(bench, picture)
    report = Report(f'Demo: {bench.arm.name} on a bus', 'Simulated motors, on simulated time.',
                    verdict=results.verdict, bad=not results.passed)
    report.rich('', shown)
    report.picture('Positions and efforts', picture.read_bytes())
    report.write(page)
    console.print(shown)
    console.print(f'Picture: {picture}\nReport: {page}', soft_wrap=True)
    return 0 if results.passed else 1


def _scan(bench: RecordedBench, results: Results) -> list[Check]:
    found = scan(bench.bus, range(1, 17), type(bench.arm.motors[0].codec), clock=bench.bus.clock)
    wanted = len(bench.plant.motors)
    return [_checked('motors on the bus', len(found.motors), f'{wanted}',
                     len(found.motors) == wanted)]


def _check(bench: RecordedBench, results: Results) -> list[Check]:
    wrong = [row for row in check(bench.bus, bench.arm, bench.bus.clock) if row.right is False]
    return [_checked('entries that differ from registers', len(wrong), '0', not wrong)]


def _hold(bench: RecordedBench, results: Results) -> list[Check]:
    bench.connect(accept_unconfirmed=True)
    held: list[Held] = []
    for pose in POSES:
        bench.carry(pose)
        held.append(hold(bench.driver, lambda text: bench.support()))
    diagnosis = compare(bench.driver, bench.model, held)
    off = float(np.nanmax(np.abs(diagnosis.ratio - 1.0)))
    return [_checked('springs: measured effort off g(q) by', f'{off:.1%}', 'agrees',
                     diagnosis.agrees)]


def _float(bench: RecordedBench, results: Results) -> list[Check]:
    bench.carry(POSES[0])
    model, settings = with_facts(bench.driver.facts, bench.model, Settings(rate=RATE))
    bench.control(mode='gravity_compensation', motor_test_effort=0.0,   # `hold` has tested them
                  **suggest_gains(model, POSES[0], settings)._asdict())
    bench.mark('float')
    bench.start()
    before = bench.plant.q.copy()
    bench.run(FLOAT_TIME)
    results.drift = float(np.abs(bench.plant.q - before).max())
    return [_checked('floats: drift', f'{1e3 * results.drift:.2g} mrad', f'< {1e3 * MAX_DRIFT:g}',
                     results.drift < MAX_DRIFT)]


def _push(bench: RecordedBench, results: Results) -> list[Check]:
    bench.mark('push')
    before = bench.plant.q.copy()
    bench.plant.qd[0] += PUSH
    bench.run(COAST_TIME)
    moved = float(np.abs(bench.plant.q - before).max())
    return [_checked('pushed: moves by', f'{moved:.2g} rad', f'> {MIN_PUSHED:g}',
                     moved > MIN_PUSHED)]


def _follow(bench: RecordedBench, results: Results) -> list[Check]:
    bench.mark('follow')
    controller = bench.controller
    controller.use(replace(controller.settings, mode='computed_torque'))
    bench.run(1.0)
    asked = sine_motion.plan(Dynamics(bench.model), bench.plant.q.copy(), FOLLOW_TIME)
    start, first = bench.bus.clock() + 0.2, len(bench.rows)
    controller.follow(asked, start)
    bench.run(0.2 + float(asked.times[-1]))
    time = np.array(bench.times[first:]) - start
    rows, inside = np.array(bench.rows[first:]), time >= 0.0
    wanted = sine_motion.reference(bench.model, asked)(time[inside])
    results.trackings = [Tracking('computed_torque', time[inside], rows[inside, 0] - wanted,
                                  rows[inside, 1], rows[inside, 0])]
    rms = results.trackings[0].rms
    return [_checked('follows: RMS error', f'{1e3 * rms:.2g} mrad', f'< {1e3 * MAX_ERROR:g}',
                     rms < MAX_ERROR)]


def _rest(bench: RecordedBench, results: Results) -> list[Check]:
    bench.mark('rest')
    bench.controller.stop()
    fastest = bench.until(lambda: not (bench.controller.driving or bench.controller.asked))
    bench.reader.close()
    bench.bus.sleep(0.1)
    return [_checked('is lowered: velocity up to', f'{fastest:.2g} rad/s', f'< {MAX_LOWERING:g}',
                     fastest < MAX_LOWERING),
            _checked('motors that are on at the end', sum(m.on for m in bench.plant.motors), '0',
                     not any(motor.on for motor in bench.plant.motors))]


def _checked(what: str, measured: object, required: str, passed: bool) -> Check:
    return Check(what, str(measured), required, bool(passed))


def _draw(bench: RecordedBench, path: Path) -> None:
    """Draw positions and efforts of the joints over all steps of the controller."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 7), layout='constrained', dpi=110)
    zero = bench.marks[0][0]
    time, rows = np.array(bench.times) - zero, np.array(bench.rows)
    for axes, values, label in zip(figure.subplots(2, 1, sharex=True), rows.transpose(1, 0, 2),
                                   ('position [rad]', 'effort [N·m]')):
        axes.plot(time, values, lw=1.1, label=bench.model.joint_names)
        for begin, name in bench.marks:
            axes.axvline(begin - zero, color='black', lw=0.8, ls=':')
            axes.annotate(name, (begin - zero, 1.0), xycoords=('data', 'axes fraction'), va='top')
        axes.set(xlabel='time [s]', ylabel=label)
        axes.grid(alpha=0.25)
    figure.axes[0].legend(ncols=6, fontsize=8, loc='lower center')
    figure.savefig(path)
