# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
# flake8: noqa: E402, I100
"""
Arguments of the launch files: what they make of them, and what of those of others.

Needs launch and launch_ros, which only a ROS installation has.
"""

from pathlib import Path
import re
import runpy

from launch_case import need
import pytest
import yaml

need('launch_ros.actions')

from launch import LaunchContext, LaunchDescription
from launch.actions import IncludeLaunchDescription, SetLaunchConfiguration
from launch.events.process import ProcessExited
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions
import launch_ros.actions
from robodyn_ros.errors import ParameterError, RobodynError
from robodyn_ros.model.resources import _ament_share, share_path


def visited(description, context):
    """Nodes that a description would start."""
    found = []

    def visit(entity):
        if isinstance(entity, launch_ros.actions.Node):
            found.append(entity)
            return
        for below in entity.visit(context) or ():
            visit(below)
    visit(description)
    return found


def nodes(file, before=(), **arguments):
    """Nodes that a launch file would start, the configurations it leaves, after ``before``."""
    context = LaunchContext()
    source = PythonLaunchDescriptionSource(str(share_path('launch', file)))
    found = visited(LaunchDescription([*before, IncludeLaunchDescription(
        source, launch_arguments=arguments.items())]), context)
    return found, context.launch_configurations


def given(node, name):
    """Return what a node is given: files of parameters, or a parameter's value."""
    context = LaunchContext()
    for source in node._Node__parameters:
        if isinstance(source, dict):
            for key, value in source.items():
                if perform_substitutions(context, key) == name:
                    return value.evaluate(context)
        elif name == 'file':
            return perform_substitutions(context, source.param_file)
    return None


@pytest.mark.parametrize('wrong', ['/nosuch/ur.yaml', 'robodyn/config/ur.yaml', 'urs.yaml'])
def test_a_configuration_that_is_not_there_starts_nothing(wrong):
    """launch_ros itself would warn and let the controller throw an arm with the defaults."""
    with pytest.raises(ParameterError, match='no parameter file') as refused:
        nodes('controller.launch.py', config=wrong)
    assert wrong in str(refused.value) and str(share_path('config')) in str(refused.value)


def test_a_configuration_is_found_from_any_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (node,), _ = nodes('controller.launch.py', config='ur.yaml')
    assert given(node, 'file') == str(share_path('config', 'ur.yaml'))
    (tmp_path / 'ur.yaml').write_text('')
    (node,), _ = nodes('controller.launch.py', config='ur.yaml')
    assert given(node, 'file') == str(tmp_path / 'ur.yaml')


def test_what_is_declared_here_stays_here():
    """An including file's own arguments are as before."""
    mine = {'namespace': 'mine', 'autostart': 'no', 'commands': 'theirs'}
    _, left = nodes('controller.launch.py', [
        SetLaunchConfiguration(name, value) for name, value in mine.items()], autostart='true')
    assert left == mine | {'autostart': 'true'}         # as the include itself has set it


def test_a_mode_of_somebody_else_is_named():
    with pytest.raises(ParameterError, match="mode = 'sim'.*joint_impedance"):
        nodes('controller.launch.py', [SetLaunchConfiguration('mode', 'sim')])


def test_a_law_of_the_user_is_passed_on():
    (node,), _ = nodes('controller.launch.py', mode='my_spring:MY_SPRING')
    assert given(node, 'mode') == 'my_spring:MY_SPRING'


def test_a_second_file_overrides_the_first(tmp_path):
    (file := tmp_path / 'friction.yaml').write_text('/**/controller: {ros__parameters: {}}')
    (node,), _ = nodes('controller.launch.py', config='ur.yaml', overrides=str(file))
    files = [perform_substitutions(LaunchContext(), source.param_file)
             for source in node._Node__parameters if not isinstance(source, dict)]
    assert files == [str(share_path('config', 'ur.yaml')), str(file)]


def test_nothing_arms_an_arm_again_after_a_crash():
    for autostart in ('true', '', 'True'):
        with pytest.raises(ParameterError, match='arm the robot again after a crash'):
            nodes('controller.launch.py', respawn='true', autostart=autostart)
    (node,), _ = nodes('controller.launch.py', respawn='true', autostart='false')
    assert given(node, 'autostart') is False


def test_simulation_time_is_that_of_both_nodes():
    found, _ = nodes('simulation.launch.py', use_sim_time='true', urdf='two_link')
    simulator, controller = found
    assert given(simulator, 'publish_clock') is True and given(controller, 'use_sim_time') is True


def test_two_arms_share_no_topic():
    found, _ = nodes('dual_arm.launch.py', simulated='true', right_urdf='rp',
                     right_config='rp.yaml')
    assert [''.join(node._Node__node_namespace) for node in found] == ['left'] * 2 + ['right'] * 2
    assert given(found[2], 'urdf') == 'rp'


def test_two_arms_in_one_process_have_a_section_each(tmp_path):
    """Files with wildcards are for the side that they are given for, and numbers stay numbers."""
    (config := tmp_path / 'arm.yaml').write_text(
        '/**: {ros__parameters: {rate: 5e2, mode: pd}}\n'
        '/**/controller: {ros__parameters: {mode: computed_torque}}\n')
    (node,), _ = nodes('dual_arm.launch.py', one_process='true', right_urdf='rp',
                       left_config=str(config), right_config='rp.yaml', autostart='false')
    assert [perform_substitutions(LaunchContext(), word) for word in node.cmd][1:3] == [
        'left', 'right']
    text = Path(given(node, 'file')).read_text()
    left, right = (yaml.safe_load(text)[f'/{side}/controller']['ros__parameters']
                   for side in ('left', 'right'))
    assert left['mode'] == 'computed_torque' and 'rate: 5e2' in text
    assert left['autostart'] is right['autostart'] is left['use_sim_time'] is False
    assert ['<robot name="' + name in side['robot_description'] for name, side in (
        ('two_link', left), ('rp', right))] == [True, True]
    assert right['mode'] == 'gravity_compensation'
    with pytest.raises(ParameterError, match='no section for node /left/controller'):
        (config := tmp_path / 'other.yaml').write_text('/other: {ros__parameters: {}}')
        nodes('dual_arm.launch.py', one_process='true', left_config=str(config))


def test_recording_matches_the_topics_of_one_controller():
    pattern = runpy.run_path(str(share_path('launch', 'record.launch.py')))['topics'](
        'left', 'joint_states', '/efforts')
    for topic in ('/left/joint_states', '/efforts', '/left/controller/joint_trajectory', '/clock'):
        assert re.match(pattern, topic)
    for topic in ('/right/joint_states', '/joint_states', '/efforts_of_others', '/camera'):
        assert not re.match(pattern, topic)


def defaults(file, **given):
    """Return a context with the arguments of a launch file, as `ros2 launch` gives them."""
    context = LaunchContext()
    context.launch_configurations.update({
        name: perform_substitutions(context, normalize_to_list_of_substitutions(default))
        for name, (default, _) in file['ARGUMENTS'].items()} | given)
    return context


def launch_file(stem):
    return runpy.run_path(str(share_path('launch', f'{stem}.launch.py')))


def test_the_controller_switches_an_arm_of_ros2_control_both_ways():
    """The launch file loads; the node, which knows when it is RUNNING and at rest, switches."""
    file = launch_file('ros2_control')
    context = defaults(file, urdf='two_link', replaced_controllers='holder, gripper',
                       states='joint_state_broadcaster')
    *handlers, states = file['handed_over'](context)
    found = [states]
    for code, handler in zip((1, 0), handlers):     # also after one that is active already
        event = ProcessExited(action=found[-1], name='', cmd=[], cwd=None, env=None, pid=1,
                              returncode=code)
        found += visited(LaunchDescription(handler.event_handler.handle(event, context)), context)
    assert [node.node_executable for node in found] == ['spawner', 'spawner', 'robodyn_controller']
    words = [perform_substitutions(context, word) for word in found[1].cmd[1:]]
    assert '--inactive' in words and 'forward_effort_controller' in words
    for name, value in (('controller_manager', '/controller_manager'), ('stop_with', 'gravity'),
                        ('replaced_controllers', ['holder', 'gripper']), ('autostart', True)):
        assert given(found[2], name) == value
    with pytest.raises(ParameterError, match='give replaced_controllers:=holder'):
        nodes('ros2_control.launch.py', urdf='two_link', deactivate='holder')


def test_a_controller_without_a_manager_switches_nothing():
    (node,), _ = nodes('controller.launch.py', urdf='two_link')
    assert given(node, 'controller_manager') is given(node, 'replaced_controllers') is None


def test_gazebo_has_the_robot_before_anything_drives_it():
    file = launch_file('gazebo')
    first = [entity for entity in file['nodes'](defaults(file))
             if isinstance(entity, launch_ros.actions.Node)]
    assert [node.node_executable for node in first] == [
        'parameter_bridge', 'robot_state_publisher', 'create']


def test_mujoco_takes_a_scene_of_motors_only(tmp_path):
    file, scene = launch_file('mujoco_ros2_control'), tmp_path / 'scene.xml'
    text = ('<mujoco><worldbody><body><joint name="joint1"/><geom size="1"/><body>'
            '<joint name="joint2"/><geom size="1"/></body></body></worldbody>'
            '<actuator>{}</actuator></mujoco>')
    motors = ''.join(f'<motor joint="{name}" name="{name}"/>' for name in ('joint1', 'joint2'))
    scene.write_text(text.format(motors))
    context = defaults(file, mjcf=str(scene), keyframe='hanging')
    publisher, mujoco, _ = file['nodes'](context)
    assert mujoco.node_package == 'mujoco_ros2_control'
    described = given(publisher, 'robot_description')
    assert '<plugin>mujoco_ros2_control/MujocoSystemInterface</plugin>' in described
    assert f'<param name="mujoco_model">{scene}</param>' in described
    assert '<param name="initial_keyframe">hanging</param>' in described
    for wrong, said in ((motors.replace('motor', 'position', 1), 'position servo'),
                        (motors.replace('/>', ' gear="50"/>', 1), 'gear 50'),
                        (motors[:motors.index('/>') + 2], 'no actuator for joint2')):
        scene.write_text(text.format(wrong))
        with pytest.raises(RobodynError, match=said):
            file['nodes'](context)


def test_the_demo_takes_no_arguments_of_others():
    """Whoever includes it means something else by them."""
    others = {'config': '/nosuch/ur.yaml', 'use_sim_time': 'true', 'commands': 'theirs',
              'robot_compensates_gravity': 'true'}
    found, left = nodes('demo.launch.py', [
        SetLaunchConfiguration(name, value) for name, value in others.items()],
        urdf='ur5', namespace='left')
    assert len(found) == 2
    for node in found:
        assert given(node, 'file') == str(share_path('config', 'ur5.yaml'))
        assert ''.join(node._Node__node_namespace) == 'left'
    assert {name: left[name] for name in others} == others


def test_the_xml_example_includes_the_controller():
    """The file of examples/, read by launch_xml, gives one controller that waits for a person."""
    launch_xml = pytest.importorskip('launch_xml')
    if _ament_share('launch') is None:
        pytest.skip('launch is not in the ament index, where it looks for its grammar')
    with share_path('examples', 'launch', 'my_arm.launch.xml').open() as file:
        root, parser = launch_xml.Parser.load(file)
    (node,) = visited(parser.parse_description(root), LaunchContext())
    assert node.node_executable == 'robodyn_controller' and given(node, 'autostart') is False
    assert given(node, 'file') == str(share_path('config', 'two_link.yaml'))


def test_the_demo_shows_the_arguments_that_it_takes():
    file = share_path('launch', 'demo.launch.py')
    shown = PythonLaunchDescriptionSource(str(file)).get_launch_description(
        LaunchContext()).get_launch_arguments()
    assert [argument.name for argument in shown] == [*runpy.run_path(str(file))['ARGUMENTS']]
