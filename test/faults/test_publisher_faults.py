# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Publishers of joint states: two at a time, one after the other, one for each joint."""

from itertools import count

from faults.arm import Arm, running
from faults.played_arm import PERIOD, SHARES, TELEPORTED, ZERO
from faults.rows import row
import pytest
from robodyn_ros.control.steps import guard
from robodyn_ros.wire import decoders

near = pytest.approx


class Sources(Arm):
    """An arm each joint of which has a publisher of its own."""

    order, sources = (0, 1), (count(1), count(1))

    def send(self, seconds=PERIOD, **fields):
        """Send a message for each joint, one right after the other."""
        for i in self.order:
            super().send(seconds, source=self.sources[i], name=self.names[i:i + 1],
                         position=[self.position[i]], velocity=[0.0], effort=[])
            seconds = 0.0

    def answer(self):
        """Return the answer to the last message."""
        self._answered = len(self.loop.published) - 1
        return super().answer()


@row("two publishers of the same joint's state", 'TWO_STATE_PUBLISHERS', where=guard.state_fault,
     find='_ - _.other <= _', instead='False')
def test_two_publishers_of_the_state():
    """A fault at the first sample: the last pose of one is held, then a ramp; latched."""
    arm = running()
    g, other = arm.gravity, count(1)
    assert arm.tick() == near(g)
    for k, share in enumerate(SHARES):
        arm.position += 0.001                   # whoever is right: no pose is believed any more
        assert arm.tick(source=arm.states if k % 2 else other) == near(share * g, abs=1e-9)
    arm.nothing()
    arm.faulted('TWO_STATE_PUBLISHERS')
    arm.controller.arm()
    for source in 100 * (arm.states, other):
        arm.send(source=source)
    assert 'two publishers send joint states' in arm.controller.arming_refusal
    arm.activate()
    assert arm.tick() == near(arm.gravity)


def test_two_publishers_in_motion():
    """Zero at once; the older of them is believed once, for its messages have higher numbers."""
    arm = running()
    arm.velocity[:] = 0.1, 0.0
    assert arm.tick() == near(arm.gravity)
    arm.position += 0.01
    assert arm.tick(source=count(10**6)) == near(arm.gravity)
    assert arm.tick().tolist() == ZERO
    arm.velocity[:] = 0.0
    arm.nothing()
    arm.faulted('TWO_STATE_PUBLISHERS')
    arm.activate()
    assert arm.tick() == near(arm.gravity)


@row('the state publisher restarts, appears twice, comes and goes', 'TWO_STATE_PUBLISHERS',
     'STALE_STATE', where=decoders.store, find='_[_, SEQUENCE] >= _', instead='False')
def test_the_state_publisher_restarts():
    """Sooner than the timeout it looks like a second one, later states are stale: latched."""
    arm = running()
    g = arm.gravity
    assert arm.tick() == near(g)
    arm.states = count(1)
    assert arm.tick(0.03) == near(g)            # the timeout is 0.05 s
    arm.goes_limp(arm.tick, g, first=1)         # although it is alone after 0.02 s
    arm.faulted('TWO_STATE_PUBLISHERS')
    arm.activate()

    arm.tick()
    arm.states = count(1)
    assert arm.silence(0.0495) == near(g)
    arm.goes_limp(arm.silence, g)
    arm.faulted('STALE_STATE')
    arm.activate()
    assert arm.tick() == near(arm.gravity)


def test_publishers_of_a_joint_each():
    """Disjoint sets are merged, in any order, and each must be fresh."""
    arm = Sources(**TELEPORTED)
    arm.activate()
    for arm.order in ((0, 1), (1, 0), (0, 1)):
        for _ in range(4):
            arm.position += 0.01, -0.02
            assert arm.tick(0.02) == near(arm.gravity)
    arm.order = (0,)
    arm.tick(0.0495)
    g = arm.tick()
    assert g == near(arm.gravity)
    arm.goes_limp(arm.silence, g, first=1)
    arm.faulted('STALE_STATE', '(joint2)')
    arm.order = (0, 1)
    arm.activate()
    assert arm.tick() == near(arm.gravity)
