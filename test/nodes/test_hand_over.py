# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Hand-over between controllers of ros2_control, with a stand-in that has their semantics."""

import signal
import sys
from types import SimpleNamespace

from control.rig import Rig, TWO_LINK
from nodes.bring_up import IN_STEP, LOCKSTEP, parameters
from nodes.forward_controller import ForwardController, FORWARDER, HOLDER
import numpy as np
from processes import node, until
import pytest
from robodyn_ros import Dynamics, load_urdf
from robodyn_ros.control.steps import guard
from robodyn_ros.errors import ParameterError
from robodyn_ros.nodes.controller import forward_controller
from robodyn_ros.nodes.controller.parameters import TABLE

POSE = np.array([0.3, 0.5])
COMMANDS = f'/{FORWARDER}/commands'
MANAGER = '/controller_manager'
WITHOUT = ('controller_manager_msgs is not installed: it comes with ROS, and is on no package '
           'index for Python')
SIMULATOR = [*LOCKSTEP, *parameters(urdf='two_link', initial_position=POSE.tolist()),
             '-r', 'commands:=/drives']
CONTROLLER = [*IN_STEP, *parameters(
    urdf='two_link', loop_delay=0.008, late_limit=1.0, mode='joint_impedance',
    stiffness=[100.0, 30.0], damping=[20.0, 5.0], robot_compensates_gravity=False,
    stop_with='gravity'), '-r', f'commands:={COMMANDS}']
SWITCHED = parameters(controller_manager=MANAGER, replaced_controllers=f'[{HOLDER}]')


@pytest.fixture
def ros2_control(start):
    """Return the stand-in, which holds the simulated arm."""
    start(node('simulator'), '--ros-args', *SIMULATOR).wait_for_line('simulator ready')
    stand_in = ForwardController(load_urdf('two_link')).start()
    until(lambda: stand_in.effort.any())              # it has heard of the arm
    yield stand_in
    stand_in.close()


def held(remote, number, most):
    """Check that the arm is where it was, after so many states more."""
    before = remote.state_count
    remote.until(lambda: remote.state_count > before + number, 'states')
    assert np.abs(remote.position() - POSE).max() < most


def test_an_arm_is_handed_over_by_hand_and_keeps_its_last_effort(start, remote, ros2_control):
    """An inactive controller listens; after the switch ours holds; at the end its effort stays."""
    controller = start(node('controller'), '--ros-args', *CONTROLLER)
    assert remote.change('configure') and remote.change('activate')
    controller.wait_for_line('RUNNING')
    assert ros2_control.active == {HOLDER}
    assert ros2_control.switch([FORWARDER], [HOLDER]) == (True, '')
    held(remote, 100, 0.01)
    assert remote.change('deactivate')
    gravity = np.array(ros2_control.command)
    held(remote, 50, 0.02)                  # the last effort is g(q), and stays in force
    assert ros2_control.effort == pytest.approx(gravity) and np.abs(gravity).max() > 1.0


@pytest.fixture
def services():
    return pytest.importorskip('controller_manager_msgs.srv', reason=WITHOUT)


@pytest.fixture
def managed(services, ros2_control):
    """Return the stand-in with the services of its controller manager."""
    ros2_control.serve(services)
    return ros2_control


def test_the_manager_is_asked_to_switch(start, remote, managed):
    """Activating ours activates the forward controller, in one switch; deactivating goes back."""
    start(node('controller'), '--ros-args', *CONTROLLER, *SWITCHED)
    assert remote.change('configure') and remote.change('activate')
    assert managed.active == {FORWARDER}
    held(remote, 100, 0.01)
    assert 'stop_with' in remote.set('controller', stop_with='zero')
    assert remote.change('deactivate')
    assert managed.active == {HOLDER}
    assert managed.switches == [([FORWARDER], [HOLDER]), ([HOLDER], [FORWARDER])]
    held(remote, 50, 0.02)


def test_running_means_that_the_forward_controller_is_active(start, remote, managed):
    """
    One that is active already is no error; one that is no more is a fault; a reset activates it.

    The arm is held meanwhile.
    """
    managed.switch([FORWARDER], [HOLDER])   # by a process that was killed: its last effort stays
    managed.command = Dynamics(load_urdf('two_link')).gravity(POSE)
    controller = start(node('controller'), '--ros-args', *CONTROLLER, *SWITCHED)
    assert remote.change('configure') and remote.change('activate')
    controller.wait_for_line('forward_effort_controller is active')
    assert managed.active == {FORWARDER} and len(managed.switches) == 1
    managed.switch([HOLDER], [FORWARDER])   # as after a restart of the manager
    controller.wait_for_line(r'FAULT NOBODY_LISTENS: no subscriber to the commands '
                             r'\(forward_effort_controller is inactive\)')
    assert remote.trigger('/controller/reset') == (True, 'armed')
    assert managed.active == {FORWARDER} and len(managed.switches) == 3
    held(remote, 0, 0.05)
    assert remote.change('deactivate') and managed.active == {HOLDER}


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_a_signal_hands_the_arm_back(start, remote, managed, number):
    """As Ctrl-C and the end of a launch file do."""
    controller = start(node('controller'), '--ros-args', *CONTROLLER, *SWITCHED)
    assert remote.change('configure') and remote.change('activate')
    assert controller.interrupt(by=number) == 0
    assert managed.active == {HOLDER}
    held(remote, 50, 0.02)


def test_the_manager_knows_what_the_forward_controller_takes(start, remote, managed):
    """Also where its parameters do not say it."""
    managed.interface = 'velocity'
    controller = start(node('controller'), '--ros-args', *CONTROLLER, *SWITCHED)
    assert remote.change('configure') and not remote.change('activate')
    controller.wait_for_line('/forward_effort_controller takes no efforts: it forwards the '
                             'commands to joint1/velocity, joint2/velocity')
    assert managed.switches == []


DEFAULTS = {p.name: p.default for p in TABLE} | {'robot_compensates_gravity': False}


@pytest.mark.parametrize(('given', 'commands', 'said'), [
    ({'replaced_controllers': [HOLDER]}, COMMANDS, 'without controller_manager'),
    ({'controller_manager': MANAGER}, '/commands', 'not the topic of a forward controller'),
    ({'controller_manager': MANAGER, 'replaced_controllers': [HOLDER]}, COMMANDS,
     'nobody would hold the arm'),
    *(({'controller_manager': MANAGER, 'replaced_controllers': [HOLDER], **held}, COMMANDS,
       'needs controller_manager_msgs.*ros2 control switch_controllers')
      for held in ({'stop_with': 'gravity'}, {'robot_compensates_gravity': True}))])
def test_a_switch_that_cannot_be_is_refused(monkeypatch, given, commands, said):
    """Controllers are replaced of an arm that somebody holds; the messages are needed last."""
    monkeypatch.setitem(sys.modules, 'controller_manager_msgs', None)
    with pytest.raises(ParameterError, match=said):
        forward_controller.check_switch(DEFAULTS | given, commands)


@pytest.mark.parametrize(('fault', 'refusal'), [
    (False, ''), (True, 'forward_effort_controller is not activated: the arm is FAULT')])
def test_motors_are_tested_after_the_switch(fault, refusal):
    """Once g(q) is commanded, the test waits for the drives; they get it before the law."""
    rig, asked = Rig(TWO_LINK, POSE, motor_test_effort=0.1, mode='gravity_compensation'), []

    class Switch(forward_controller.ControllerSwitch):
        def __init__(self):
            self._forwarder, self._replaced, self._watched = FORWARDER, [HOLDER], False
            self._log = SimpleNamespace(info=asked.append)

        def _controllers(self, over=None):
            if fault:
                rig.controller.cycle_input['stop_reason'] = guard.EMERGENCY_STOP
                rig.tick()
            return {HOLDER: SimpleNamespace(state='active')}

        def _request(self, activate, deactivate):
            asked.append((activate, deactivate))
            return ''
    switch = Switch()
    switch.begin(rig.controller)
    rig.controller.arm()
    for _ in range(3000):
        rig.tick()
        rig.q, rig.qd = POSE.copy(), np.zeros(2)        # as the other controller holds it
    assert rig.phase == 'RISING' and rig.controller.memory['test_effort'][0] == 0.0
    assert rig.tau == pytest.approx(rig.dynamics.gravity(POSE), abs=1e-6)
    assert switch.take_over(rig.controller, 1.0, lambda: False) == switch.trouble == refusal
    assert asked == ([] if fault else [([FORWARDER], [HOLDER]), f'{FORWARDER} is active'])
    rig.run(2.0)
    assert rig.phase == ('FAULT' if fault else 'RUNNING'), rig.controller.reason
    assert rig.controller._v.motor_test.passed.all() != fault
