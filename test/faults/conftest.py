# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the fault tests of nodes."""

from faults.arm import FAULT_TIMES
from forked import DISCOVERY
from nodes.bring_up import CONTROLLER
from processes import node
import pytest

GRANTED = 3.0       # s of arming_timeout
EXACT = ['-p', 'use_sim_time:=true', '-p', 'trigger:=state', '-p', 'urdf:=two_link',
         *(x for k, v in FAULT_TIMES.items() for x in ('-p', f'{k}:={v}')),
         '-p', f'arming_timeout:={GRANTED}']
# A machine that stops a controller for a while must not be a fault
PATIENT = ['-p', 'state_timeout:=0.5']
# Files about other publishers of the commands. No test elsewhere has any, and none of them need
# wait, half a second each time an arm is activated, until they must have been discovered
DISCOVERING = {'test_command_faults'}
AT_ONCE = {DISCOVERY: '0.0'}
STAYING = {'state_timeout': 1.0}    # s, the most; no stall of the machine may end what tests share


def command(remap=(), **parameters):
    """Return the command line of a controller for a :class:`LiveArm`."""
    return [*node('controller'), *CONTROLLER, *EXACT, *PATIENT,
            *(x for k, v in parameters.items() for x in ('-p', f'{k}:={v}')),
            *(x for name in remap for x in ('-r', name))]


@pytest.fixture
def controller(start, request):
    """Start the controller for a :class:`LiveArm`, with parameters name=value and remappings."""
    file = request.module.__name__.split('.')[-1]

    def controller(**parameters):
        return start(command(**parameters), env={} if file in DISCOVERING else AT_ONCE)
    return controller


@pytest.fixture
def running(controller, remote):
    """Start the controller and return its :class:`LiveArm`, RUNNING."""
    from faults.live_arm import LiveArm  # tests of the library need no ROS

    def running(**parameters):
        arm = LiveArm(remote, controller(**parameters))
        arm.bring_up()
        return arm
    return running


def scope(fixture_name, config):
    """Mutants need a controller of their own."""
    return 'function' if config.pluginmanager.hasplugin('faults.mutants') else 'module'


@pytest.fixture(scope=scope)
def shared(request):
    """Yield one RUNNING :class:`LiveArm` for all tests of a module, with its PARAMETERS."""
    from faults.live_arm import LiveArm
    from nodes.remote import Remote

    if request.scope == 'function':
        yield request.getfixturevalue('running')(**STAYING, **request.module.PARAMETERS)
        return
    process = request.getfixturevalue('start_once')(
        command(**STAYING, **request.module.PARAMETERS), env=AT_ONCE)
    remote = Remote(processes=lambda: [process])
    try:
        arm = LiveArm(remote, process)
        arm.bring_up()
        yield arm
    finally:
        remote.close()
