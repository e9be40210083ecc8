# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The topics on which others let the arm move or not: ~/heartbeat and ~/emergency_stop."""

import time
from types import SimpleNamespace

from faults.arm import Arm
from faults.live_arm import Button, LiveArm
from faults.rows import row
from processes import until
import pytest
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from robodyn_ros.control.steps import guard
from robodyn_ros.nodes.middleware.middleware import lone_node
from robodyn_ros.nodes.topics import stop_topics
from std_msgs.msg import Bool

near = pytest.approx
TIMEOUT = 0.8       # s of silence
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
UNRELIABLE = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
STOP, BEAT = '/controller/emergency_stop', '/controller/heartbeat'


def ready(remote, controller, topic, qos=10, **parameters):
    """Configure a controller, and have a button on one of its topics."""
    arm = LiveArm(remote, controller(**parameters))
    arm.configure()
    return arm, Button(remote, topic, qos)


class Beaten(Arm):
    """An arm that is played in process, with a heartbeat on a clock of the test."""

    def __init__(self, node, monkeypatch):
        super().__init__()
        self.now, self.looks, tell = 0.0, 0, stop_topics.StopTopics._tell

        def told(topics):
            tell(topics)
            self.looks += 1
        monkeypatch.setattr(stop_topics, 'time', SimpleNamespace(monotonic=lambda: self.now))
        monkeypatch.setattr(stop_topics.StopTopics, '_tell', told)
        self.topics = stop_topics.StopTopics(
            node, self.controller.cycle_input, lambda: self.controller.driving,
            heartbeat_timeout=TIMEOUT, emergency_stop=False)

    def later(self, seconds, beat=None):
        """Let time pass, then a publisher beat; wait until the thread has looked."""
        self.now += seconds
        if beat:
            beat.publish(Bool(data=True))
            until(lambda: self.topics._topics[0]._heard == self.now)
        end = self.looks + 2        # one may have begun before
        until(lambda: self.looks >= end)

    def is_missing(self, because):
        """Check that the arm cannot be armed, and why."""
        self.refuses('the heartbeat is missing')
        assert self.topics.detail(guard.HEARTBEAT_LOST) == because


@row('the heartbeat is silent or false', 'HEARTBEAT_LOST', where=stop_topics.StopTopic._look,
     find='_ - _ > _', instead='False')
def test_heartbeat_is_silent(monkeypatch):
    """A fault after the timeout, latched; no arming before the first beat, nor without it."""
    with lone_node('of_the_test') as node:
        arm = Beaten(node, monkeypatch)
        arm.is_missing('no message yet on ~/heartbeat')
        beat = node.create_publisher(Bool, '~/heartbeat', UNRELIABLE)
        until(beat.get_subscription_count)
        for end in (lambda: None, beat.destroy):
            arm.later(1.0, beat)
            arm.activate()
            for _ in range(4):
                arm.later(0.9 * TIMEOUT)
                assert arm.tick() == near(arm.gravity)
                arm.later(0.0, beat)
            end()
            arm.later(1.1 * TIMEOUT)
            arm.goes_limp(arm.tick, arm.gravity)
            arm.faulted('HEARTBEAT_LOST')
            arm.is_missing(f'silence on ~/heartbeat for more than {TIMEOUT:g} s')
        arm.topics.close()


@row('the heartbeat is silent or false', 'HEARTBEAT_LOST', where=stop_topics.word,
     find='return _.get(_)', instead='return True')
def test_heartbeat_is_false(controller, remote):
    """
    A stop at once, however short it was and however lively the beat is after it.

    A second heartbeat would hide that the first has died: no arming, and a stop.
    """
    arm, button = ready(remote, controller, BEAT, heartbeat_timeout=60.0)
    with button.pressed(True):
        arm.activate()
    for word in (b'\0\1\0\0\0', b'\0\1\0\0\7'):      # false, and neither
        button.publisher.publish(word)
        button.say(True)
        arm.let_down('HEARTBEAT_LOST', '~/heartbeat says false')
        arm.nothing()                           # it is latched
        arm.reset()
    second = Button(remote, BEAT)
    arm.let_down('HEARTBEAT_LOST', '2 publishers of ~/heartbeat')
    arm.refuses_reset('2 publishers of ~/heartbeat')
    second.leave()
    arm.reset()


@row('emergency stop', 'EMERGENCY_STOP', where=stop_topics.StopTopics._write,
     find="_['stop_reason'] = _", instead='pass')
def test_emergency_stop(controller, remote):
    """True is a fault, latched when it is false again; while it is true nothing is armed."""
    arm, button = ready(remote, controller, STOP, emergency_stop='true')
    arm.refuses_activation('emergency stop (no message yet on ~/emergency_stop)')
    with button.pressed(False):
        arm.resumes()
    button.say(True)
    arm.let_down('EMERGENCY_STOP', 'emergency stop (~/emergency_stop says true)')
    arm.refuses_reset('~/emergency_stop says true')
    button.say(False)
    arm.nothing(1.0)                            # it is latched
    arm.reset()
    button.say(True)
    button.say(False)
    arm.until()                             # however short it was
    arm.faulted('EMERGENCY_STOP')
    arm.reset()


def test_emergency_stop_without_a_publisher(controller, remote):
    """
    No arming with nobody there, as with a mistyped topic; a stop when the last one is gone.

    Wherever the button is, and whichever way states and efforts go.
    """
    arm = LiveArm(remote, controller(emergency_stop='true', data_path='executor',
                                     remap=[f'{STOP}:=/button']))
    arm.configure()
    arm.refuses_activation('emergency stop (no publisher of ~/emergency_stop)')
    button = Button(remote, '/button')
    with button.pressed(False):
        arm.activate()
    button.say(True)
    arm.let_down('EMERGENCY_STOP', 'says true')
    with button.pressed(False):
        arm.reset_in_time()
    button.leave()
    arm.let_down('EMERGENCY_STOP', 'no publisher of ~/emergency_stop')
    arm.refuses_reset('no publisher of')
    with Button(remote, '/button').pressed(False):
        arm.reset_in_time()


def test_a_second_publisher_withdraws_no_emergency_stop():
    """A pressed button stays pressed when another one, which was not, has come and gone."""
    with lone_node('of_the_test') as node:
        topics = stop_topics.StopTopics(node, Arm().controller.cycle_input, lambda: False,
                                        heartbeat_timeout=0.0, emergency_stop=True)
        topic, = topics._topics

        def add():
            publisher = node.create_publisher(Bool, '~/emergency_stop', 10)
            until(publisher.get_subscription_count)
            return publisher

        def say(publisher, word):
            heard = topic._heard
            publisher.publish(Bool(data=word))
            until(lambda: topic._heard > heard)
        button = add()
        say(button, True)
        other = add()
        say(other, False)
        node.destroy_publisher(other)
        until(lambda: topic.trouble == '~/emergency_stop says true')
        say(button, False)
        until(lambda: not topic.trouble)
        topics.close()


def test_latched_emergency_stop_from_before_the_controller(controller, remote):
    """What was said once, before the controller came, is heard, and only what was said last."""
    publisher = remote.node.create_publisher(Bool, STOP, LATCHED)
    publisher.publish(Bool(data=False))
    publisher.publish(Bool(data=True))
    arm = LiveArm(remote, controller(emergency_stop='true'))
    arm.configure()
    remote.until(publisher.get_subscription_count, 'the controller')
    arm.refuses_activation('~/emergency_stop says true')
    publisher.publish(Bool(data=False))
    arm.activate()


def test_stop_while_the_executor_is_busy(controller, remote):
    """The stop does not wait for the executor, here deactivating an arm that never rests."""
    arm, button = ready(remote, controller, STOP, emergency_stop='true', stop_timeout=20.0,
                        consistency_tolerance=[0.0])     # its positions stand still
    with button.pressed(False):
        arm.activate()
    arm.velocity[:] = 0.3, -0.3
    answer = remote.begin('deactivate')
    end = time.monotonic() + 10.0
    while arm.tick() == near(arm.gravity):
        assert time.monotonic() < end, 'never stopping'
    button.say(True)
    arm.until()
    arm.velocity[:] = 0.0
    remote.until(lambda: arm.send() or answer.done(), 'deactivated')
    assert 'emergency stop' in arm.controller.text
