# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The command as a person runs it: what it prints, where, and how it ends; `robodyn inspect`."""

from contextlib import suppress
from io import BytesIO, StringIO, TextIOWrapper
import json
import re
import signal
import sys
import time
from xml.etree import ElementTree

from cli.commands import changed, done, refused
import pytest
from rich.console import Console
from robodyn_ros.catalog.robots import load_robot
from robodyn_ros.cli import main
from robodyn_ros.cli.app import app
from robodyn_ros.cli.inspect import report
from robodyn_ros.driver import DriverFacts
from robodyn_ros.extras import ROS
from robodyn_ros.model.resources import share_path
from robots import ARM, GRIPPER
from typer.testing import CliRunner

ROBODYN = [sys.executable, '-m', 'robodyn_ros.cli']
MESSAGES = ' '.join(part.replace('-', '_') for part in ROS if '-msgs' in part)
# Imports take seconds: none happens before a command needs it. Each command runs without more
# packages than the one before.
WITHOUT = """
import json, sys
import robodyn_ros.cli.app
from typer.testing import CliRunner
assert not {'scipy', 'numba', 'matplotlib'} & sys.modules.keys()
for missing, line in json.loads(sys.argv[1]):
    sys.modules.update(dict.fromkeys(missing.split()))
    sys.argv[1:] = line.split()
    print('$', line, flush=True)
    print(robodyn_ros.cli.main(), flush=True)
"""


def inspect(*words):
    """Return what `robodyn inspect` prints."""
    return done('inspect', *words).output


def row(output, name, heading):
    """Return the words of the line that begins with ``name`` in the table under ``heading``."""
    lines = output[output.index(heading):].splitlines()
    return next(line.split() for line in lines if line.split()[:1] == [name])


def test_version_is_that_of_the_package():
    manifest = ElementTree.parse(share_path('package.xml'))
    assert done('--version').output.split() == ['robodyn_ros', manifest.findtext('version')]


def test_inspect_shows_chain_followers_limits_and_gravity(tmp_path):
    output = inspect('rp')
    assert row(output, 'joint1', 'Chain')[1:] == ['revolute', '0', '0', '1', 'base_link', 'link1']
    assert row(output, 'joint2', 'Chain')[1:] == ['prismatic', '1', '0', '0', 'link1', 'link2']
    assert row(output, 'link1', 'Bodies')[1] == '3'
    assert row(output, 'link2', 'Bodies')[1] == '1.5'
    output = inspect(changed(tmp_path, text=GRIPPER))
    assert 'gripper: 2 joints on base, 2 more mimicking, 1.6 kg in motion' in output
    assert row(output, 'left', 'Chain')[1:3] == ['prismatic', '0']
    assert row(output, 'right', 'Chain')[1:8] == [
        'prismatic,', 'mimics', 'left', '×-0.5', '+0.01', '0', '1']
    assert row(output, 'right_tip', 'Chain')[1:6] == [
        'revolute,', 'mimics', 'left', '×-10', '+0.3']
    assert row(output, 'left', 'Limits')[1:5] == ['0.015', '0.04', '0.2', '30']
    assert 'right' not in output[output.index('Limits'):]
    found = row(inspect('arm6'), 'joint_3', 'Limits')
    assert found[1:7] == ['-2.6', '1.3', '4.4', '220', '8', '6']
    # Both links level: g2 = m2 l2 g, g1 = (m1 + m2) l1 g + g2
    output = inspect('two_link', '--at', '0,0')
    assert row(output, 'joint1', 'Gravity')[1:] == ['0', '18.64', '80', '23.3%']
    assert row(output, 'joint2', 'Gravity')[1:] == ['0', '3.924', '30', '13.1%']
    output = inspect(changed(tmp_path, ('effort="30"', 'effort="3"')), '--at', '0,0')
    assert row(output, 'joint2', 'Gravity')[-3:] == ['130.8%', 'TOO', 'HEAVY']
    assert output.count('TOO HEAVY') == 1
    output = inspect(changed(tmp_path, ('"joint1"', '"[/red]:smile:"')))
    assert row(output, '[/red]:smile:', 'Chain')[1] == 'revolute'


@pytest.mark.parametrize('robot', ['panda', 'ur5', 'rp'])
def test_inspect_fits_80_columns(robot):
    """No name is broken, no line is longer than a terminal of 80 columns."""
    chosen = load_robot(robot, {}, [])
    out = Console(width=80, record=True, file=StringIO())
    out.print(report(chosen.model, chosen.pose, 'source'))
    text = out.export_text()
    assert max(map(len, text.splitlines())) <= 80
    for heading in ('Chain', 'Limits', 'Gravity'):
        for name in chosen.model.joint_names:
            assert len(row(text, name, heading)) > 5 - (heading == 'Gravity')


class DrivenArm:
    """The driver of a two_link with weaker drives."""

    reading = 'inline'

    def __init__(self, model, limit=12.0):
        self.facts = DriverFacts(True, None, [limit, 30.0], None, [0.1, 0.2], 500.0)

    def read(self):
        """Return nothing: nobody reads it."""

    def write(self, tau):
        """Fail: nobody writes to it."""
        raise AssertionError

    enable = write

    def close(self):
        """Close nothing."""
        DrivenArm.closed = True


def test_inspect_shows_what_a_driver_states():
    """Its limits are in force, beside those of the URDF; what contradicts it is named."""
    output = inspect('two_link', '--driver', f'{__name__}:DrivenArm', '--at', '0,0',
                     '--driver-options', 'limit=10')
    assert row(output, 'joint1', 'Driver, beside') == ['joint1', '80', '10', '0', '0.1']
    assert row(output, 'joint2', 'Driver, beside') == ['joint2', '30', '30', '0', '0.2']
    assert 'TOO HEAVY' in output and DrivenArm.closed
    assert ('reading inline, compensates gravity yes, brakes not stated, highest rate 500 Hz'
            in output)
    assert '! effort_limit of the URDF is 80, and of the drives 10 (joint1)' in output
    assert '! parameter rate = 1000.0 contradicts the driver, which states 500.0' in output
    assert 'armature of the URDF' not in output
    stated = json.loads(done('inspect', 'two_link', '--driver', f'{__name__}:DrivenArm',
                             '--json').output)
    assert stated['effort_limit'] == [12.0, 30.0] and stated['driver']['reading'] == 'inline'
    assert len(stated['driver']['contradictions']) == 2


@pytest.mark.parametrize(('options', 'why'), [
    (['--driver', 'nowhere.at_all:Arm'], 'cannot be imported'),
    (['--driver', f'{__name__}:DrivenArm', '--driver-options', 'limit'], 'write name=value'),
    (['--driver', f'{__name__}:DrivenArm', '--driver-options', 'limit=-1'], 'facts of the driver'),
    (['--driver', 'nothing.mcap'], 'nothing.mcap cannot be read')])
def test_inspect_refuses_drivers(options, why):
    assert why in refused('inspect', 'two_link', *options)


def test_inspect_prints_every_warning(tmp_path):
    output = inspect(changed(tmp_path, ('<axis xyz="0 0 1"/>', '<axis xyz="0 0 2"/>')))
    assert output.count('\n! ') == 2
    output = inspect('two_link')
    assert 'no warnings' in output and 'little effort' not in output
    output = ' '.join(inspect('panda').split())         # its joints have no rotors
    assert 'the velocity limits leave little effort besides gravity: ' in output
    assert 'of 12 (panda_joint7)' in output and 'set armature for a real drive' in output
    output = inspect(changed(tmp_path, text=re.sub('<inertial>.*?</inertial>', '', ARM,
                                                   flags=re.DOTALL)))
    assert "URDF has no inertia for joints 'shoulder', 'slide'" in output


def test_inspect_takes_options_and_gives_figures():
    output = inspect('two_link', '--locked', 'joint2=0.5')
    assert ': 1 joint on' in output and 'joint2' not in output
    output = inspect('arm6', '--root', 'link_2', '--tip', 'link_4',
                     '--locked', 'joint_5=0,joint_6=0', '--gravity', '0,0,-9.81')
    assert row(output, 'joint_3', 'Chain')[5] == 'link_2'
    assert 'joint_2' not in output and 'joint_5' not in output
    found = json.loads(done('inspect', 'two_link', '--at', '0.3,0.5', '--json').stdout)
    assert found['gravity'] == pytest.approx([16.79165356, 2.73387713])
    assert found['joints'] == ['joint1', 'joint2'] and found['warnings'] == []
    result = CliRunner(charset='ascii').invoke(app, ['inspect', 'two_link'])
    assert result.exit_code == 0, result.exception
    assert 'rad, rad/s, N?m' in result.stdout


def test_an_error_of_the_process_is_one_line(start):
    process = start(ROBODYN, 'inspect', 'no_such_robot')
    assert process.wait() == 1
    assert "no robot 'no_such_robot'" in process.text and process.text.count('\n') == 1


def test_commands_need_no_packages_but_those_that_they_name(start):
    """ROS is one of them where nothing is sent; others are named with their remedy."""
    process = start([sys.executable, '-c', WITHOUT], json.dumps([
        (f'rclpy {MESSAGES}', 'compare-laws two_link --picture laws.abc'),
        ('mujoco matplotlib', 'inspect two_link'), ('sympy', 'derive two_link'),
        ('', 'demo two_link')]))
    assert process.wait() == 0, process.text
    laws, inspected, *refused = process.text.split('\n$ ')
    refused.append(laws)
    assert 'Gravity' in inspected and inspected.endswith('\n0')
    for text, part in zip(refused, ('need sympy, which is not installed: run `pip install sympy`',
                                    'rclpy, mujoco, matplotlib', 'does not end in .png')):
        assert part in text and text.rstrip().endswith('\n1') and text.strip().count('\n') == 2


@pytest.mark.parametrize('gap', [0.0, 0.05])
def test_ctrl_c_twice_is_one(gap, start):
    """As `timeout` and `ros2 launch` send it; the second one meets what ends the command."""
    pytest.importorskip('viser', reason='needs the extra view')
    process = start(ROBODYN, 'view', 'two_link', '--no-browser', '--port', '8461')
    process.wait_for_line('Ctrl-C ends it')
    process.popen.send_signal(signal.SIGINT)
    time.sleep(gap)
    assert process.interrupt() == 130 and 'Traceback' not in process.text


@pytest.mark.parametrize('line', [
    '--help', '--version', 'inspect two_link', 'inspect two_link --json', 'new law spring',
    'derive rp', 'export two_link --js --quantity gravity', 'inspect two_link --repair new.urdf'])
@pytest.mark.parametrize('place', ['full', 'closed', 'ascii'])
def test_an_output_that_takes_nothing_ends_in_a_line(line, place, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, 'argv', ['robodyn', *line.split()])
    monkeypatch.setattr(signal, 'signal', lambda *handler: None)
    written, full = BytesIO(), open('/dev/full', 'w')
    streams = {'full': full, 'closed': None, 'ascii': TextIOWrapper(written, 'ascii')}
    monkeypatch.setattr(sys, 'stdout', streams[place])
    code = main()
    with suppress(OSError):
        full.close()
    told = capsys.readouterr().err
    assert code == (place == 'full')
    assert ('No space left on device' in told) == (place == 'full') and 'Traceback' not in told
    streams['ascii'].flush()
    assert bool(written.getvalue()) == (place == 'ascii')


def test_repair_writes_a_consistent_robot_and_says_what_changed(tmp_path):
    path = changed(tmp_path, ('izz="0.01"', 'izz="0.05"'), text=ARM)
    repaired = tmp_path / 'repaired.urdf'
    output = done('inspect', path, '--repair', repaired).output
    assert row(output, 'upper', 'Inertias') == [
        'upper', '25', '%', '0.02', '→', '0.02333', '+17', '%']
    assert str(repaired) in output
    assert 'no warnings' in inspect(repaired)
    again = done('inspect', repaired, '--repair', tmp_path / 'other.urdf')
    assert 'nothing to repair' in again.output and not (tmp_path / 'other.urdf').exists()


def test_demo_judges_inertias_before_anything_starts(tmp_path, monkeypatch):
    pytest.importorskip('rclpy', reason='the demo needs ROS')
    path = changed(tmp_path, ('izz="0.01"', 'izz="0.05"'), text=ARM)
    monkeypatch.setattr('robodyn_ros.demo.run.compile_all', None)   # nothing gets there
    error = refused('demo', path, '--output', tmp_path / 'demo')
    assert not (tmp_path / 'demo').exists()
    assert 'link upper (25 %)' in error and '--accept-inertia' in error
