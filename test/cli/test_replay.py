# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`robodyn replay` shows the cycle that went wrong, and says how it knows."""

import json
import sys

from flight_recorder.flights import about, eventful, MODEL, recording_rig
import numpy as np
import pytest
from robodyn_ros.cli.app import app
from robodyn_ros.flight_recorder import file
from typer.testing import CliRunner

pytest.importorskip('mcap', reason='needs pip install mcap')

pytestmark = pytest.mark.slow

WITHOUT = [sys.executable, '-c', 'import sys\n'
           'for name in sys.argv.pop(1).split(","): sys.modules[name] = None\n'
           'from robodyn_ros.cli import main\n'
           'sys.exit(main())']


def run(*words):
    return CliRunner().invoke(app, ['replay', *map(str, words)])


@pytest.fixture(scope='module')
def rig():
    rig = recording_rig(1500, mode='joint_impedance')
    eventful(rig)
    return rig


def first(s, n):
    """Return the first ``n`` cycles of a recording, which are soon recomputed."""
    return s._replace(cycles=s.cycles[:n], inputs=s.inputs[:n], state=s.state[:n],
                      memory=s.memory[:n + 1], vectors=s.vectors[:n + 1], tau=s.tau[:n + 1],
                      partner=s.partner[:n])


@pytest.fixture(scope='module')
def path(rig, tmp_path_factory):
    """Return a recording of 60 cycles."""
    path = tmp_path_factory.mktemp('flight') / 'flight.mcap'
    file.write(path, MODEL, first(rig.controller.history.take(), 60), about(rig.controller))
    return path


def test_shows_the_fault(rig, tmp_path):
    """Of the whole recording. What people read is on stderr, figures for a script on stdout."""
    path = tmp_path / 'flight.mcap'
    file.write(path, MODEL, rig.controller.history.take(), about(rig.controller))
    result = run(path, '--json')
    assert result.exit_code == 0, result.output
    said, found = result.stderr, json.loads(result.stdout)
    assert 'cycles agree bit by bit' in said and 'recomputed: all' in said
    assert 'RUNNING → FAULT, STALE_STATE: state is stale (joint1); mode computed_torque' in said
    row = next(line.split() for line in said.splitlines() if 'joint1 ' in line[:8])
    # joint, position, limits (3 words), reference, ..., age: just above the timeout
    assert row[2:5] == ['-3.1416', '…', '3.1416'] and 50.0 <= float(row[-1]) <= 51.0
    assert path.with_suffix('.png').read_bytes()[1:4] == b'PNG'
    assert found['faults'] and found['cycle'] == found['faults'][-1]
    assert found['agreeing'] == found['cycles'] > 100 and found['same_code']


def test_the_report_has_the_settings_and_the_curves(path, tmp_path):
    """As in the example of its help; settings are numbers, texts and tuples of them."""
    page = tmp_path / 'fault.html'
    result = run(path, '--report', page, '--picture', tmp_path / 'other.png')
    assert result.exit_code == 0, result.output
    text = page.read_text()
    assert 'position [rad | m]; dashed: reference' in text
    assert '<td>mode</td><td class=short>joint_impedance</td>' in text
    assert '<td>stiffness</td><td class=short>400.0</td><td class=short>100.0</td>' in text


def test_shows_another_cycle(path, tmp_path):
    result = run(path, '--cycle', 22, '--picture', tmp_path / 'other.png')
    assert 'cycle 22, 0.022000 s (2023-11-14 22:13:20.022000 UTC): RUNNING' in result.output
    assert (tmp_path / 'other.png').exists() and not path.with_suffix('.png').exists()
    result = run(path, '--cycle', 100_000)
    assert result.exit_code == 1 and 'cycles 0 to' in result.output


def test_tells_a_wrong_computation_from_another_machine(rig, tmp_path):
    path = tmp_path / 'flight.mcap'
    s = first(rig.controller.history.take(), 60)
    s.tau[30] += 1e-13
    file.write(path, MODEL, s, about(rig.controller))
    result = run(path, '--json')
    assert result.exit_code == 1, result.output
    assert 'the first difference is in cycle 29: tau' in result.stderr, result.output
    differing = json.loads(result.stdout)
    assert differing['agreeing'] < differing['cycles']
    file.write(path, MODEL, s, about(rig.controller, code='other', machine='Numba 0'))
    result = run(path)
    assert result.exit_code == 0 and 'last bits may differ' in result.output


def test_needs_no_ros_and_says_what_it_needs(start, path, monkeypatch):
    """An interpreter of its own: in that of the tests, ROS is imported."""
    process = start([*WITHOUT, 'rclpy,matplotlib'], 'replay', path)
    assert process.wait() == 0, process.text
    assert 'no picture' in process.text and 'all 60 cycles agree' in process.text
    for name in [name for name in sys.modules if name.partition('.')[0] == 'mcap']:
        monkeypatch.setitem(sys.modules, name, None)        # as if it were not installed
    result = run(path)
    assert result.exit_code == 1 and 'pip install mcap' in result.output


def test_refuses_what_is_none_and_what_is_empty(rig, tmp_path):
    path = tmp_path / 'flight.mcap'
    result = run(path)
    assert result.exit_code == 1 and 'robodyn: ' in result.output
    s = rig.controller.history.take()
    empty = first(s, 0)._replace(versions={}, points={})
    file.write(path, MODEL, empty, about(rig.controller))
    result = run(path)
    assert result.exit_code == 1 and 'holds no cycle' in result.output


def test_a_picture_that_cannot_be_written_is_one_line(path, tmp_path):
    result = run(path, '--picture', tmp_path / 'missing' / 'x.png')
    assert result.exit_code == 1 and '--picture' in result.output
    assert np.all([len(line) < 400 for line in result.output.splitlines()])
