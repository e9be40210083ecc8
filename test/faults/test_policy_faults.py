# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of feedback policies: one test a row of the table in docs/safety.md."""

from math import nan

from faults.planner import GAIN, planned, planner
from faults.rows import row
import numpy as np
import pytest
from robodyn_ros.control.inputs import policy
from robodyn_ros.control.laws import feedback_policy
from std_msgs.msg import Float64MultiArray

near = pytest.approx


def refusal(arm, sender, message, why):
    """Send a policy that must be refused for this reason; nothing changes in the efforts."""
    said = len(arm.controller.text)
    sender.publish(message)
    arm.remote.until(lambda: why in arm.controller.text[said:], why)
    assert arm.ticks(60)[-1] == near(arm.gravity)


@row('bad feedback policy', where=policy.checked, find='np.isfinite(arrays[name])',
     instead='np.ones_like(arrays[name], bool)')
def test_bad_policy(running):
    """Refused with the reason; the arm is held."""
    arm = running(mode='feedback_policy')
    sender = planner(arm)
    for message, why in (
            (planned(arm, effort=[nan, 0.0]), 'effort of the policy is not finite for joint1'),
            (planned(arm, gain=nan * GAIN), 'gain of the policy is not finite'),
            (planned(arm, effort=[1e4, 0.0]), 'effort limit'),
            (planned(arm, names=['joint2', 'joint1']), 'rows of the policy'),
            (planned(arm, stamp=arm.time - 10.0), 'from now'),
            (planned(arm, stamp=nan), 'from now'), (Float64MultiArray(data=[1.0]), 'data_offset')):
        refusal(arm, sender, message, why)
    other = planner(arm)
    # Bad ones first: the controller may learn of the other publisher later than we do
    arm.remote.until(lambda: (sender.publish(planned(arm, stamp=nan)),
                              '2 publishers of policy' in arm.controller.text)[1],
                     'two publishers')
    refusal(arm, sender, planned(arm), '2 publishers of policy')
    arm.remote.node.destroy_publisher(other)
    assert arm.phase == 'RUNNING' and arm.remote.diagnostics['reason code'] == 'NO_REASON'


@row('feedback policies stop', where=feedback_policy.feedback_policy,
     find='-gains.policy_timeout[i] <= age <= gains.policy_timeout[i]', instead='age > -1e9')
def test_policies_stop(running):
    """After the timeout the arm is held by joint impedance; the effort fades, and stays."""
    arm = running(mode='feedback_policy', policy_timeout=[0.1])
    sender = planner(arm)
    before = arm.controller.text
    sender.publish(planned(arm))
    arm.remote.until(lambda: arm.tick()[0] > arm.gravity[0] + 0.01, 'the policy')
    efforts = arm.ticks(60)[:, 0] - arm.gravity[0]
    assert efforts[-1] == near(1.0)
    efforts = np.concatenate([efforts, arm.ticks(200)[:, 0] - arm.gravity[0]])
    assert efforts[-1] == near(0.0)
    assert abs(np.diff(efforts)).max() < 0.05
    assert arm.phase == 'RUNNING' and arm.controller.text == before
