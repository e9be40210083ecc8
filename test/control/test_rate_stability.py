# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Gains that the effort rate limit can follow, in motions and in words."""

from dataclasses import replace

from control.risen import follow, risen, TWO_LINK
import numpy as np
import pytest
from robodyn_ros import Dynamics, load_urdf
from robodyn_ros.control.settings import rate_stability
from robodyn_ros.control.settings.settings import Settings
from robodyn_ros.control.settings.suggested_gains import suggest_gains, SUGGESTED_KD, SUGGESTED_KP
from robodyn_ros.errors import ParameterError
from robots import PANDA_LOCKED, REAL

ACCELERATION = 0.97 * 8.0 / 0.25            # of the velocity limits


def test_the_highest_damping_is_named_with_the_remedies():
    """Gain, joint, the highest that is accepted, and the effort rate that it would need."""
    given = Settings(mode='joint_impedance', stiffness=[400.0, 60.0], damping=[40.0, 6.0])
    with pytest.raises(ParameterError) as refused:
        given.check_gains(TWO_LINK)
    assert refused.value.name == 'damping' and refused.value.value == 40.0
    assert ('damping 40 (joint1)' in str(refused.value)
            and 'give at most damping 25.7 (joint1), or effort_rate_limit 1250 (joint1)'
            in str(refused.value))
    for change in ({'damping': [25.7, 6.0]}, {'effort_rate_limit': [1250.0, 300.0]},
                   {'acceleration_limit': [20.0]}, {'mode': 'gravity_compensation'}):
        replace(given, **change).check_gains(TWO_LINK)


def test_slow_references_need_no_fast_efforts():
    """Without a velocity limit, the efforts bound what a reference can be."""
    rate, acceleration = np.array([800.0, 300.0]), np.array([np.inf, 2.0])
    most = rate_stability.highest_damping(np.ones(2), acceleration, rate)
    assert most.tolist() == [np.inf, 150.0]
    free = replace(TWO_LINK, velocity_limit=np.full(2, 1e3))
    Settings(mode='joint_impedance', stiffness=[150.0, 50.0],
             damping=[20.0, 4.0]).check_gains(free)


def fault(model, kp, kd):
    """Return the reason of the fault in motions with acceleration steps of 24 rad/s², if any."""
    rig = risen(model=model, mode='computed_torque', acceleration_kp=[kp], acceleration_kd=[kd],
                loop_delay=0.002, acceleration_limit=[2.0])
    for goal in ([1.3, -0.3], [-0.5, 0.7], [0.8, 0.0]):
        if rig.phase == 'FAULT':
            break
        there = abs(np.array(goal) - rig.controller._v.target).max()
        seconds = np.sqrt(6.0 * there / 24.0)
        follow(rig, goal, seconds, at_rest=True)
        rig.run(seconds + 0.2)
    return rig.controller.reason_code


def test_the_rule_separates_motions_that_are_followed():
    """What is accepted by default follows them, what is refused turns them into a fault."""
    accepted, refused = (100.0, 20.0), (3600.0, 120.0)
    for kp, kd in (accepted, refused):
        given = Settings(mode='computed_torque', acceleration_kp=[kp], acceleration_kd=[kd])
        if kd == accepted[1]:
            given.check_gains(TWO_LINK)
        else:
            with pytest.raises(ParameterError, match='acceleration_kd 120'):
                given.check_gains(TWO_LINK)
    assert fault(TWO_LINK, *accepted) == 'NO_REASON'
    assert fault(TWO_LINK, *refused) in ('FOLLOWING_ERROR', 'EFFORT_OSCILLATES', 'EFFORT_LIMITED')



def test_stiffness_is_as_much_lower_as_damping():
    # Stretched upwards, the Panda's joints 1 and 3 turn about one line: bent, they move little
    model = load_urdf(REAL['panda'], locked=PANDA_LOCKED)
    pose = np.array([0.0, 0.0, 0.0, -1.57, 0.0, 1.87, 0.0])
    gains = suggest_gains(model, pose, Settings())
    lowered = gains.damping / (SUGGESTED_KD * Dynamics(model).mass_matrix(pose).diagonal())
    assert lowered[2] < 0.5
    ratio = gains.stiffness / gains.damping
    np.testing.assert_allclose(ratio, ratio[0], rtol=0.02)
    # The disturbance observer has its room: it adds damping
    assert SUGGESTED_KP / SUGGESTED_KD <= ratio.max() <= 1.45 * SUGGESTED_KP / SUGGESTED_KD
    assert gains.observer_bandwidth.min() >= 25.0
