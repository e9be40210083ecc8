# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""~/reset answers as soon as it is decided and keeps nobody waiting; autostart arms once."""

import time

from faults.arm import Arm
from faults.rows import row
from nodes.bring_up import SIMULATOR
from processes import node
import pytest
from robodyn_ros.control.steps import guard
from robodyn_ros.nodes.controller import autostart, reset_service
from std_srvs.srv import Trigger

near = pytest.approx
MOVING = {'velocity': [0.5, 0.0]}       # rad/s
ANY_VELOCITY = {'consistency_tolerance': [0.0]}     # the position does not move with it
LONG = 60.0         # s of arming_timeout that nobody waits for here


@row('~/reset is refused, or waits', where=reset_service.ResetService._on_reset,
     find='_answer = await _',
     instead='while (_answer := arming.poll()) is None:\n    __import__("time").sleep(0.01)')
def test_reset_waits_without_the_executor(running, remote):
    """Diagnostics, parameters and transitions go on meanwhile; deactivating ends the wait."""
    arm = running(arming_timeout=LONG)
    arm.tick(velocity=[])
    arm.until([0.0, 0.0])
    arm.faulted('NO_VELOCITY')
    answer = remote.ask(Trigger, '/controller/reset', Trigger.Request())
    seen = remote.reports
    remote.until(lambda: remote.reports > seen + 2, 'diagnostics')      # nobody sends a state
    assert remote.set('controller', fault_hold_time=0.03) == ''
    assert not answer.done(), answer.result()
    second = remote.ask(Trigger, '/controller/reset', Trigger.Request())
    with arm.streaming():
        assert remote.change('deactivate')
        remote.until(lambda: answer.done() and second.done(), 'the answers')
    assert answer.result().message == 'the controller is being deactivated'
    assert not answer.result().success and not second.result().success
    assert second.result().message == 'there is no fault to reset'
    arm.nothing()


def test_reset_is_refused_at_once(running, remote):
    """What stands against it is the answer long before the arming timeout; then it is granted."""
    arm = running(arming_timeout=LONG, **ANY_VELOCITY)
    arm.tick(velocity=[])
    arm.until([0.0, 0.0])
    begin = time.monotonic()
    arm.refuses_reset('the arm is moving', **MOVING)
    assert time.monotonic() - begin < LONG / 2      # of the timeout, not of a speed
    arm.reset()


@row('autostart is refused', where=autostart.Autostart._step, find='_ not in RETRIED_REASONS',
     instead='False')
def test_autostart_is_refused(controller, remote):
    """What is no part of starting a system ends it: nothing moves later with nobody asking."""
    arm = Arm(remote, controller(autostart='true', arming_timeout=1.0, **ANY_VELOCITY))
    remote.until(lambda: remote.state() == 'inactive', 'configured')
    arm.controller.wait_for_line('not activated: no joint state yet')
    with arm.streaming(**MOVING):
        remote.until_line(arm.controller, 'autostart ends: the arm is moving.*; activate when')
    said = len(arm.controller.text)
    with arm.streaming():
        remote.listen(3.0)
    assert 'arming' not in arm.controller.text[said:] and remote.commands == []
    arm.activate()
    assert arm.tick() == near(arm.gravity)


@row('all states are exactly zero', 'ZERO_STATE', where=guard.arming_refusal,
     find='zero_state(_)', instead='False')
def test_all_states_are_exactly_zero(controller, remote):
    """As of a driver that has not read its encoders; the arm may be declared to be there."""
    arm = Arm(remote, controller(arming_timeout=1.0))
    arm.configure()
    zero = {'position': [0.0, 0.0], 'velocity': [0.0, 0.0], 'effort': []}
    arm.refuses_activation('set accept_zero_state or publish its efforts', **zero)
    arm.nothing()
    assert remote.set('controller', accept_zero_state=True) == ''
    with arm.streaming(**zero):
        assert remote.change('activate')


def test_autostart_leaves_a_person_alone(start, remote):
    """It does not undo what somebody has done, be it before it could begin itself."""
    controller = start(node('controller'), *SIMULATOR[:3], '-p', 'autostart:=true',
                       '-p', 'arming_timeout:=0.2')
    controller.wait_for_line('not activated: no joint state yet')
    assert remote.change('cleanup')
    said = len(controller.text)
    remote.listen(2.0)
    assert 'configured' not in controller.text[said:] and remote.state() == 'unconfigured'
    assert controller.interrupt() == 0
