# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a display is told of a cycle: its parts sum to the command, and what is unknown is NaN."""

from control.closed_loop import Rig
from control.risen import POSE, TWO_LINK
import numpy as np
import pytest
from robodyn_ros.control.controller.cycle_telemetry import TelemetryReader
from robodyn_ros.control.steps import guard

FRICTION = {'viscous_friction': [1.0, 0.5], 'friction_compensation': [0.5]}


def parts(cycle):
    return cycle.gravity + cycle.friction + cycle.law + cycle.limits


def test_the_parts_of_each_phase_sum_to_the_command():
    for settings in ({'effort_rate_limit': [50.0], 'acceleration_limit': [2.0]},
                     {'robot_compensates_gravity': True, 'arming_effort': 10.0}):
        rig = Rig(TWO_LINK, POSE, mode='computed_torque', **FRICTION, **settings)
        reader = TelemetryReader(rig.controller)
        rig.run(0.01)
        idle = reader.read()
        assert idle.phase == guard.INACTIVE and np.isnan(idle.commanded).all()
        assert np.isnan(idle.target).all() and reader.cycles == 10
        rig.tau = 0.9 * rig.tau         # measured while the brakes hold it: so there is a rise
        rig.controller.arm()
        seen = set()
        for _ in range(300):
            if (commanded := rig.tick()) is not None:
                cycle = reader.read()
                seen.add(cycle.phase)
                assert cycle.commanded == pytest.approx(commanded)
                assert parts(cycle) == pytest.approx(commanded)
                assert cycle.time == pytest.approx(rig.time - rig.period)
        assert guard.RUNNING in seen
        assert guard.RISING in seen or 'effort_rate_limit' not in settings


def test_reference_error_friction_and_limits_are_those_of_the_law():
    rig = Rig(TWO_LINK, POSE, mode='computed_torque', effort_limit=[40.0, 20.0], **FRICTION)
    reader = TelemetryReader(rig.controller)
    rig.rise()
    rig.q, rig.qd = rig.q + [0.02, 0.0], np.array([0.4, 0.0])
    rig.tick()
    cycle = reader.read()
    assert cycle.target == pytest.approx(POSE, abs=1e-3)
    assert cycle.position - cycle.target == pytest.approx([0.02, 0.0], abs=2e-3)
    assert cycle.velocity[0] == pytest.approx(0.4, abs=0.02) and not cycle.target_qd.any()
    assert cycle.law[0] < -5.0 and cycle.limits[0] > 0.0        # cut by the effort rate limit
    assert parts(cycle) == pytest.approx(cycle.commanded)


def test_a_floating_arm_follows_nothing_and_a_fault_is_told():
    rig = Rig(TWO_LINK, POSE, mode='gravity_compensation')
    reader = TelemetryReader(rig.controller)
    rig.rise()
    cycle = reader.read()
    assert np.isnan(cycle.target).all() and np.isnan(cycle.target_qd).all()
    assert cycle.gravity == pytest.approx(cycle.commanded, abs=0.5)
    rig.controller.cycle_input['stop_reason'] = guard.EMERGENCY_STOP
    rig.tick()
    cycle = reader.read()
    assert cycle.phase in (guard.STOPPING, guard.FAULT)
    assert parts(cycle) == pytest.approx(cycle.commanded)
