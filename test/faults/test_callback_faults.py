# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Exceptions in callbacks: whoever can send a message or call a service must not end a node."""

import signal
import sys

from faults.conftest import EXACT
from faults.live_arm import LiveArm
from faults.rows import row
from forked import FORKED
from nodes.bring_up import CONTROLLER, SIMULATOR
from processes import node
import pytest
from rcl_interfaces.msg import Parameter, ParameterValue
from rcl_interfaces.srv import SetParameters, SetParametersAtomically
from robodyn_ros.nodes.middleware import node_main
from std_srvs.srv import Trigger

near = pytest.approx
# The controller, with two services more
RAISING = FORKED + """
import sys
from std_srvs.srv import Trigger
from robodyn_ros.nodes.controller.node import ControllerNode
from robodyn_ros.nodes.middleware import node_main

class Raising(ControllerNode):
    def __init__(self):
        super().__init__()
        self.create_service(Trigger, '~/in_it', self.in_it)
        self.create_service(Trigger, '~/in_a_coroutine', self.in_a_coroutine)

    def in_it(self, request, response):
        raise OSError('out of order')

    async def in_a_coroutine(self, request, response):
        raise OSError('out of order')

sys.exit(node_main.main(Raising, None))
"""
MALFORMED = Parameter(name='mode', value=ParameterValue(type=99))


def rejected(remote, name):
    """Both services refuse a parameter of a type that there is not."""
    answer = remote.call(SetParameters, f'/{name}/set_parameters', SetParameters.Request(
        parameters=[MALFORMED, MALFORMED]))
    assert [result.successful for result in answer.results] == [False, False]
    assert 'type 99' in answer.results[0].reason
    answer = remote.call(SetParametersAtomically, f'/{name}/set_parameters_atomically',
                         SetParametersAtomically.Request(parameters=[MALFORMED]))
    assert not answer.result.successful and 'type 99' in answer.result.reason


def test_a_malformed_parameter_is_refused(running, remote, start):
    """With a reason, by both nodes, which go on."""
    arm = running()
    rejected(remote, 'controller')
    arm.steady()
    simulator = start(node('simulator'), *SIMULATOR, '-r', 'joint_states:=/elsewhere')
    simulator.wait_for_line('simulator ready')
    rejected(remote, 'simulator')
    assert simulator.interrupt() == 0


@row('an exception in any callback', where=node_main._run,
     find='executors = [TolerantExecutor(node) for node in nodes]',
     instead='from rclpy.executors import SingleThreadedExecutor as Plain\n'
             'executors = [Plain() for node in nodes]\n'
             'for node, executor in zip(nodes, executors):\n    executor.add_node(node)')
def test_an_exception_in_any_callback(start, remote):
    """It is logged as an error; the efforts go on, and so do other callbacks and the next call."""
    arm = LiveArm(remote, start([sys.executable, '-c', RAISING], *CONTROLLER, *EXACT))
    arm.bring_up()
    for number, where in enumerate(2 * ['in_it', 'in_a_coroutine'], 1):
        remote.ask(Trigger, f'/controller/{where}', Trigger.Request())
        remote.until(lambda n=number: arm.controller.text.count('node continues') == n, 'the log')
        assert 'Traceback' in arm.controller.text
        arm.steady()
        assert remote.state() == 'active' and rejected(remote, 'controller') is None
    assert arm.phase == 'RUNNING'
    arm.controller.popen.send_signal(signal.SIGINT)
    arm.until()
    assert arm.controller.wait() == 0
