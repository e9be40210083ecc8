# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Files of `robodyn init` and `robodyn new` work as they stand."""

import re
import sys

from cli.commands import changed, done, refused, robodyn
import numpy as np
import pytest
import rclpy
from rclpy.context import Context
from rclpy.node import Node
from robodyn_ros import load_urdf, Settings
from robodyn_ros.control.laws.registry import MODES
from robodyn_ros.control.settings.motion_limits import resting_errors
from robodyn_ros.control.settings.suggested_gains import suggest_gains
from robodyn_ros.model.resources import robot_path
from robodyn_ros.nodes.controller import parameters as controller_parameters, robot as node_robot
from robodyn_ros.nodes.middleware.parameters import Parameters
from robots import ARM
import yaml

CHOSEN = '--gravity-by=controller'


def taken(file):
    """Values that the controller's parameters have with this file."""
    context = Context()
    rclpy.init(args=['--ros-args', '--params-file', str(file)], context=context)
    try:
        node = Node('controller', context=context)
        values = Parameters(node, controller_parameters.TABLE).values()
        node.destroy_node()
    finally:
        rclpy.shutdown(context=context)
    return values


def init(*words):
    """Return what `robodyn init` prints, as one line."""
    return ' '.join(done('init', *words).output.split())


@pytest.fixture
def file(tmp_path):
    """Return where a test writes its file."""
    return tmp_path / 'arm.yaml'


@pytest.mark.parametrize('name', ['rp', 'panda', 'ur5'])
def test_the_controller_takes_it_in_every_mode(name, file):
    init(name, '--output', file, CHOSEN)
    values = taken(file)
    assert values['urdf'] == name and values['robot_compensates_gravity'] is False
    model = node_robot.controlled(values, node_robot.description(values))
    for mode in MODES:
        settings = controller_parameters.settings(values | {'mode': mode})
        joints = settings.joint_records(model)
        settings.check_gains(settings.loaded(model))
        assert (joints['effort_limit'] == model.effort_limit).all()
        assert (joints['velocity_limit'] == model.velocity_limit).all()
        assert settings.motor_test_effort == 0.1
    for mode in ('joint_impedance', 'computed_torque'):     # worlds have as much friction
        rough = controller_parameters.settings(values | {
            'mode': mode, 'coulomb_friction': (0.005 * model.effort_limit).tolist()})
        assert (resting_errors(model, rough) < np.add(values['goal_tolerance'], 1e-3)).all()


def test_gains_suit_loops_and_rotors(file, tmp_path):
    init('two_link', '--output', file, '--rate', 100, '--loop-delay', 0.03)
    values = taken(file)
    assert (values['rate'], values['loop_delay']) == (100.0, 0.03)
    settings = controller_parameters.settings(values | {'mode': 'computed_torque'})
    model = node_robot.controlled(values, node_robot.description(values))
    settings.check_gains(model)
    assert (values['acceleration_kp'][0], values['acceleration_kd'][0]) != (100.0, 20.0)
    assert values['trigger'] == 'timer'
    init('two_link', '--output', file, '--force', '--rate', 500)
    assert taken(file)['trigger'] == 'state'    # or efforts are older than the loop delay
    # Of Panda's wrist; controller and simulator have the same, and the efforts are stated.
    said = init('panda', '--output', file, '--force', CHOSEN)
    assert 'Without rotor inertia, the velocity limits leave little effort besides' in said
    assert 'of 12 (panda_joint7)' in said
    armature = taken(file)['armature']
    assert armature[1] == 0.0 and armature[6] == pytest.approx(0.0229)  # 12 N·m 5 ms / 2.61 rad/s
    both = yaml.safe_load(file.read_text())
    assert both['/**/simulator']['ros__parameters'] == {
        'urdf': 'panda', 'armature': armature, 'compensates_gravity': False,
        **{name: both['/**/controller']['ros__parameters'][name]
           for name in ('locked_joints', 'locked_positions')}}
    file.unlink()
    text = robot_path('two_link').read_text()
    old = re.search('<inertia .*?/>', text)[0]
    path = changed(tmp_path, (old, '<inertia ixx="30000" ixy="0" ixz="0" iyy="30000" iyz="0" '
                                   'izz="4000"/>'))
    assert 'kg·mm², not in kg·m²' in refused('init', path, '--output', file, CHOSEN)
    assert not file.exists()
    init(path, '--output', file, CHOSEN, '--accept-inertia')
    assert 'kg·mm²' in file.read_text()


def test_gains_of_an_arm_whose_zero_is_at_a_limit_are_for_its_workspace(file, tmp_path):
    path = changed(tmp_path, text=ARM)
    init(path, '--output', file, CHOSEN)
    assert 'or its mean over the workspace' in ' '.join(file.read_text().replace('#', '').split())
    gains = suggest_gains(load_urdf(path), None, Settings(rate=1000.0, loop_delay=0.002))
    values = taken(file)
    for name in ('stiffness', 'damping', 'acceleration_kp'):
        assert values[name] == getattr(gains, name).tolist()


def test_what_no_urdf_says_is_named(file, tmp_path):
    init('two_link', '--output', file)
    text = ' '.join(file.read_text().replace('#', '').split())
    declared = {p.name: p for p in controller_parameters.TABLE}
    written = yaml.safe_load(file.read_text())['/**/controller']['ros__parameters']
    assert {'stiffness', 'acceleration_kd', 'effort_limit', 'velocity_limit'} <= written.keys()
    assert 'critically damped, 10 rad/s, more against friction, less where' in text
    for name in written:
        assert ' '.join(declared[name].description.split()) in text, name
    said = init('two_link', '--output', file, '--force')
    assert 'Gravity compensation: set' in said
    assert '# robot_compensates_gravity: ?' in file.read_text()
    assert not taken(file)['robot_compensates_gravity']
    said = init('two_link', '--output', file, '--force', '--gravity-by', 'robot')
    assert 'Gravity compensation: set' not in said
    assert taken(file)['robot_compensates_gravity'] is True
    path = changed(tmp_path, ('effort="30"', 'effort="0"'))
    assert 'Effort limit of joint2: set effort_limit' in init(
        path, '--output', file, '--force', CHOSEN)
    assert '# effort_limit: [80.0, ?]' in file.read_text()
    values = taken(file)
    assert values['effort_limit'] == [] and values['urdf'] == str(path)
    path = changed(tmp_path, ('izz="0.01"', 'izz="0.05"'), text=ARM)
    said = init(path, '--output', file, '--force', CHOSEN)
    assert 'Physically consistent inertia of' in said and 'accepted_links' in file.read_text()


def test_limits_that_no_drive_has_are_named_and_not_written(file, tmp_path):
    """Of Baxter's head: 50 kN·m, 10,000 rad/s; a velocity limit of 0 does not start."""
    path = changed(tmp_path, ('effort="30" velocity="8"', 'effort="50000" velocity="10000"'))
    said = init(path, '--output', file, CHOSEN)
    assert 'Effort limit of the drive of joint2: half a percent' in said
    without = 'Velocity limit of joint2: set velocity_limit for all joints; the controller does'
    assert without in said
    assert '# velocity_limit: [8.0, ?]' in file.read_text()
    values = taken(file)        # whose ranges the parameters check
    assert 0.0 < max(values['goal_tolerance']) <= 0.1
    path = changed(tmp_path, ('lower="-3.1416" upper="3.1416" effort="30"', 'effort="30"'))
    assert 'Position range of joint2: lower and upper limit are the same' in init(
        path, '--output', file, CHOSEN, '--force')
    path = changed(tmp_path, ('velocity="8"/>\n    <dynamics damping="0" friction="0"/>',
                              'velocity="8"/><dynamics friction="30"/>'))
    sentence = "! joint 'joint2' probably never moves: its dry friction of 30 N·m is not below"
    for said in (init(path, '--output', file, CHOSEN, '--force'), ' '.join(
            done('inspect', path).output.split()), ' '.join(robodyn(
                'simulate', path, '--config', file).output.split())):
        assert sentence in said and 'no warnings' not in said
    path = changed(tmp_path, ('effort="30" velocity="8"', 'effort="30" velocity="0"'))
    assert without in init(path, '--output', file, CHOSEN, '--force')
    # One that a drive may have, in theory, is written, and named until it is lowered
    path = changed(tmp_path, ('effort="30" velocity="8"', 'effort="30" velocity="100"'))
    unreal = 'elocity limits are probably placeholders: joint2 (100 rad/s); correct the URDF'
    command = 'simulate', path, '--config', file, '--duration', 0.01
    assert unreal in init(path, '--output', file, CHOSEN, '--force')
    for words in (('inspect', path), command, ('verify', *command[1:4], '--runs', 1, '--jobs', 1,
                                               '-o', tmp_path / 'a.sqlite')):
        assert unreal in ' '.join(robodyn(*words).output.split()), words
    text = file.read_text().replace('[8.0, 100.0]', '[8.0, 9.0]')
    file.write_text(text.replace('effort_limit: [80.0, 30.0]', 'effort_limit: [80.0, 20.0]'))
    assert 'placeholders' not in done(*command).output
    rate = Settings(effort_limit=taken(file)['effort_limit'], effort_rate_limit=taken(file)[
        'effort_rate_limit']).per_joint(load_urdf(path), 'effort_rate_limit')
    assert rate.tolist() == [800.0, 200.0]      # follows


def test_equal_effort_limits_are_named(file, tmp_path):
    """In them the motor test and the checks of the guard count."""
    text, words = robot_path('arm6').read_text(), (
        'ffort limits may be placeholders: 200 N·m for each joint; compare them')
    for named, limits in ((False, text), (True, re.sub('effort="[^"]*"', 'effort="200"', text))):
        path = changed(tmp_path, text=limits)
        assert (words in init(path, '--output', file, CHOSEN, '--force')) == named
        assert (words in ' '.join(done('inspect', path).output.split())) == named


def test_accepted_doubts_are_printed_again(file, tmp_path):
    """By `verify` too, which finds no fault in a gravity that is wrong on both sides."""
    text = re.sub('<origin .*?>(\\s*<mass)', r'\1', robot_path('arm6').read_text())
    path = changed(tmp_path, text=text)
    words = 'all centers of mass are at the origins of their links'
    assert words in refused('init', path, '--output', file, CHOSEN)
    assert words in init(path, '--output', file, CHOSEN, '--accept-inertia')
    assert words in done('verify', path, '--config', file, '--write-worlds',
                         tmp_path / 'worlds.yaml').output


def test_gravity_and_root_are_in_the_file(file):
    words = ['arm6', '--root', 'link_2', '--output', file, CHOSEN]
    assert 'gravity' in refused('init', *words)
    init(*words, '--gravity', '0,9.81,0')
    values = taken(file)
    assert list(values['gravity']) == [0.0, 9.81, 0.0] and values['root'] == 'link_2'
    assert yaml.safe_load(file.read_text())['/**/simulator']['ros__parameters'].items() >= {
        'root': 'link_2', 'gravity': [0.0, 9.81, 0.0]}.items()
    assert node_robot.controlled(values, node_robot.description(values)).nv == 4


def test_files_are_replaced_on_request_and_all_or_none(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (file := tmp_path / 'two_link.yaml').write_text('mine')
    assert '--force' in refused('init', 'two_link') and file.read_text() == 'mine'
    init('two_link', '--force')
    assert 'stiffness' in file.read_text()
    (tmp_path / '.github').write_text('a file')
    words = changed(tmp_path), '--output', (file := tmp_path / 'my_arm.yaml'), CHOSEN, '--ci'
    assert 'verify.yml cannot be written' in refused('init', *words)
    assert not file.exists() and not (tmp_path / 'test_my_arm.py').exists()


def test_files_for_continuous_integration(tmp_path):
    """A test and a workflow that verify the file, each once."""
    words = changed(tmp_path), '--output', (file := tmp_path / 'my_arm.yaml'), CHOSEN, '--ci'
    init(*words)
    command = 'robodyn verify arm.urdf --config my_arm.yaml --brief'
    workflow = yaml.safe_load((tmp_path / '.github/workflows/verify.yml').read_text())
    assert any(command in step.get('run', '') for step in workflow['jobs']['verify']['steps'])
    test = (tmp_path / 'test_my_arm.py').read_text()
    compile(test, 'test_my_arm.py', 'exec')
    assert command in test
    file.unlink()       # nothing is written where one of them exists
    assert 'test_my_arm.py' in refused('init', *words) and not file.exists()


@pytest.mark.parametrize(('files', 'env'), [
    ('test_my_spring.py test_my_arm.py test_full_arm.py', {}),
    ('test_my_spring.py::test_it_holds_the_arm', {'ROBODYN_PLAIN': '1'})],
    ids=['compiled', 'in plain Python'])
def test_their_tests_pass(start, tmp_path, files, env):
    pytest.importorskip('mujoco')
    result = done('new', 'law', 'my_spring', '--output', tmp_path)
    assert 'mode my_spring:MY_SPRING' in result.output
    result = done('new', 'driver', 'my_arm', '--output', tmp_path)
    assert 'parameter driver my_arm:MyArm' in result.output
    done('new', 'driver', 'full_arm', '--output', tmp_path)
    (full := tmp_path / 'full_arm.py').write_text(re.sub(
        r'^( +)# (def |    |[a-z_]+=)', r'\1\2', full.read_text(), flags=re.MULTILINE))
    process = start([sys.executable, '-m', 'pytest', '-v', *files.split()], cwd=tmp_path, env=env)
    assert process.wait() == 0, process.text
    assert all(f'{name.partition(":")[0]}::' in process.text for name in files.split())


def test_a_file_is_replaced_only_on_request(tmp_path):
    (path := tmp_path / 'test_spring.py').write_text('mine')
    done('new', 'law', 'spring', '--output', tmp_path, '--force')
    assert 'mine' not in path.read_text()
