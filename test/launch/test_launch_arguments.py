# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Arguments of the launch files: what they make of them, and what of those of others.

Needs launch and launch_ros, which only a ROS installation has: skipped where they are missing,
unless REQUIRE_LAUNCH=1 says that they have to be there.
"""

import os

import pytest

try:
    # Not `launch`: seen from the root of the repository that may be our own folder
    import launch_ros.actions
except ImportError as error:
    if os.environ.get('REQUIRE_LAUNCH') == '1':
        raise
    pytest.skip(f'launch tests need a ROS installation: {error}', allow_module_level=True)

from launch import LaunchContext, LaunchDescription
from launch.actions import IncludeLaunchDescription, SetLaunchConfiguration
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.utilities import perform_substitutions

from robodyn_ros.errors import ParameterError
from robodyn_ros.model.resources import share_path


def nodes(file, before=(), **arguments):
    """Nodes that a launch file would start, the configurations it leaves, after ``before``."""
    found, context = [], LaunchContext()

    def visit(entity):
        if isinstance(entity, launch_ros.actions.Node):
            found.append(entity)
            return
        for below in entity.visit(context) or ():
            visit(below)
    source = PythonLaunchDescriptionSource(str(share_path('launch', file)))
    visit(LaunchDescription([*before, IncludeLaunchDescription(
        source, launch_arguments=arguments.items())]))
    return found, context.launch_configurations


def given(node, name):
    """What a node is given: files of parameters, or a parameter's value."""
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
    with pytest.raises(RuntimeError, match='"mode".*"sim".*joint_impedance'):
        nodes('controller.launch.py', [SetLaunchConfiguration('mode', 'sim')])


def test_the_demo_takes_no_arguments_of_others():
    """Whoever includes it means something else by them."""
    others = {'config': '/nosuch/ur.yaml', 'urdf': 'tractor', 'use_sim_time': 'true',
              'commands': 'theirs', 'robot_compensates_gravity': 'true'}
    found, left = nodes('demo.launch.py', [
        SetLaunchConfiguration(name, value) for name, value in others.items()],
        robot='ur5', namespace='left')
    assert len(found) == 2
    for node in found:
        assert given(node, 'file') == str(share_path('config', 'ur5.yaml'))
        assert ''.join(node._Node__node_namespace) == 'left'
    assert {name: left[name] for name in others} == others
