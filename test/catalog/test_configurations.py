# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Robots by name, and the files of config/, which the nodes take as they stand."""

import shutil

import numpy as np
import pytest
import rclpy
from rclpy.context import Context
from rclpy.node import Node
from robodyn_ros.catalog.robots import load_robot, read_configuration, write_parameters
from robodyn_ros.control.laws.registry import MODES
from robodyn_ros.control.settings.motion_limits import default_tolerances, resting_errors
from robodyn_ros.control.settings.settings import Settings
from robodyn_ros.control.steps.limits import BRAKING_RATE
from robodyn_ros.errors import ParameterError
from robodyn_ros.model.resources import robot_path, share_path
from robodyn_ros.model.robot import initial_position
from robodyn_ros.model.urdf import load_urdf
from robodyn_ros.nodes.controller import parameters as controller_parameters
from robodyn_ros.nodes.middleware.parameters import Parameters
from robodyn_ros.nodes.simulator import parameters as simulator_parameters
from robots import ARM

TABLES = {'controller': controller_parameters.TABLE, 'simulator': simulator_parameters.TABLE}
NAMES = sorted(path.stem for path in share_path('config').glob('*.yaml'))
# Of real robots, by the URDF here that has their joints
PRESETS = {'franka': robot_path('panda').read_text().replace('panda_', 'fr3_'),
           'ur': robot_path('ur5')}


def test_each_robot_has_one_and_a_franka_brakes():
    assert set(NAMES) == {'two_link', 'rp', 'arm6', 'panda', 'ur5', *PRESETS}
    # Steps of more than 1 N·m in 1 ms would be limited by libfranka, or end in a reflex.
    (rate,) = read_configuration('franka')['controller']['effort_rate_limit']
    assert BRAKING_RATE * rate <= 1000.0


@pytest.fixture(scope='module', params=NAMES)
def name(request):
    return request.param


@pytest.fixture(scope='module')
def sections(name):
    """Return the parameters in a file, by node."""
    return read_configuration(name)


@pytest.mark.parametrize('section', TABLES)
def test_the_node_takes_it_over(name, sections, section):
    """In any namespace; the files are used without one elsewhere."""
    wanted = sections[section]
    assert wanted.keys() <= {p.name for p in TABLES[section]}
    context = Context()
    rclpy.init(args=['--ros-args', '--params-file', str(share_path('config', f'{name}.yaml'))],
               context=context)
    try:
        node = Node(section, namespace='left', context=context)
        taken = Parameters(node, TABLES[section]).values()      # checks types and ranges
        node.destroy_node()
    finally:
        rclpy.shutdown(context=context)
    assert {key: taken[key] for key in wanted} == wanted


def test_gains_and_limits_suit_the_robot_in_every_mode(name, sections):
    """Both nodes agree on the joints and on who compensates gravity; loops wait for no timer."""
    controller, simulator = sections['controller'], sections['simulator']
    for key in ('locked_joints', 'locked_positions', 'gravity'):
        assert controller.get(key) == simulator.get(key)
    assert simulator.get('compensates_gravity', False) == (name in PRESETS)
    assert controller.get('robot_compensates_gravity', False) == (name in PRESETS)
    values = {p.name: controller.get(p.name, p.default) for p in controller_parameters.TABLE}
    # Efforts may be a period older where a timer starts the cycle: more than `loop_delay`
    assert values['trigger'] == 'state' or 2.0 / values['rate'] <= values['loop_delay']
    model = load_urdf(PRESETS.get(name) or robot_path(name), locked=dict(zip(
        simulator.get('locked_joints', []), simulator.get('locked_positions', []))))
    initial_position(model, simulator['initial_position'])
    for mode in MODES:
        settings: Settings = controller_parameters.settings(values | {'mode': mode})
        settings.check_gains(model)
        assert (settings.joint_records(model)['effort_rate_limit'] > 0).all()


def test_friction_that_a_urdf_lacks_leaves_a_ur5_within_its_goal_tolerance():
    """2 % of the effort limits: the lightest joint is stiff enough, too."""
    model, values = load_urdf(robot_path('ur5')), read_configuration('ur5')['controller']
    settings = Settings(
        mode='joint_impedance', stiffness=values['stiffness'], damping=values['damping'],
        goal_tolerance=values['goal_tolerance'], coulomb_friction=0.02 * model.effort_limit)
    assert (resting_errors(model, settings) < default_tolerances(model, settings).goal[0]).all()


def test_a_known_robot_comes_with_its_configuration(tmp_path):
    robot = load_robot('panda', {}, [])
    assert robot.model.nv == 7
    assert robot.pose[3] == pytest.approx(-3 * np.pi / 4)
    assert robot.parameters['controller']['locked_joints'] == [
        'panda_finger_joint1', 'panda_finger_joint2']
    robot = load_robot('panda', {'panda_finger_joint1': 0.0, 'panda_finger_joint2': 0.01},
                       [0, 0, 0, -1, 0, 1, 0])
    for node in robot.parameters.values():
        assert node['locked_positions'] == [0.0, 0.01]
    assert robot.pose.tolist() == robot.parameters['simulator']['initial_position'] \
        == [0, 0, 0, -1, 0, 1, 0]
    path = shutil.copy(robot_path('rp'), tmp_path / 'mine.urdf')
    robot = load_robot(str(path), {}, [])
    assert robot.name == 'mine'
    assert robot.pose.tolist() == [0.0, 0.5]        # the carriage cannot be at zero
    assert robot.parameters['controller'] == {}
    with pytest.raises(ParameterError, match='joint2'):
        load_robot('rp', {}, [0.0, 0.9])


def test_parameters_of_a_robot_are_written_and_read(tmp_path, monkeypatch):
    assert load_robot('two_link', {}, [], accepted_links=['*']).parameters['controller'][
        'accepted_links'] == ['*']
    assert 'accepted_links' not in load_robot('two_link', {}, []).parameters['controller']
    (path := tmp_path / 'arm.urdf').write_text(ARM)
    assert load_robot(str(path), {}, []).pose[1] == 0.0
    assert load_robot(str(path), {}, [], roomy=True).pose[1] == pytest.approx(0.15)
    assert load_robot(str(path), {}, [0.1, 0.01], roomy=True).pose[1] == 0.01
    monkeypatch.setattr('robodyn_ros.catalog.robots.share_path',
                        lambda *parts: tmp_path / parts[-1])
    parameters = {'controller': {'mode': 'pd', 'stiffness': [1.0, 2.0]},
                  'simulator': {'urdf': 'rp'}}
    write_parameters(tmp_path / 'x.yaml', parameters)
    assert read_configuration('x') == parameters
