# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of the joint state: one test a row of the table in docs/safety.md."""

import numpy as np
import pytest
from faults.rows import row

near = pytest.approx
RAMP = np.maximum(0.0, 1.0 - np.arange(51) / 49.5)    # conftest.EXACT, tick by tick; the last is 0


@row('state stale', 'STALE_STATE', file='control/guard.py',
     line='        if not now - state[i].received <= timeout:      # NaN: never came\n',
     instead='        if isnan(state[i].received):\n')
def test_state_stale(running):
    """At rest: gravity of the last pose for a bounded time, a ramp to zero, nothing; latched."""
    arm = running()
    g = arm.gravity
    assert arm.tick() == near(g)
    assert arm.silence(0.051) == near(g)                # the first cycle after the timeout
    arm.faulted('STALE_STATE')
    efforts = np.array([arm.silence() for _ in range(70)])
    assert efforts[:20] == near(np.tile(g, (20, 1)))
    assert efforts[19:] == near(RAMP[:, None] * g, abs=1e-9)
    arm.nothing()
    arm.faulted('STALE_STATE')
    arm.reset()
    assert arm.tick() == near(arm.gravity)


@row('two publishers of the same joint', 'TWO_STATE_PUBLISHERS', file='control/guard.py',
     line='        if now - state[i].other <= timeout:\n', instead='        if False:\n')
def test_two_publishers_of_the_state(running, remote):
    """A second source of the same joints is a fault at once; the arm was at rest: it is held."""
    arm = running()
    other = remote.node.create_publisher(type(arm.message()), 'joint_states', 10)
    remote.until(other.get_subscription_count, 'the controller')
    arm.tick()
    g = arm.gravity
    arm.time += 0.001
    other.publish(arm.message(position=[0.5, 0.5]))
    assert arm.answer() == near(g)
    arm.faulted('TWO_STATE_PUBLISHERS')
