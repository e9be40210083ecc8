# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Every file of config/ is taken by the nodes it is for, as it stands."""

import pytest
import rclpy
from rclpy.context import Context
from rclpy.node import Node
from robodyn_ros.catalog.robots import read_configuration
from robodyn_ros.control.laws.registry import MODES
from robodyn_ros.control.settings.settings import Settings
from robodyn_ros.control.steps.limits import BRAKING_RATE
from robodyn_ros.model.pose import initial_position
from robodyn_ros.model.resources import robot_path, share_path
from robodyn_ros.model.urdf import load_urdf
from robodyn_ros.nodes.controller import parameters as controller_parameters
from robodyn_ros.nodes.middleware.parameters import Parameters
from robodyn_ros.nodes.simulator import parameters as simulator_parameters

TABLES = {'controller': controller_parameters.TABLE, 'simulator': simulator_parameters.TABLE}
NAMES = sorted(path.stem for path in share_path('config').glob('*.yaml'))
# Of real robots, by the URDF here that has their joints
PRESETS = {'franka': robot_path('panda').read_text().replace('panda_', 'fr3_'),
           'ur': robot_path('ur5')}


def test_there_is_one_for_each_robot():
    assert set(NAMES) == {'two_link', 'rp', 'arm6', 'panda', 'ur5', *PRESETS}


@pytest.mark.parametrize('namespace', ['', 'left'])
@pytest.mark.parametrize('section', TABLES)
@pytest.mark.parametrize('name', NAMES)
def test_the_node_takes_it_over(name, section, namespace):
    wanted = read_configuration(name)[section]
    assert wanted.keys() <= {p.name for p in TABLES[section]}
    context = Context()
    rclpy.init(args=['--ros-args', '--params-file', str(share_path('config', f'{name}.yaml'))],
               context=context)
    try:
        node = Node(section, namespace=namespace, context=context)
        taken = Parameters(node, TABLES[section]).values()      # checks types and ranges
        node.destroy_node()
    finally:
        rclpy.shutdown(context=context)
    assert {key: taken[key] for key in wanted} == wanted


@pytest.mark.parametrize('name', NAMES)
def test_gains_and_limits_suit_the_robot_in_every_mode(name):
    sections = read_configuration(name)
    simulator = sections['simulator']
    model = load_urdf(PRESETS.get(name) or robot_path(name), locked=dict(zip(
        simulator.get('locked_joints', []), simulator.get('locked_positions', []))))
    initial_position(model, simulator['initial_position'])
    values = {p.name: sections['controller'].get(p.name, p.default)
              for p in controller_parameters.TABLE}
    for mode in MODES:
        settings: Settings = controller_parameters.settings(values | {'mode': mode})
        joints = settings.joint_records(model)
        settings.check_gains(model)
        assert (joints['effort_rate_limit'] > 0).all()


@pytest.mark.parametrize('name', NAMES)
def test_both_nodes_speak_of_the_same_joints(name):
    sections = read_configuration(name)
    for key in ('locked_joints', 'locked_positions', 'gravity'):
        assert sections['controller'].get(key) == sections['simulator'].get(key)


@pytest.mark.parametrize('name', NAMES)
def test_gravity_is_compensated_once(name):
    sections = read_configuration(name)
    by_the_robot = name in PRESETS
    assert sections['simulator'].get('compensates_gravity', False) == by_the_robot
    assert sections['controller'].get('robot_compensates_gravity', False) == by_the_robot


def test_a_franka_is_braked_within_the_rate_of_its_interface():
    """Steps of more than 1 N·m in 1 ms would be limited by libfranka, or end in a reflex."""
    (rate,) = read_configuration('franka')['controller']['effort_rate_limit']
    assert BRAKING_RATE * rate <= 1000.0


@pytest.mark.parametrize('name', NAMES)
def test_slow_loops_wait_for_no_timer(name):
    """Efforts may be a period older where a timer starts the cycle: more than `loop_delay`."""
    values = {p.name: read_configuration(name)['controller'].get(p.name, p.default)
              for p in controller_parameters.TABLE}
    assert values['trigger'] == 'state' or 2.0 / values['rate'] <= values['loop_delay']
