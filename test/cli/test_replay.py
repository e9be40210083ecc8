# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`robodyn replay` shows the cycle that went wrong, and says how it knows."""

import json
import re
import sys

from cli.commands import done, refused, robodyn
from control.rig import TWO_LINK as MODEL
from flight_recorder.flights import about, eventful
import pytest
from robodyn_ros.flight_recorder import file
from viewer.browser import check_report

pytest.importorskip('mcap', reason='needs pip install mcap')

pytestmark = pytest.mark.slow


@pytest.fixture(scope='module')
def rig():
    return eventful(1500)


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
    result = done('replay', path, '--json')
    said, found = result.stderr, json.loads(result.stdout)
    assert 'cycles agree bit by bit' in said and 'recomputed: all' in said
    assert 'RUNNING → FAULT, STALE_STATE: state is stale (joint1); mode computed_torque' in said
    row = next(line.split() for line in said.splitlines() if 'joint1 ' in line[:8])
    # joint, position, limits (3 words), reference, ..., age: just above the timeout
    assert row[2:5] == ['-3.1416', '…', '3.1416'] and 50.0 <= float(row[-1]) <= 51.0
    assert path.with_suffix('.png').read_bytes()[1:4] == b'PNG'
    assert found['faults'] and found['cycle'] == found['faults'][-1]
    assert found['agreeing'] == found['cycles'] > 100 and found['same_code']


def test_the_report_and_other_cycles(path, tmp_path):
    # As in the example of its help; settings are numbers, texts and tuples of them.
    page = tmp_path / 'fault.html'
    done('replay', path, '--report', page, '--picture', tmp_path / 'other.png')
    text = page.read_text()
    assert 'joint1 position: 0.3 to ' in text and ' rad, limits ±3.142' in text
    assert f'<td>{path}</td><td class=short>sha256 ' in text
    assert '<td>mode</td><td class=short>joint_impedance</td>' in text
    assert '<td>stiffness</td><td class=short>400.0</td><td class=short>100.0</td>' in text
    output = done('replay', path, '--cycle', 22, '--picture', tmp_path / 'other.png').output
    assert 'cycle 22, 0.022000 s (2023-11-14 22:13:20.022000 UTC): RUNNING' in output
    assert (tmp_path / 'other.png').exists() and not path.with_suffix('.png').exists()


def test_the_report_fits_a_telephone_and_two_sheets(rig, path, browser, tmp_path):
    """Also where time jumps, and with another run drawn over it."""
    s = rig.controller.history.take()
    s.cycles['now'][len(s.cycles) // 2:] += 1.7e9
    file.write(tmp_path / 'fault.mcap', MODEL, s, about(rig.controller, code='other'))
    page = tmp_path / 'fault.html'
    output = done('replay', tmp_path / 'fault.mcap', '--overlay', path, '--report', page).output
    assert f'time jumps in cycle {len(s.cycles) // 2} by +1700000000.0' in output
    plot = json.loads(re.search('application/json">(.*?)</script>', page.read_text())[1])[0]
    assert plot['data'][0]['x'][-1] < 60.0 and plot['data'][-1]['line']['dash'] == 'dot'
    assert '</i>RUNNING</span>' in page.read_text()
    assert '#2a9d5c' in [one.get('fillcolor') for one in plot['layout']['shapes']]
    check_report(browser, page, 2)


def test_tells_a_wrong_computation_from_another_machine(rig, tmp_path):
    path = tmp_path / 'flight.mcap'
    s = first(rig.controller.history.take(), 60)
    s.tau[30] += 1e-13
    file.write(path, MODEL, s, about(rig.controller))
    result = robodyn('replay', path, '--json')
    assert result.exit_code == 1, result.output
    assert 'the first difference is in cycle 29: tau' in result.stderr, result.output
    differing = json.loads(result.stdout)
    assert differing['agreeing'] < differing['cycles']
    s.cycles['now'][40] = 0.0           # a state without a stamp, in old recordings
    file.write(path, MODEL, s, about(rig.controller, code='other', machine='Numba 0'))
    output = done('replay', path).output
    assert 'last bits may differ' in output
    assert '60 cycles, 0.098 s' in output and 'time jumps in cycle 40 by -0.039 s' in output


def without(monkeypatch, package):
    """Let imports of a package and its modules fail, as if it were not installed."""
    for name in {package, *(n for n in sys.modules if n.partition('.')[0] == package)}:
        monkeypatch.setitem(sys.modules, name, None)


def test_needs_no_ros_and_says_what_it_needs(path, monkeypatch):
    """The flight recorder imports no ROS (import-linter); the command is imported anew."""
    monkeypatch.delitem(sys.modules, 'robodyn_ros.cli.replay', raising=False)
    without(monkeypatch, 'rclpy')
    without(monkeypatch, 'matplotlib')
    output = done('replay', path).output
    assert 'no picture' in output and 'all 60 cycles agree' in output
    without(monkeypatch, 'mcap')
    assert 'pip install mcap' in refused('replay', path)


def test_refusals(rig, path, tmp_path):
    empty = first(rig.controller.history.take(), 0)._replace(versions={}, points={})
    file.write(tmp_path / 'empty.mcap', MODEL, empty, about(rig.controller))
    assert 'holds no cycle' in refused('replay', tmp_path / 'empty.mcap')
    assert 'cycles 0 to' in refused('replay', path, '--cycle', 100_000)
    result = robodyn('replay', path, '--picture', tmp_path / 'missing' / 'x.png')
    assert result.exit_code == 1 and 'choose a --picture path' in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
