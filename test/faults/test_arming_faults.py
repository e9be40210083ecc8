# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""~/reset answers as soon as it is decided and keeps nobody waiting; autostart arms once."""

from math import nan
import re

from faults.live_arm import LiveArm
from faults.rows import row
from nodes.bring_up import SIMULATOR
from processes import node
import pytest
from robodyn_ros.nodes.controller import arming
from rosgraph_msgs.msg import Clock
from std_srvs.srv import Trigger

near = pytest.approx
MOVING = {'velocity': [0.5, 0.0]}       # rad/s
ANY_VELOCITY = {'consistency_tolerance': [0.0]}     # the position does not move with it
LONG = 60.0         # s of arming_timeout that nobody waits for here


@row('`~/reset` is refused', where=arming.ResetService._on_reset,
     find='_answer = await _',
     instead='while (_answer := arming.poll()) is None:\n    __import__("time").sleep(0.01)')
def test_reset_waits_without_the_executor(running, remote):
    """Diagnostics, parameters and transitions go on meanwhile; deactivating ends the wait."""
    arm = running(arming_timeout=LONG)
    arm.tick(velocity=[])
    arm.until()
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
    assert not answer.result().success and 'being deactivated' in answer.result().message
    assert not second.result().success and 'no fault to reset' in second.result().message
    arm.nothing()


@row('autostart is refused', where=arming.Autostart._step, find='_ not in RETRIED_REASONS',
     instead='False')
def test_autostart_is_refused(controller, remote):
    """What is no part of starting a system ends it: nothing moves later with nobody asking."""
    arm = LiveArm(remote, controller(autostart='true', arming_timeout=1.0, **ANY_VELOCITY))
    remote.until(lambda: remote.state() == 'inactive', 'configured')
    arm.controller.wait_for_line('not activated: no joint state yet')
    with arm.streaming(**MOVING):
        remote.until_line(arm.controller, 'autostart ends: the arm is moving.*; activate when')
    said = len(arm.controller.text)
    with arm.streaming():
        remote.listen(1.5)          # three times as long as between two attempts
    assert 'arming' not in arm.controller.text[said:] and remote.commands == []
    arm.resumes()


def test_autostart_leaves_a_person_alone(start, remote):
    """It does not undo what somebody has done, be it before it could begin itself."""
    controller = start(node('controller'), *SIMULATOR[:3], '-p', 'autostart:=true',
                       '-p', 'arming_timeout:=0.2')
    controller.wait_for_line('not activated: no joint state yet')
    assert remote.change('cleanup')
    said = len(controller.text)
    remote.listen(1.5)
    assert 'configured' not in controller.text[said:] and remote.state() == 'unconfigured'
    assert controller.interrupt() == 0


@row('no joint state yet', 'NO_STATE', where=arming.Arming.poll, find='_.decoder.missing',
     instead='[]')
def test_no_joint_state_yet(controller, remote):
    """
    Nothing is published; activating is refused, with the names of the joints waited for.

    One joint that is no number makes the whole message useless: that joint is named.
    """
    arm = LiveArm(remote, controller(arming_timeout=0.5))
    assert remote.change('configure') and not remote.change('activate')
    assert 'not activated: no joint state yet of joint1, joint2 on' in arm.controller.text
    for fields, why in (
            ({'position': [0.3, nan]}, 'joint1, joint2 on .* NaN or infinite .*joint2'),
            ({'name': ['joint1'], 'position': [0.3], 'velocity': [0.0], 'effort': []},
             'joint2 on')):
        timer = remote.node.create_timer(0.002, lambda given=fields: arm.send(**given))
        # Again where no state has come in time
        remote.until(lambda words=why: not remote.change('activate') and re.search(
            f'not activated: no joint state yet of {words}', arm.controller.text), why)
        remote.node.destroy_timer(timer)
    remote.until(lambda: 'yet of joint2 on' in remote.diagnostics.get('message', ''), 'the reason')
    assert remote.diagnostics['level'] == '2'
    assert remote.commands == [] and remote.state() == 'inactive'
    arm.asked('activate', lambda: remote.change('activate'))
    assert arm.tick() == near(arm.gravity)


def test_simulation_time_that_does_not_advance(controller, remote):
    """It is the reason why nothing can be armed, and said: with nobody, or who stands still."""
    arm = LiveArm(remote, controller(trigger='timer', arming_timeout=0.5))
    remote.node.destroy_publisher(arm._clock)
    assert remote.change('configure')
    remote.node.create_timer(0.002, lambda: arm.send(0.0))

    def refused(published):
        assert not remote.change('activate')
        said = arm.controller.text.rpartition('not activated: ')[2]
        return ('use_sim_time is true, and /clock does not advance' in said
                and ('/clock has no publisher' in said) != published)
    for published in (False, True):
        if published:
            arm._clock = remote.node.create_publisher(Clock, '/clock', 1)
            remote.node.create_timer(0.002, lambda: arm.pass_time(0.0))
        # Again where the clock has been heard for the first time meanwhile
        remote.until(lambda there=published: refused(there), 'the reason')
    assert remote.state() == 'inactive'
