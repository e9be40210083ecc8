# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The control thread, on real topics: what wakes it, what ends it, what it leaves behind."""

import time

from nodes.closed_loop import each_way, Rig, TIMEOUT
from processes import until
import pytest
from robodyn_ros.control.steps import guard
from robodyn_ros.nodes.middleware import raw_subscription
from robodyn_ros.realtime.loop_settings import EXECUTOR, NATIVE, PYTHON
from sensor_msgs.msg import JointState


@each_way
def test_silence(node, trigger, path):
    """An arm is stale however fast a gripper publishes, and where nothing could wake the loop."""
    rig = Rig(node, trigger, path)
    rig.run()
    rig.until(lambda: rig.controller.phase == guard.FAULT, names=('finger1', 'finger2'))
    assert rig.controller.reason == 'state is stale (joint1)'
    rig.loop.stop()
    rig.run()
    node.destroy_publisher(rig.publisher)
    until(lambda: rig.controller.phase == guard.FAULT)
    assert rig.controller.reason.startswith('state is stale')
    rig.loop.stop()


@pytest.mark.parametrize('trigger', ['timer', 'state'])
def test_a_stall_within_a_cycle_is_no_stale_state(node, monkeypatch, trigger):
    """Between the take of a state and the time of its cycle, the loop may stand still too."""
    rig = Rig(node, trigger)
    rig.run()
    operations, stalls = rig.loop._loop, iter([1.2 * TIMEOUT])

    def cycle_time():
        if operations._taken is None:           # not the time at which a state was received
            time.sleep(next(stalls, 0.0))
        return time.monotonic()
    monkeypatch.setattr(operations, 'cycle_time', cycle_time)
    rig.until(lambda: rig.controller.phase == guard.FAULT)
    assert rig.controller.reason == 'control loop stalled'
    rig.loop.stop()


@pytest.mark.filterwarnings('ignore::pytest.PytestUnhandledThreadExceptionWarning')
@each_way
def test_an_exception_is_not_the_last_word(node, trigger, path):
    """A thread that fails leaves zero behind, not its last effort, and is known to have failed."""
    rig = Rig(node, trigger, path)
    rig.run()
    assert rig.loop.running
    rig.break_it()
    rig.until(lambda: not rig.loop.running)
    assert rig.published[-1] == [0.0, 0.0] and not rig.controller.driving
    rig.loop.stop()


@each_way
def test_each_start_begins_anew(node, trigger, path):
    """What a run left behind, however it ended, drives nothing in the next one."""
    rig = Rig(node, trigger, path)
    rig.run()
    rig.loop.stop()                 # without a stopping phase, as when it did not come to its end
    assert rig.published[-1] == [0.0, 0.0]
    heard = len(rig.published)
    rig.published.clear()
    rig.loop.start()
    rig.until(lambda: rig.controller.memory['cycles'][0] > 200)
    assert heard and rig.published == [] and rig.controller.phase == guard.INACTIVE
    rig.run()
    rig.loop.stop()


@pytest.mark.parametrize('numbered', [True, False])
def test_a_middleware_that_does_not_number_messages(node, monkeypatch, numbered):
    """Two publishers are then told by their count, although one of them has other joints."""
    taken = raw_subscription.sample

    def told(message, info):            # as rclpy tells of it under such a middleware
        return taken(message, info if numbered else {**info, 'publication_sequence_number': None})
    monkeypatch.setattr(raw_subscription, 'sample', told)
    rig = Rig(node, 'timer')
    rig.run()
    rig.loop.look_for_state_publishers()
    cycles, elapsed = rig.controller.memory['cycles'], rig.controller.memory['cycles'][0]
    rig.until(lambda: cycles[0] > elapsed + 20)
    assert rig.controller.phase == guard.RUNNING
    other = node.create_publisher(JointState, 'joint_states', 10)
    rig.until(lambda: rig.loop._states.publisher_count() == 2)
    rig.loop.look_for_state_publishers()
    elapsed = cycles[0]
    rig.until(lambda: cycles[0] > elapsed + 20)
    assert rig.controller.reason_code == ('NO_REASON' if numbered else 'TWO_STATE_PUBLISHERS')
    node.destroy_publisher(other)
    rig.loop.stop()


@pytest.mark.parametrize(('path', 'trigger'), [(PYTHON, 'timer'), (EXECUTOR, 'state')])
def test_a_slow_publish_is_counted_and_a_very_slow_one_is_a_stall(node, trigger, path):
    """The middleware may wait for listeners that are suspended."""
    rig = Rig(node, trigger, path)
    rig.run()
    slow = rig.loop.tally.slow_publishes
    rig.slow = 0.01
    rig.until(lambda: rig.loop.tally.slow_publishes > slow + 5)
    assert rig.controller.phase == guard.RUNNING
    rig.slow = 1.4 * TIMEOUT
    rig.until(lambda: rig.controller.phase == guard.FAULT)
    assert rig.controller.reason_code == 'LOOP_STALLED'
    rig.slow = 0.0
    rig.loop.stop()
    assert rig.published[-1] != [0.0, 0.0]      # it has fallen silent, with no last word


def test_compiled_code_counts_slow_publishes(node):
    """Where a period is a nanosecond, all are slow."""
    rig = Rig(node, 'state', NATIVE)
    rig.run()
    rig.native._state['period'] = 1
    slow = rig.loop.tally.slow_publishes
    rig.until(lambda: rig.loop.tally.slow_publishes > slow + 5)
    rig.loop.stop()
