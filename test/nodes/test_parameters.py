# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters are declared once; what is out of range is refused, as a whole set."""

import math
from pathlib import Path
import re

import pytest
from rcl_interfaces.srv import GetParameters
from rclpy.parameter import Parameter as RosParameter
from robodyn_ros import load_urdf
from robodyn_ros.errors import ParameterError
from robodyn_ros.nodes import parameter_docs
from robodyn_ros.nodes.controller import parameters as controller_parameters
from robodyn_ros.nodes.controller.parameters import LiveSettings
from robodyn_ros.nodes.controller.robot import named_poses
from robodyn_ros.nodes.middleware.middleware import lone_node
from robodyn_ros.nodes.middleware.parameters import Parameter, Parameters
from robodyn_ros.nodes.simulator import parameters as simulator_parameters

TABLE = (Parameter('gain', float, 1.0, 'a gain', 'N', 0.0, 2.0, live=True),
         Parameter('gains', list[float], [], 'gains', '', 0.0, 2.0, live=True),
         Parameter('mode', str, 'pd', 'law', choices=('pd', 'float'), live=True),
         Parameter('count', int, 1, 'how many', '', 1, 9),
         Parameter('names', list[str], [], 'joints'))


def put(node, **values):
    """Set parameters as one set; the refusal's reason or ''."""
    return node.set_parameters_atomically(
        [RosParameter(k, value=v) for k, v in values.items()]).reason


def test_defaults_descriptors_and_all_at_once(node):
    # What is declared can be read, lists that are empty too, and is described with its range.
    p = Parameters(node, TABLE)
    assert p.values() == {'gain': 1.0, 'gains': [], 'mode': 'pd', 'count': 1, 'names': []}
    gain = node.describe_parameter('gain')
    assert gain.description == 'a gain [N]' and gain.floating_point_range[0].to_value == 2.0
    assert node.describe_parameter('count').integer_range[0].from_value == 1
    # One unset parameter would make rclpy answer nothing: `ros2 param dump` does ask so.
    p = Parameters(node, TABLE)
    handle, = (s for s in node.services if s.srv_type is GetParameters)
    answer = handle.callback(GetParameters.Request(names=list(p.table)), GetParameters.Response())
    kinds = [value.type for value in answer.values]
    assert kinds == [p.table[name].descriptor().type for name in p.table]
    assert put(node, gains=[1.0]) == '' and p['gains'] == [1.0]


def test_what_somebody_has_set_is_known(node):
    """At the start or later, be it to the default; what is refused was not set."""
    assert Parameters(node, TABLE).given == set()
    with lone_node('other', ['--ros-args', '-p', 'gain:=1.0']) as other:
        p = Parameters(other, TABLE)
        assert p.given == {'gain'}
        assert put(other, mode='pd') == '' and put(other, count=99) != ''
        assert p.given == {'gain', 'mode'}


def test_what_is_out_of_range_at_the_start_is_refused_with_range_and_unit():
    with lone_node('other', ['--ros-args', '-p', 'gain:=3.0']) as other, pytest.raises(
            ParameterError, match=r'^parameter gain is refused .*, in \[0, 2\] N$'):
        Parameters(other, TABLE)


@pytest.mark.parametrize(('bad', 'named'), [
    ({'gains': [1.0, 3.0]}, 'gains'), ({'gain': math.nan}, 'gain'), ({'mode': 'pid'}, 'mode'),
    ({'gains': [math.inf]}, 'gains')])
def test_a_bad_value_refuses_the_whole_set(node, bad, named):
    """The reason names the parameter, and the good value beside it is not taken."""
    p = Parameters(node, TABLE)
    before = p.values()
    good = {'gain': 0.5} if 'gain' not in bad else {'mode': 'float'}
    assert named in put(node, **good, **bad)
    assert p.values() == before


def test_sets_are_offered_and_announced(node):
    """`accept` sees all values as they would be; changed comes after the set was taken."""
    p, seen, changes = Parameters(node, TABLE), [], []
    p.accept, p.changed = seen.append, lambda: changes.append(p['gain'])
    assert put(node, gain=0.5, mode='float') == ''
    assert seen[0] == {'gain': 0.5, 'gains': [], 'mode': 'float', 'count': 1, 'names': []}
    assert changes == [0.5]

    def refuse(values):
        raise ParameterError('no', name='gain', remedy='leave it')
    p.accept = refuse
    assert put(node, gain=0.6) == 'no: leave it' and p['gain'] == 0.5


def test_what_is_not_live_is_fixed_while_configured(node):
    """A parameter that the running node could not follow is refused until clean-up."""
    p = Parameters(node, TABLE)
    p.fixed = lambda: True
    assert 'count' in put(node, count=2) and put(node, gain=0.1) == ''
    assert put(node, use_sim_time=False) == ''
    assert 'use_sim_time' in put(node, use_sim_time=True)
    assert not node.get_clock().ros_time_is_active


@pytest.mark.parametrize('table', [controller_parameters.TABLE, simulator_parameters.TABLE])
def test_tables(table):
    """Names are unique, defaults are allowed values, and whoever has a number has a range."""
    assert len({p.name for p in table}) == len(table)
    for p in table:
        p.check(p.default)
        assert p.description
        if p.type in (int, float):
            assert p.lower is not None, p.name


def test_the_page_of_parameters():
    # docs/parameters.md is what python -m robodyn_ros.nodes.parameter_docs prints.
    docs = Path(__file__).parents[2] / 'docs' / 'parameters.md'
    assert docs.read_text() == parameter_docs.page(), (
        'run: python -m robodyn_ros.nodes.parameter_docs > docs/parameters.md')
    page, simulator = parameter_docs.page().split('## Simulator\n')
    named = re.findall(r'^\| `(\w+)` \|', page, re.MULTILINE)
    assert sorted(named) == sorted(p.name for p in controller_parameters.TABLE)
    assert tuple(named[:len(parameter_docs.ESSENTIAL)]) == parameter_docs.ESSENTIAL
    assert all(f'`{p.name}`' in simulator for p in simulator_parameters.TABLE)


@pytest.mark.parametrize(('texts', 'named'), [
    (['low=0.1'], 'pose low has 1 elements: pass one for each of joint1, joint2'),
    (['low=0.1,9'], 'pose low of joint joint2 is 9: choose one in its limits'),
    (['low=0,nan'], 'pose low of joint joint2 is nan'), (['low=0,x'], "pose 'low=0,x'"),
    (['low'], "pose 'low'"), (['0=0,0'], "pose '0=0,0'"), (['a=0,0', 'a=0,1'], "pose 'a=0,1'")])
def test_a_named_pose_that_is_none_is_refused(texts, named):
    model = load_urdf('two_link')
    with pytest.raises(ParameterError, match=re.escape(named)):
        named_poses(texts, model)
    assert named_poses(['low=-0.4,0.2'], model)['low'].tolist() == [-0.4, 0.2]


def test_gains_with_a_bad_value_refuse_their_law():
    """They come from a file; all other parameters can be set as before."""
    with lone_node('other', ['--ros-args', '-p', 'spring:=[10]', '-p', 'mode:=pd']) as other:
        p = Parameters(other, controller_parameters.TABLE)
        LiveSettings(p, lambda: None, '/commands', lambda: None, print)
        for _ in range(2):
            assert 'spring' in put(other, mode='own_laws:SPRING') and p['mode'] == 'pd'
            assert put(other, damping_rate=9.0) == '' and p['damping_rate'] == 9.0


def test_gains_are_declared_with_their_law(node):
    p = Parameters(node, controller_parameters.TABLE)
    LiveSettings(p, lambda: None, '/commands', lambda: None, print)
    assert put(node, mode='own_laws:SPRING') == '' and p['mode'] == 'own_laws:SPRING'
    assert put(node, spring=[-1.0]) != '' and put(node, spring=[1.0]) == ''
    assert p['spring'] == [1.0]
