# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Publishers of joint states: two at a time, one after the other, one for each joint."""

from faults.arm import Arm, PERIOD, START, TELEPORTED
from faults.efforts import goes_limp, SHARES
from faults.rows import row
from nodes.bring_up import bring_up, CONTROLLER, SIMULATOR
import numpy as np
from processes import node
import pytest
from robodyn_ros.control.steps import guard
from robodyn_ros.wire import decoders
from robodyn_ros.wire.decode_status import DUPLICATE, REASONS
from sensor_msgs.msg import JointState

near = pytest.approx
TWICE = f'refused samples: {REASONS[DUPLICATE]}'


def publisher(arm):
    """Return a second publisher of the states, which nobody may hear yet."""
    return arm.remote.node.create_publisher(JointState, 'joint_states', 10)


def heard(arm, other, ahead):
    """Until the controller hears it: nothing is used of what is sent; one of them counts ahead."""
    before = int(arm.remote.diagnostics.get(TWICE, 0))

    def hears():
        for source in (ahead, ahead, other):
            source.publish(arm.message(name=['elbow', 'wrist']))
        other.publish(arm.message(name=['joint1', 'joint1']))
        return int(arm.remote.diagnostics.get(TWICE, 0)) > before
    arm.remote.until(hears, 'the other publisher')
    return other


class Sources(Arm):
    """An arm each joint of which has a publisher of its own."""

    def __init__(self, remote, controller):
        super().__init__(remote, controller)
        self.order = (0, 1)
        self.sources = [self.states, publisher(self)]

    def send(self, seconds=PERIOD, **fields):
        """Send a message for each joint, one right after the other."""
        self.time += seconds
        for i in self.order:
            self.publish(i)

    def publish(self, i):
        """Publish the state of one joint."""
        self.sources[i].publish(self.message(
            name=self.names[i:i + 1], position=[self.position[i]], velocity=[0.0], effort=[]))

    def tick(self, seconds=PERIOD, **fields):
        """One message after the other has been answered; the last answer."""
        self.time += seconds
        for i in self.order:
            self.publish(i)
            efforts = self.answer()
        return efforts


@row("two publishers of the same joint's state", 'TWO_STATE_PUBLISHERS', where=guard.state_fault,
     find='_ - _.other <= _', instead='False')
def test_two_publishers_of_the_state(running, remote):
    """A fault at the first sample: the last pose of one is held, then a ramp; latched."""
    arm = running(arming_timeout=1.0)
    other = heard(arm, publisher(arm), ahead=arm.states)
    g = arm.gravity
    assert arm.tick() == near(g)
    for k, share in enumerate(SHARES):
        arm.time += PERIOD
        arm.position += 0.001                   # whoever is right: no pose is believed any more
        (arm.states if k % 2 else other).publish(arm.message())
        assert arm.answer() == near(share * g, abs=1e-9)
    arm.nothing()
    arm.faulted('TWO_STATE_PUBLISHERS')
    timer = remote.node.create_timer(0.002, lambda: other.publish(arm.message()))
    arm.refuses_reset('two publishers send joint states')
    remote.node.destroy_timer(timer)
    remote.node.destroy_publisher(other)
    arm.reset()
    assert arm.tick() == near(arm.gravity)


def test_two_publishers_in_motion(running):
    """Zero at once; the older of them is believed once, for its messages have higher numbers."""
    arm = running()
    older = publisher(arm)
    for _ in range(round((arm.time - START) / PERIOD)):
        older.publish(arm.message(name=['elbow', 'wrist']))
    heard(arm, older, ahead=older)
    arm.velocity[:] = 0.1, 0.0
    assert arm.tick() == near(arm.gravity)
    arm.time += PERIOD
    arm.position += 0.01
    older.publish(arm.message())
    assert arm.answer() == near(arm.gravity)
    assert arm.tick().tolist() == [0.0, 0.0]
    arm.velocity[:] = 0.0
    arm.nothing()
    arm.faulted('TWO_STATE_PUBLISHERS')
    arm.reset()
    assert arm.tick() == near(arm.gravity)


@row('the state publisher restarts, appears twice, comes and goes', 'TWO_STATE_PUBLISHERS',
     'STALE_STATE', where=decoders.store, find='_[_, SEQUENCE] >= _', instead='False')
def test_the_state_publisher_restarts(running, remote):
    """Sooner than the timeout it looks like a second one, later states are stale: latched."""
    arm = running()
    g, first = arm.gravity, arm.states
    new = heard(arm, publisher(arm), ahead=first)
    assert arm.tick() == near(g)
    remote.node.destroy_publisher(first)
    arm.states = new
    assert arm.tick(0.03) == near(g)            # the timeout is 0.05 s
    goes_limp(arm, arm.tick, g, first=1)        # although it is alone after 0.02 s
    arm.faulted('TWO_STATE_PUBLISHERS')
    arm.reset()

    arm.tick()
    remote.node.destroy_publisher(new)
    arm.states = publisher(arm)
    assert arm.silence(0.0495) == near(g)
    goes_limp(arm, arm.silence, g)
    arm.faulted('STALE_STATE')
    arm.reset()
    assert arm.tick() == near(arm.gravity)


def test_publishers_of_a_joint_each(controller, remote):
    """Disjoint sets are merged, in any order, and each must be fresh."""
    arm = Sources(remote, controller(**TELEPORTED))
    arm.bring_up()
    for order in ((0, 1), (1, 0), (0, 1)):
        arm.order = order
        for _ in range(4):
            arm.position += 0.01, -0.02
            assert arm.tick(0.02) == near(arm.gravity)
    arm.order = (0,)
    arm.tick(0.0495)
    g = arm.tick()
    assert g == near(arm.gravity)
    goes_limp(arm, arm.silence, g, first=1)
    arm.faulted('STALE_STATE')
    assert remote.diagnostics['reason'] == 'state is stale (joint2)'
    arm.order = (0, 1)
    arm.reset()
    assert arm.tick() == near(arm.gravity)


def test_a_simulator_that_ends_and_comes_back(start, remote):
    """On the steady clock: the fault names a joint; a reset is refused until states are back."""
    simulator = start(node('simulator'), *SIMULATOR)
    simulator.wait_for_line('simulator ready')
    arm = Arm(remote, start(
        node('controller'), *CONTROLLER, '-p', 'state_timeout:=0.5', '-p', 'fault_hold_time:=0.3',
        '-p', 'fault_ramp_time:=1.0', '-p', 'arming_timeout:=1.0'))
    bring_up(remote)
    remote.until(lambda: remote.command_count > 200, 'commands')
    assert remote.trigger('/controller/reset') == (False, 'there is no fault to reset')
    simulator.interrupt()     # killed, it might hold a lock of the middleware for a second
    remote.until(lambda: remote.newest_command() == [0.0, 0.0], 'the last message')
    efforts = np.array(remote.commands)
    share = efforts @ arm.gravity / (arm.gravity @ arm.gravity)
    assert abs(efforts - np.outer(share, arm.gravity)).max() < 0.05
    assert share[:100] == near(1.0, abs=0.01) and np.diff(share).max() < 0.01
    assert np.any((share > 0.1) & (share < 0.9)) and share[-1] == 0.0
    arm.faulted('STALE_STATE')
    assert remote.diagnostics['reason'] == 'state is stale (joint1)'
    remote.listen(0.5)
    assert remote.command_count == len(efforts)
    granted, why = remote.trigger('/controller/reset')
    assert not granted and 'state is stale' in why
    start(node('simulator'), *SIMULATOR).wait_for_line('simulator ready')
    remote.until(lambda: remote.trigger('/controller/reset')[0], 'a reset')
    remote.until(lambda: arm.phase == 'RUNNING', 'RUNNING')
