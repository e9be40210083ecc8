# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The command as a person runs it: what it prints, where, and how it ends."""

from io import StringIO
import re
import signal
import subprocess
import sys
import time
from xml.etree import ElementTree

import pytest
from rich.console import Console
from robodyn_ros.catalog.robots import load_robot
from robodyn_ros.cli.app import app
from robodyn_ros.cli.inspect import report
from robodyn_ros.model.resources import robot_path, share_path
from robots import ARM, GRIPPER
from typer.testing import CliRunner

# As if they were not installed
WITHOUT_ROS = [sys.executable, '-c', 'import sys\n'
               'for name in ("rclpy", "mujoco", "matplotlib"): sys.modules[name] = None\n'
               'from robodyn_ros.cli import main\n'
               'sys.exit(main())']


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def row(output, name, heading):
    """Return the words of the line that begins with ``name`` in the table under ``heading``."""
    lines = output[output.index(heading):].splitlines()
    return next(line.split() for line in lines if line.split()[:1] == [name])


def test_version_is_that_of_the_package():
    manifest = ElementTree.parse(share_path('package.xml'))
    assert run('--version').output.split() == ['robodyn_ros', manifest.findtext('version')]


def test_inspect_shows_the_chain():
    result = run('inspect', 'rp')
    assert result.exit_code == 0
    assert row(result.output, 'joint1', 'Chain')[1:] == [
        'revolute', '0', '0', '1', 'base_link', 'link1']
    assert row(result.output, 'joint2', 'Chain')[1:] == [
        'prismatic', '1', '0', '0', 'link1', 'link2']
    assert row(result.output, 'link1', 'Bodies')[1] == '3'
    assert row(result.output, 'link2', 'Bodies')[1] == '1.5'


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


def test_inspect_shows_who_mimics_whom(tmp_path):
    path = tmp_path / 'gripper.urdf'
    path.write_text(GRIPPER)
    output = run('inspect', path).output
    assert 'gripper: 2 joints on base, 2 more mimicking, 1.6 kg in motion' in output
    assert row(output, 'left', 'Chain')[1:3] == ['prismatic', '0']
    assert row(output, 'right', 'Chain')[1:8] == [
        'prismatic,', 'mimics', 'left', '×-0.5', '+0.01', '0', '1']
    assert row(output, 'right_tip', 'Chain')[1:6] == [
        'revolute,', 'mimics', 'left', '×-10', '+0.3']
    assert row(output, 'left', 'Limits')[1:5] == ['0.015', '0.04', '0.2', '30']
    assert 'right' not in output[output.index('Limits'):]


def test_inspect_shows_limits_and_friction():
    assert row(run('inspect', 'arm6').output, 'joint_3', 'Limits')[1:7] == [
        '-2.6', '1.3', '4.4', '220', '8', '6']


def test_inspect_compares_gravity_with_the_effort_limit():
    # Both links level: g2 = m2 l2 g, g1 = (m1 + m2) l1 g + g2
    output = run('inspect', 'two_link', '--at', '0,0').output
    assert row(output, 'joint1', 'Gravity')[1:] == ['0', '18.64', '80', '23.3%']
    assert row(output, 'joint2', 'Gravity')[1:] == ['0', '3.924', '30', '13.1%']


def test_inspect_marks_what_a_motor_cannot_hold(tmp_path):
    weak = tmp_path / 'weak.urdf'
    weak.write_text(robot_path('two_link').read_text().replace('effort="30"', 'effort="3"'))
    output = run('inspect', weak, '--at', '0,0').output
    assert row(output, 'joint2', 'Gravity')[-3:] == ['130.8%', 'TOO', 'HEAVY']
    assert output.count('TOO HEAVY') == 1


def test_inspect_shows_any_name_as_it_is(tmp_path):
    odd = tmp_path / 'odd.urdf'
    odd.write_text(robot_path('two_link').read_text().replace('"joint1"', '"[/red]:smile:"'))
    assert row(run('inspect', odd).output, '[/red]:smile:', 'Chain')[1] == 'revolute'


def test_inspect_prints_every_warning(tmp_path):
    odd = tmp_path / 'odd.urdf'
    odd.write_text(robot_path('two_link').read_text().replace('<axis xyz="0 0 1"/>',
                                                              '<axis xyz="0 0 2"/>'))
    output = run('inspect', odd).output
    assert output.count('\n! ') == 2
    assert 'no warnings' in run('inspect', 'two_link').output


def test_inspect_takes_locked_joints_root_and_tip():
    output = run('inspect', 'two_link', '--locked', 'joint2=0.5').output
    assert ': 1 joint on' in output and 'joint2' not in output
    output = run('inspect', 'arm6', '--root', 'link_2', '--tip', 'link_4',
                 '--locked', 'joint_5=0,joint_6=0', '--gravity', '0,0,-9.81').output
    assert row(output, 'joint_3', 'Chain')[5] == 'link_2'
    assert 'joint_2' not in output and 'joint_5' not in output


@pytest.mark.parametrize(('words', 'said'), [
    (['inspect', 'no_such_robot'], "no robot 'no_such_robot'"),
    (['inspect', 'two_link', '--at', '0'], 'initial position'),
    (['inspect', 'two_link', '--at', '0,99'], 'joint2'),
    (['inspect', 'two_link', '--locked', 'joint9=0'], "'joint9'"),
])
def test_an_error_is_one_line_on_stderr(start, words, said):
    process = start([sys.executable, '-m', 'robodyn_ros.cli'], *words)
    assert process.wait() == 1
    assert said in process.text
    assert len(process.text.strip().splitlines()) == 1


def test_inspect_needs_no_ros(start):
    process = start(WITHOUT_ROS, 'inspect', 'two_link')
    assert process.wait() == 0
    assert 'Gravity' in process.text


def test_demo_says_what_is_not_installed(start):
    process = start(WITHOUT_ROS, 'demo', 'two_link')
    assert process.wait() == 1
    assert len(process.text.strip().splitlines()) == 1
    assert all(word in process.text for word in ('rclpy', 'mujoco', 'matplotlib', 'pip install'))


@pytest.mark.parametrize('gap', [0.0, 0.05])
def test_ctrl_c_twice_is_one(gap, start):
    """As `timeout` and `ros2 launch` send it; the second one meets what ends the command."""
    pytest.importorskip('viser', reason='needs the extra view')
    process = start([sys.executable, '-m', 'robodyn_ros.cli'], 'view', 'two_link', '--no-browser',
                    '--port', '8461')
    process.wait_for_line('Ctrl-C ends it')
    process.popen.send_signal(signal.SIGINT)
    time.sleep(gap)
    assert process.interrupt() == 130 and 'Traceback' not in process.text


def test_repair_writes_a_consistent_robot_and_says_what_changed(tmp_path):
    (path := tmp_path / 'arm.urdf').write_text(ARM.replace('izz="0.01"', 'izz="0.05"'))
    result = run('repair', path)
    assert result.exit_code == 0
    assert row(result.output, 'upper', 'Inertias') == [
        'upper', '25', '%', '0.02', '→', '0.02333', '+17', '%']
    assert str(tmp_path / 'arm_repaired.urdf') in result.output
    assert 'no warnings' in run('inspect', tmp_path / 'arm_repaired.urdf').output
    again = run('repair', tmp_path / 'arm_repaired.urdf', '-o', tmp_path / 'other.urdf')
    assert 'nothing to repair' in again.output and not (tmp_path / 'other.urdf').exists()


def test_inspect_states_the_effort_of_joints_without_rotors():
    output = ' '.join(run('inspect', 'panda').output.split())
    assert 'the velocity limits leave little effort besides gravity: ' in output
    assert 'of 12 (panda_joint7)' in output and 'set armature for a real drive' in output
    assert 'little effort' not in run('inspect', 'two_link').output


def test_inspect_shows_a_robot_without_inertias(tmp_path):
    (path := tmp_path / 'arm.urdf').write_text(
        re.sub('<inertial>.*?</inertial>', '', ARM, flags=re.DOTALL))
    result = run('inspect', path)
    assert result.exit_code == 0
    assert "URDF has no inertia for joints 'shoulder', 'slide'" in result.output


def test_demo_judges_inertias_before_anything_starts(tmp_path, monkeypatch):
    pytest.importorskip('rclpy', reason='the demo needs ROS')
    (path := tmp_path / 'arm.urdf').write_text(ARM.replace('izz="0.01"', 'izz="0.05"'))
    monkeypatch.setattr('robodyn_ros.demo.run.compile_all', None)   # nothing gets there
    result = run('demo', path, '--output', tmp_path / 'demo')
    assert result.exit_code == 1 and not (tmp_path / 'demo').exists()
    assert 'link upper (25 %)' in result.stderr and '--accept-inertia' in result.stderr


def test_a_command_imports_what_it_needs_and_no_more():
    """What takes seconds to import (SciPy, Numba) waits until a command needs it."""
    code = ('import sys, robodyn_ros.cli.app\n'
            'print([name for name in ("scipy", "numba", "matplotlib") if name in sys.modules])')
    assert subprocess.run([sys.executable, '-c', code], capture_output=True, text=True,
                          check=True).stdout == '[]\n'
