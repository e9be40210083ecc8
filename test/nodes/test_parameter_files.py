# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A parameter file that is not there, or says nothing to a node, is named before anything runs."""

from processes import node
import pytest
import rclpy
from robodyn_ros.errors import ParameterError
from robodyn_ros.model.resources import share_path
from robodyn_ros.nodes.parameter_files import check_sections, config_path

KEYS = ['/**/controller', '/**', '/*/controller', '/**/*', '/*', '/*/*', 'controller',
        '/controller', 'left/controller', '/left/controller', 'pilot', 'left:\n  controller']
NODES = ['/controller', '/left/controller', '/a/b/controller']


def file_of(folder, *keys):
    """Return a file with a section for each key."""
    path = folder / 'given.yaml'
    path.write_text(''.join(f'{key if ":" in key else repr(key)}:\n    ros__parameters:\n'
                            '      rate: 500.0\n' for key in keys))
    return str(path)


@pytest.mark.parametrize('key', KEYS)
def test_sections_are_matched_as_ros_matches_them(key, tmp_path):
    """The node has the parameters of the file exactly where the check lets it pass."""
    words = ['--ros-args', '--params-file', file_of(tmp_path, key)]
    context = rclpy.Context()
    rclpy.init(args=words, context=context)
    for name in NODES:
        space, _, own = name.rpartition('/')
        node = rclpy.create_node(own, namespace=space, context=context,
                                 automatically_declare_parameters_from_overrides=True)
        try:
            check_sections(['controller', *words], name)
            accepted = True
        except ParameterError as error:
            accepted = False
            assert name in str(error) and 'given.yaml' in str(error)
        assert accepted == node.has_parameter('rate'), name
        node.destroy_node()
    context.shutdown()


def test_each_file_is_looked_at_and_nothing_else(tmp_path):
    good = file_of(tmp_path, '/**/controller')
    other = tmp_path / 'other.yaml'
    other.write_text('"/**/pilot":\n  ros__parameters: {}\n')
    empty = tmp_path / 'empty.yaml'
    empty.write_text('')
    option = '--params-file'
    check_sections(['x', '--ros-args', '-p', 'a:=1', option, good, '--', option, other],
                   '/controller')
    check_sections(['x', option, str(other)], '/controller')        # not ROS's
    with pytest.raises(ParameterError, match=r'other.yaml .*only for /\*\*/pilot: name the '
                                             r'section /\*\*/controller'):
        check_sections(['x', '--ros-args', option, good, option, str(other)], '/controller')
    with pytest.raises(ParameterError, match='empty.yaml .*only for none'):
        check_sections(['x', '--ros-args', option, str(empty)], '/controller')


@pytest.mark.parametrize('name', ['controller', 'simulator'])
def test_a_node_of_another_name_does_not_start(start, name):
    """It would run with defaults: of a robot that compensates gravity, too."""
    words = ['--ros-args', '--params-file', share_path('config', 'ur5.yaml')]
    process = start(node(name), *words, '-r', '__node:=pilot')
    assert process.wait() == 1
    assert 'ur5.yaml has no section for node /pilot, only for /**/controller' in process.text
    gone = start(node(name), *words[:2], '/nosuch/ur.yaml')
    assert gone.wait() == 1 and '/nosuch/ur.yaml' in gone.text and 'Traceback' not in gone.text


def test_a_configuration_is_a_path_or_one_of_ours(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert config_path('ur.yaml') == share_path('config', 'ur.yaml')
    (own := tmp_path / 'ur.yaml').write_text('')
    assert config_path('ur.yaml') == own == config_path(str(own))
    for wrong in ('/nosuch/ur.yaml', 'config/ur.yaml', 'urs.yaml', '.'):
        with pytest.raises(ParameterError) as refused:
            config_path(wrong)
        said = str(refused.value)
        assert f'{tmp_path / wrong} is no file, and {share_path("config")} has none' in said
        assert 'franka.yaml' in said
