# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of feedback policies: one test a row of the table in docs/safety.md."""

from math import nan

from faults.arm import running
from faults.rows import row
import numpy as np
import pytest
from robodyn_ros.control.inputs import policy
from robodyn_ros.control.laws import feedback_policy
from robodyn_ros.errors import ArgumentError

near = pytest.approx
GAIN = np.hstack([np.diag([40.0, 10.0]), np.diag([4.0, 1.0])])


def plans(arm, **changed):
    """Put a policy in force that holds the arm with another effort than g(q)."""
    arm.controller.follow_policy(**{
        'time': arm.time, 'effort': arm.gravity + [1.0, 0.5], 'position': arm.position,
        'velocity': np.zeros(2), 'gain': GAIN, **changed})


@row('bad feedback policy', where=policy.checked, find='np.isfinite(arrays[name])',
     instead='np.ones_like(arrays[name], bool)')
def test_bad_policy():
    """Refused with the reason; the arm is held."""
    arm = running(mode='feedback_policy')
    for changed, why in (
            ({'effort': np.array([nan, 0.0])}, 'effort of the policy is not finite for joint1'),
            ({'gain': nan * GAIN}, 'gain of the policy is not finite'),
            ({'effort': np.array([1e4, 0.0])}, 'effort limit'),
            ({'time': nan}, 'time of the policy')):
        with pytest.raises(ArgumentError, match=why):
            plans(arm, **changed)
        assert arm.ticks(60)[-1] == near(arm.gravity)
    assert arm.phase == 'RUNNING'


@row('feedback policies stop', where=feedback_policy.feedback_policy,
     find='-gains.policy_timeout[i] <= age <= gains.policy_timeout[i]', instead='age > -1e9')
def test_policies_stop():
    """After the timeout the arm is held by joint impedance; the effort fades, and stays."""
    arm = running(mode='feedback_policy', policy_timeout=[0.1])
    plans(arm)
    efforts = arm.ticks(61)[:, 0] - arm.gravity[0]
    assert efforts[-1] == near(1.0)
    efforts = np.concatenate([efforts, arm.ticks(200)[:, 0] - arm.gravity[0]])
    assert efforts[-1] == near(0.0)
    assert abs(np.diff(efforts)).max() < 0.05
    assert arm.phase == 'RUNNING'
