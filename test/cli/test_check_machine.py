# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`robodyn check-machine` on the machine of the tests; of the timing of a loop."""

import io
import json
import os
import sys

from cli.commands import done, refused
import numpy as np
import pytest
from rich.console import Console
from robodyn_ros.cli import check_machine
from robodyn_ros.realtime import system_checks
from robodyn_ros.realtime.statistics import no_cycles, save, TimingAbout
from robodyn_ros.realtime.system_checks import Fix

pytestmark = pytest.mark.slow
TIMING = 'check-machine', '--timing'


def verdict_is_reached(said):
    for part in ('This machine', 'real-time priority', 'Wake-ups: how late', 'no parameter set',
                 'plain, 1 kHz, ', 'plain, 4 kHz, ', 'cannot show rare latencies'):
        assert part in said
    assert sum(line.startswith('plain: ') for line in said.splitlines()) == 1


def test_a_script_reads_figures_and_people_a_verdict():
    """Rates and latencies are on stdout; what people read is on stderr."""
    result = done('check-machine', '--duration', '1', '--json')
    found, said = json.loads(result.stdout), result.stderr
    verdict_is_reached(said)
    assert 'DDS round trip, joint state' in said and 'skipped' not in said
    assert {'kernel', 'idle states'} <= set(found['facts'])
    levels = {row['level'] for row in found['sustained']}
    assert 'plain' in levels and len(found['wake_ups']) == 2 * len(levels)
    for row in found['wake_ups']:
        assert 0.0 < row['p50'] <= row['p99'] <= row['p99.9'] <= row['max']


def test_without_ros_the_round_trip_is_skipped(monkeypatch, tmp_path):
    """For as short as no command would, and without locking the memory, which takes seconds."""
    monkeypatch.setitem(sys.modules, 'rclpy', None)     # as if it were not installed
    monkeypatch.setattr(check_machine, 'ALL', check_machine.FIFO)
    monkeypatch.setenv('PATH', str(tmp_path))           # nor is cyclictest
    out = Console(file=io.StringIO(), width=100)
    found = check_machine.run(0.2, out)
    said = out.file.getvalue()
    verdict_is_reached(said)
    assert 'DDS round trip: skipped, rclpy is not installed' in said
    assert 'DDS round trip, joint state' not in said
    assert {row['loop'] for row in found['wake_ups']} == {'Python'}
    assert 'sudo apt install rt-tests' in said


def test_fixes_are_printed_or_run(tmp_path):
    missing = system_checks.missing()
    output = done('check-machine', '--fix').output
    assert ('Nothing is missing' in output) == (not missing)
    for fix in missing:
        assert f'{fix.name}, as root:' in output
        assert all(command in output for command in fix.commands)
    if os.geteuid() != 0:
        pytest.skip('asks for a password')
    made = tmp_path / 'made'
    assert system_checks.apply(Fix('a file', (f'touch {made}', f'test -e {made}'), '')) == ''
    assert made.exists()
    problem = system_checks.apply(Fix('none', ('echo broken >&2', 'false', f'rm {made}'), ''))
    assert problem == 'broken' and made.exists()


def test_a_machine_that_lacks_something_is_offered_it(tmp_path, monkeypatch):
    """Each is asked for; what is refused is not run, and a failure is said."""
    monkeypatch.setattr(system_checks, 'missing', lambda: [
        Fix('first', (f'touch {tmp_path}/first',), 'log in again'), Fix('second', ('false',), '')])
    asked = []
    for answer, created in ((False, False), (True, os.geteuid() == 0)):
        out = Console(file=io.StringIO(), width=100)
        if answer and os.geteuid() != 0:
            continue                        # it would ask for a password
        well = check_machine.offer_fixes(out, lambda text, a=answer: asked.append(text) or a)
        assert well != answer and (tmp_path / 'first').exists() == created
        assert 'og in again' in out.file.getvalue()
        assert ('failed: exit code 1' in out.file.getvalue()) == answer
    assert set(asked) == {'Run this command?'}


def recording(path, trigger='timer', n=2000):
    cycles = no_cycles(n)
    cycles['woke'] = 5.0 + 1e-3 * np.arange(n)
    cycles['wake_up'] = 1e-6 * np.arange(1, n + 1) if trigger == 'timer' else np.nan
    cycles['cycle'], cycles['age'] = 42e-6, 700e-6
    save(path, cycles, TimingAbout(1000.0, trigger, 'python', 'SCHED_FIFO 80', 2 * n, 3, 4, 5))


def test_the_report_shows_figures_and_histograms(tmp_path):
    recording(tmp_path / 'timing.npz')
    output = done(*TIMING, tmp_path / 'timing.npz', '--report', tmp_path / 'a.html').output
    assert '2000 cycles, the last of 4000, trigger timer' in output
    assert 'rate 1000.00 ± 0.00 Hz, nominally 1000' in output
    assert '3 overruns, 4 points of the grid missed, 5 samples lost' in output
    rows = {line.split()[0]: line.split() for line in output.splitlines() if line.strip()}
    assert rows['wake-up'][2:6] == ['1000.5', '1980.0', '1998.0', '2000.0']
    assert rows['cycle'][2:6] == 4 * ['42.0'] and rows['age'][4:7] == 3 * ['700.0']
    page = (tmp_path / 'a.html').read_text()
    assert all(f'{name}: histogram' in page for name in ('wake-up error', 'age of the state'))


def test_reports_without_a_grid_or_cycles(tmp_path):
    recording(tmp_path / 'timing.npz', 'state')
    output = done(*TIMING, tmp_path / 'timing.npz').output
    assert 'not measured with this trigger' in output and 'nominally' not in output
    recording(tmp_path / 'empty.npz', n=0)
    assert 'holds no cycle' in refused(*TIMING, tmp_path / 'empty.npz')
    assert 'different tasks' in refused(*TIMING, tmp_path / 'timing.npz', '--fix')
