# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of what the controller is told: the robot before it runs, parameters while it does."""

import re

from faults.arm import TELEPORTED
from faults.live_arm import LiveArm
from faults.rows import row
import numpy as np
from processes import node
import pytest
import rclpy
from rclpy.parameter import Parameter
from robodyn_ros import Dynamics, load_urdf
from robodyn_ros.model.resources import robot_path, share_path
from robodyn_ros.nodes.controller import forward_controller
from robodyn_ros.nodes.controller.node import ControllerNode
from robodyn_ros.nodes.controller.parameters import LiveSettings
from robodyn_ros.nodes.controller.robot import RobotDescription
from robodyn_ros.nodes.middleware import parameter_files, qos
from robots import ARM
from std_msgs.msg import Float64MultiArray, String
from std_srvs.srv import Trigger

near = pytest.approx


def arm_with(old: str, new: str) -> dict[str, str]:
    """Return the parameter robot_description, with something else in it."""
    assert old in ARM
    return {'robot_description': ARM.replace(old, new)}


# What is set, what the error names, and what it tells to do
UNUSABLE = [
    ({}, 'robot_description', 'publish it'),
    ({'robot_description': '<robot name="arm">'}, 'not well-formed XML', 'correct the XML'),
    (arm_with('child link="fore"', 'child link="hand"'), "'slide'", 'add <link name="hand"/>'),
    (arm_with('"prismatic"', '"floating"'), "'slide'", 'use revolute, continuous, prismatic'),
    (arm_with('ixx="0.02"', 'ixx="0.2"'), 'upper', "accepted_links: ['*']"),
    ({'root': 'pelvis'}, "link 'pelvis'", 'choose one of base, upper'),
    ({'payload_frame': 'hand', 'payload_mass': 1.0}, "'hand'", 'choose one of'),
    (arm_with('velocity="3"', 'velocity="1e4"') | {
        'robot_compensates_gravity': False, 'stiffness': [9.0], 'damping': [1.0]},
     'joint shoulder has no velocity limit', 'set parameter velocity_limit'),
    ({'locked_joints': ['slid'], 'locked_positions': [0.1]}, "'slid'", "did you mean 'slide'"),
]
USABLE = {'robot_description': ARM, 'root': '', 'tip': '', 'payload_mass': 0.0,
          'payload_frame': ''}


@row('no URDF yet / malformed / unknown joint / unsupported joint / inertias / limits',
     where=ControllerNode.on_configure, find='_.error(str(_))', instead='None')
def test_no_robot_that_can_be_used(controller, remote):
    """One error names link or joint, and the remedy; in silence, the node waits for a better."""
    process = controller(urdf="''", description_timeout=0.1)
    errors: list[str] = []
    for change, name, remedy in UNUSABLE:
        assert remote.set('controller', **(USABLE if change else {}) | change) == ''
        assert not remote.change('configure') and remote.state() == 'unconfigured'
        said = re.findall(r'^\[(?:ERROR|FATAL)\].*', process.text, re.MULTILINE)
        assert len(said) == len(errors) + 1 and name in said[-1] and remedy in said[-1], said
        errors = said
    trouble = errors[-1].partition(']: ')[2]
    remote.until(lambda: remote.diagnostics.get('message') == f'not active: {trouble}',
                 'the diagnosis')
    assert remote.diagnostics['level'] == '2'
    assert remote.commands == [] and remote.node.count_publishers('commands') == 0
    assert remote.set('controller', locked_joints=['slide'], **USABLE) == ''
    assert remote.change('configure') and remote.commands == []


@row('parameter file without a section for the node', where=parameter_files._sections,
     find='not _', instead='False')
def test_parameter_file_without_a_section_for_the_node(start, remote):
    """With defaults it would run as if the robot did not compensate gravity."""
    process = start(node('controller'), '--ros-args', '-r', '__node:=pilot', '--params-file',
                    share_path('config', 'ur.yaml'), '-p', 'urdf:=two_link')
    assert process.wait() == 1
    assert 'ur.yaml has no section for node /pilot, only for /**/controller' in process.text


@row('`robot_compensates_gravity` is missing', where=parameter_files.check_gravity_given,
     find='_ in _ or _ in _', instead='True')
def test_who_compensates_gravity_is_not_said(controller, remote):
    """Of an arm that may be hardware a preset, or a person, has to say it; the log repeats it."""
    process = controller(urdf="''", description_timeout=0.1)
    usable = USABLE | {'locked_joints': ['slide'], 'locked_positions': [0.1]}
    assert remote.set('controller', stiffness=[9.0], damping=[1.0], **usable) == ''
    assert not remote.change('configure') and remote.state() == 'unconfigured'
    process.wait_for_line('whether robot arm compensates gravity itself: '
                          'set robot_compensates_gravity: true where zero effort holds the arm')
    for choice, told in ((False, 'efforts contain'), (True, 'efforts are published without')):
        assert remote.set('controller', robot_compensates_gravity=choice) == ''
        assert remote.change('configure')
        process.wait_for_line(rf'robot_compensates_gravity: {str(choice).lower()}\): {told}')
        assert remote.change('cleanup')
    assert remote.commands == []


@row('new robot_description while active', where=RobotDescription.replaced,
     find='_ == _', instead='True')
def test_new_robot_description_while_active(controller, remote):
    """It is refused with a warning and changes nothing; the next configuration reads it."""
    publisher = remote.node.create_publisher(String, 'robot_description', qos.DESCRIPTION)
    text = robot_path('two_link').read_text()
    publisher.publish(String(data=text))
    arm = LiveArm(remote, controller(urdf="''"))
    arm.bring_up()
    g = arm.gravity
    assert arm.tick() == near(g)
    heavy = text.replace('<mass value="1"/>', '<mass value="1.5"/>')
    publisher.publish(String(data=heavy))
    remote.until_line(arm.controller, 'new robot_description is refused')
    arm.steady()
    assert arm.phase == 'RUNNING'

    arm.deactivate()
    assert remote.change('cleanup')
    arm.dynamics = Dynamics(load_urdf(heavy))
    arm.effort = arm.gravity
    arm.bring_up()
    assert arm.tick() == near(arm.gravity) and (abs(arm.gravity) > 1.05 * abs(g)).all()


JOINTS = ['joint1', 'joint2']


def drives(remote, *, spun=True, **parameters):
    """Return a node with parameters that hears the commands, and hear them, too."""
    made = rclpy.create_node('drives', context=remote.context)
    made.create_subscription(Float64MultiArray, '~/commands', lambda _: None, 1)
    for name, value in parameters.items():
        made.declare_parameter(name, value)
    if spun:
        remote.executor.add_node(made)
    remote.hear_commands('/drives/commands')
    return made


@pytest.fixture
def forwarded(controller, remote):
    """Return the arm of a configured controller whose commands go to `drives`."""
    remote.ignore_commands()
    arm = LiveArm(remote, controller(remap=['commands:=/drives/commands']))
    arm.configure()
    return arm


def refused(arm, why):
    """Check that activation is refused for a reason, and nothing is commanded."""
    said = len(arm.controller.text)
    with arm.streaming():
        assert not arm.remote.change('activate')
    assert re.search(why, arm.controller.text[said:]), arm.controller.text[said:]
    assert arm.remote.commands == []


@row('the forward controller has other joints, or another order',
     where=forward_controller._objection, find='joints == list(_)', instead='True')
def test_forward_controller_of_another_order(forwarded, remote):
    """Activation is refused, with both orders; granted, with a warning, once they agree."""
    arm, other = forwarded, drives(remote, joints=JOINTS[::-1])
    refused(arm, 'forwards the efforts to the joints joint2, joint1')
    other.set_parameters([Parameter('joints', value=JOINTS)])
    arm.resumes()
    assert 'whether it takes efforts is not checked' in arm.controller.text


@row('commands go to a controller that takes no efforts', where=forward_controller._objection,
     find='_ not in EFFORT_INTERFACES', instead='False')
def test_controller_that_takes_no_efforts(forwarded, remote):
    """Activation is refused; the message names controller, interface and remedy."""
    arm, other = forwarded, drives(remote, joints=JOINTS, interface_name='position')
    for interface in ('position', 'velocity'):
        other.set_parameters([Parameter('interface_name', value=interface)])
        refused(arm, '/drives takes no efforts: it forwards the commands to '
                     f'joint1/{interface}.*interface_name: effort')
    other.set_parameters([Parameter('interface_name', value='torque')])
    arm.activate()
    assert 'whether it takes efforts is not checked' not in arm.controller.text


def test_controller_that_is_loaded_late(forwarded, remote):
    """It is asked even if activation has waited for it; here, it takes several interfaces."""
    with forwarded.streaming():
        answer = remote.begin('activate')
        remote.until_line(forwarded.controller, 'arming')
        drives(remote, joint='joint1', interface_names=['effort', 'position'])
        remote.until(answer.done, 'activate')
    assert not answer.result().success
    assert re.search('/drives takes no efforts.*joint1/position', forwarded.controller.text)


@row('a subscriber of the commands receives no data', where=forward_controller.forwarding_refusal,
     find='_ is None', instead='False')
def test_subscriber_that_receives_no_data(forwarded, remote):
    """A process that is discovered, but never answers, is not taken for drives."""
    deaf = drives(remote, spun=False)
    refused(forwarded, '/drives subscribes to /drives/commands, but has not answered within 3 s.*'
                       'same user and the same /dev/shm')
    deaf.destroy_node()


def test_deactivation_does_not_wait_for_a_subscriber(running, remote):
    """Nor does the end of the process: ~/reset may wait for the answer of each of them."""
    arm = running(**TELEPORTED)
    arm.tick(velocity=[])
    arm.until()
    arm.faulted('NO_VELOCITY')
    deaf = rclpy.create_node('deaf', context=remote.context)
    deaf.create_subscription(Float64MultiArray, 'commands', lambda _: None, 1)
    logged = arm.controller.text.count(': arming')
    with arm.streaming():
        answer = remote.ask(Trigger, '/controller/reset', Trigger.Request())
        remote.until(lambda: arm.controller.text.count(': arming') > logged, 'arming')
        remote.listen(0.2)          # it asks the new subscriber by now
        assert remote.change('deactivate')
        remote.until(answer.done, 'the answer')
    assert 'being deactivated' in answer.result().message
    deaf.destroy_node()


@row('the hand-over would leave the arm without efforts',
     where=forward_controller.check_hand_over, find="_['stop_with'] != _", instead='False')
def test_nobody_would_hold_the_arm(controller, remote):
    """Controllers are replaced, and the last effort is zero, of an arm that it does not hold."""
    process = controller(remap=['commands:=/forward_effort_controller/commands'],
                         controller_manager='/controller_manager',
                         replaced_controllers='[joint_trajectory_controller]')
    assert not remote.change('configure')
    assert re.search('nobody would hold the arm.*stop_with: gravity', process.text)
    assert remote.set('controller', stop_with='gravity') == ''
    if not remote.change('configure'):
        remote.until_line(process, 'needs controller_manager_msgs')
    assert process.text.count('nobody would hold the arm') == 1


@row('invalid parameter set at run time', where=LiveSettings.check,
     find='_.prepare_settings(_, wait=False)', instead='None')
def test_invalid_parameter_set_at_run_time(running, remote):
    """The whole set is refused with a reason; an unstable gain with the highest that is not."""
    arm = running(mode='joint_impedance', motor_test_effort=0.0, **TELEPORTED)
    away = np.array([0.01, 0.02])
    arm.position = arm.position - away
    arm.velocity = np.array([0.1, -0.1])
    before = arm.ticks(20)[-1]
    assert before == near(arm.gravity + away * [400.0, 100.0] - [40.0 * 0.1, -10.0 * 0.1])
    for bad, reason in (
            ({'stiffness': [1.0, 2.0, 3.0]}, 'stiffness has 3 values: specify one, or 2'),
            ({'damping': [float('nan')]}, 'damping.*finite'),
            ({'damping': [-1.0]}, r'damping.*\[0, 100000\]'),
            ({'damping_rate': 'strong'}, 'type'),
            ({'mode': 'dance'}, 'mode.*choose one of gravity_compensation, pd'),
            ({'rate': 500.0}, 'rate cannot change.*clean the node up'),
            ({'motor_test_effort': -1.0}, 'motor_test_effort.*when the node is configured'),
            ({'effort_rate_limit': [0.0]}, 'effort_rate_limit'),
            ({'payload_mass': 1.0, 'payload_frame': 'hand'}, "'hand'.*tool0"),
            ({'stiffness': [1e5, 100.0]}, 'would be unstable')):
        good = {'mode': 'pd'} if 'mode' not in bad else {'stiffness': [10.0]}
        assert re.search(reason, answer := remote.set('controller', **good, **bad)), answer
        assert arm.tick() == near(before, abs=1e-12)

    highest = float(re.search(r'at most stiffness (\S+) \(joint1\)', answer)[1])
    assert highest > 400.0
    assert 'unstable' in remote.set('controller', stiffness=[1.01 * highest, 100.0])
    assert arm.tick() == near(before, abs=1e-12)
    assert remote.set('controller', stiffness=[highest, 100.0]) == ''
    arm.velocity = np.zeros(2)
    assert arm.ticks(20)[-1] == near(arm.gravity)
    arm.position = arm.position - [1.0 / highest, 0.01]
    assert arm.ticks(20)[-1] == near(arm.gravity + [1.0, 1.0])
