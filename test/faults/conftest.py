# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the fault tests."""

import os

from faults.arm import Arm, GRANTED
from forked import DISCOVERY
from nodes.bring_up import CONTROLLER
from processes import node
import pytest

EXACT = ['-p', 'use_sim_time:=true', '-p', 'trigger:=state', '-p', 'urdf:=two_link',
         '-p', 'state_timeout:=0.05', '-p', 'fault_hold_time:=0.02',
         '-p', 'fault_ramp_time:=0.0495',
         '-p', f'arming_timeout:={GRANTED}']
# Files whose states are late by hundredths of a second; the controllers of others bear a machine
# that stops them for a while, and plain Python that prepares a robot while a cycle waits for it
PATIENT = 0.5           # s of state_timeout, after which a loop that stood still is a fault
PUNCTUAL = {'test_state_faults', 'test_time_faults', 'test_publisher_faults',
            'test_reference_faults'}
# Files about other publishers of the commands. No test elsewhere has any, and none of them need
# wait, half a second each time an arm is activated, until they must have been discovered
DISCOVERING = {'test_command_faults'}


@pytest.fixture
def controller(start, request):
    """Start the controller for an :class:`Arm`, with parameters name=value and remappings."""
    def controller(*, remap=(), **parameters):
        file = request.module.__name__.split('.')[-1]
        env = {} if file in DISCOVERING else {DISCOVERY: '0.0'}
        if 'ROBODYN_PLAIN' in os.environ:
            parameters.setdefault('flight_recorder', 0.0)
        if file not in PUNCTUAL:
            parameters.setdefault('state_timeout', PATIENT)
        further = [x for k, v in parameters.items() for x in ('-p', f'{k}:={v}')]
        return start(node('controller'), *CONTROLLER, *EXACT, *further,
                     *(x for name in remap for x in ('-r', name)), env=env)
    return controller


@pytest.fixture
def running(controller, remote):
    """Start the controller and return its :class:`Arm`, RUNNING."""
    def running(**parameters):
        arm = Arm(remote, controller(**parameters))
        arm.bring_up()
        return arm
    return running
