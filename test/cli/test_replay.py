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


@pytest.fixture
def path(rig, tmp_path):
    path = tmp_path / 'flight.mcap'
    file.write(path, MODEL, rig.controller.history.take(), about(rig.controller))
    return path


def test_shows_the_fault(path):
    result = run(path)
    assert result.exit_code == 0, result.output
    assert 'cycles agree bit by bit' in result.output and 'recomputed: all' in result.output
    assert 'RUNNING → FAULT, STALE_STATE: state is stale (joint1); mode computed_torque' in \
        result.output
    row = next(line.split() for line in result.output.splitlines() if 'joint1 ' in line[:8])
    # joint, position, limits (3 words), reference, ..., age: just above the timeout
    assert row[2:5] == ['-3.1416', '…', '3.1416'] and 50.0 <= float(row[-1]) <= 51.0
    assert path.with_suffix('.png').read_bytes()[1:4] == b'PNG'


def test_a_script_reads_figures(rig, path):
    result = run(path, '--json')
    found = json.loads(result.stdout)
    assert result.exit_code == 0 and 'cycles agree bit by bit' in result.stderr
    assert found['faults'] and found['cycle'] == found['faults'][-1]
    assert found['agreeing'] == found['cycles'] > 100 and found['same_code']
    s = rig.controller.history.take()
    s.tau[300] += 1e-13
    file.write(path, MODEL, s, about(rig.controller))
    result = run(path, '--json')
    differing = json.loads(result.stdout)
    assert result.exit_code == 1 and differing['agreeing'] < differing['cycles']


def test_shows_another_cycle(path, tmp_path):
    result = run(path, '--cycle', 22, '--picture', tmp_path / 'other.png')
    assert 'cycle 22, 0.022000 s (2023-11-14 22:13:20.022000 UTC): RUNNING' in result.output
    assert (tmp_path / 'other.png').exists() and not path.with_suffix('.png').exists()
    result = run(path, '--cycle', 100_000)
    assert result.exit_code == 1 and 'cycles 0 to' in result.output


def test_tells_a_wrong_computation_from_another_machine(rig, path):
    s = rig.controller.history.take()
    s.tau[300] += 1e-13
    file.write(path, MODEL, s, about(rig.controller))
    result = run(path)
    assert result.exit_code == 1, result.output
    assert 'the first difference is in cycle 299: tau' in result.output, result.output
    file.write(path, MODEL, s, about(rig.controller, code='other', machine='Numba 0'))
    result = run(path)
    assert result.exit_code == 0 and 'last bits may differ' in result.output


def test_needs_no_ros_and_says_what_it_needs(start, path):
    process = start([*WITHOUT, 'rclpy,matplotlib'], 'replay', path)
    assert process.wait() == 0, process.text
    assert 'no picture' in process.text and 'STALE_STATE' in process.text
    process = start([*WITHOUT, 'mcap'], 'replay', path)
    assert process.wait() == 1 and 'pip install mcap' in process.text


def test_refuses_what_is_none_and_what_is_empty(rig, path):
    result = run(path.with_name('missing'))
    assert result.exit_code == 1 and 'robodyn: ' in result.output
    s = rig.controller.history.take()
    empty = s._replace(cycles=s.cycles[:0], state=s.state[:0], memory=s.memory[:1],
                       vectors=s.vectors[:1], tau=s.tau[:1], partner=s.partner[:0], versions={},
                       points={})
    file.write(path, MODEL, empty, about(rig.controller))
    result = run(path)
    assert result.exit_code == 1 and 'holds no cycle' in result.output


def test_a_picture_that_cannot_be_written_is_one_line(path, tmp_path):
    result = run(path, '--picture', tmp_path / 'missing' / 'x.png')
    assert result.exit_code == 1 and '--picture' in result.output
    assert np.all([len(line) < 400 for line in result.output.splitlines()])
