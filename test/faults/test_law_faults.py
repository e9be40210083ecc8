# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of control laws: one of one's own that fails when it drives, and one that learns."""

from faults.arm import running
from faults.played_arm import TELEPORTED
from faults.rows import row
import numpy as np
import own_laws
import pytest
from robodyn_ros.control.cycle import call
from robodyn_ros.control.laws import adaptive

near = pytest.approx


@row('control law writes no effort', 'EFFORT_NOT_FINITE', where=call.call_law,
     find='_[:] = np.nan', instead='pass')
def test_a_law_that_writes_no_effort():
    """Its last effort is not published for ever: the fault is latched in the same cycle."""
    arm = running(mode='own_laws:SILENT_LATE', position_margin=[0.0], **TELEPORTED)
    assert arm.tick() == near(arm.gravity)
    arm.position = np.array([own_laws.BEYOND + 5e-4, arm.position[1]])
    g = arm.gravity
    assert arm.tick() == near(g)
    arm.goes_limp(arm.tick, g, first=1)
    arm.faulted('EFFORT_NOT_FINITE')


@row('control law writes its arguments', where=call.call_law, find='copied(_, _)', instead='arm')
def test_a_law_that_writes_its_arguments():
    """In a branch that no trial has reached: limits and state stay those of the controller."""
    arm = running(mode='own_laws:WRITING_LATE', position_margin=[0.0],
                  effort_rate_limit=[1e6, 1e6], **TELEPORTED)
    arm.position = np.array([own_laws.BEYOND + 5e-4, arm.position[1]])
    limit = arm.model.effort_limit
    for _ in range(3):
        assert (abs(arm.tick()) <= limit + 1e-9).all()


@row('payload learned from a blocked arm', where=adaptive.adapt,
     find='excess(times_transposed(new, new), _, _, _) <= _', instead='True')
def test_learning_from_a_blocked_arm():
    """An arm that something holds seems to carry a payload: at most `adaptation_mass` of it."""
    damping, bandwidth, way = np.array([4.0, 1.0]), 2.0, np.array([0.4, 0.4])
    arm = running(mode='adaptive', damping=[4.0, 1.0], adaptive_bandwidth=[2.0],
                  adaptation_rate=[20.0], adaptation_mass=[0.1], blocked_effort=0.0)
    arm.follow(arm.position + way)
    arm.ticks(1200)
    learned = [arm.tick() - arm.gravity - damping * bandwidth * way for _ in range(2)]
    assert 0.1 < abs(learned[0]).max() < 1.5
    assert learned[1] == near(learned[0])
