# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Feedback policy of a slower planner, which falls back to joint impedance when it is stale.

While the newest policy is younger than ``policy_timeout``, the effort is τ = u + K (x̂ - x), see
:class:`.Policy`. Otherwise the arm is held, by joint impedance, where it was when the policy
became stale. Between the two the effort is blended over FADE_TIME.

Gains of policies are not judged: that takes longer than a planner's period. An unstable one is
found by the guard, which latches EFFORT_OSCILLATES or VELOCITY_ABOVE_LIMIT.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

from numpy import ndarray

from .law import Arm, Judged, Law, POLICY
from .pd import ImpedanceGains
from ..declare import gain, PerJoint

FADE_TIME = 0.05         # s, between a policy and joint impedance


@dataclass(frozen=True)
class Gains(ImpedanceGains):
    """Gains of joint impedance, and how long a policy is in force."""

    policy_timeout: PerJoint = gain(
        's', 1e-3, 10.0, 'Age above which a policy is stale.', 0.1)


class Memory(NamedTuple):
    """State of the law."""

    held: ndarray       # position that joint impedance holds [rad | m]
    share: ndarray      # of the policy in the effort, 0 to 1
    began: ndarray      # 1 after the first cycle


def feedback_policy(arm: Arm, gains: Any, memory: Any, tau: ndarray) -> None:
    """Write τ = s (u + K (x̂ - x)) + (1 - s) (K_s (q_h - q) - D q̇ + g), s: its share."""
    n = tau.shape[0]
    policy = arm.policy
    age = arm.time - policy.header[0].time
    for i in range(n):
        fresh = -gains.policy_timeout[i] <= age <= gains.policy_timeout[i]
        step = arm.dt / FADE_TIME
        if memory.began[i] == 0.0 or memory.share[i] == 1.0:
            memory.held[i] = arm.q[i]
        memory.began[i] = 1.0
        memory.share[i] = (min(1.0, memory.share[i] + step) if fresh
                           else max(0.0, memory.share[i] - step))
        planned = policy.effort[i]
        for j in range(n):
            planned += (policy.gain[i, j] * (policy.position[j] - arm.q[j])
                        + policy.gain[i, n + j] * (policy.velocity[j] - arm.qd[j]))
        impedance = (gains.stiffness[i] * (memory.held[i] - arm.q[i])
                     - gains.damping[i] * arm.qd[i] + arm.gravity[i])
        tau[i] = impedance + memory.share[i] * (planned - impedance)


LAW = Law('feedback_policy', feedback_policy,
          equation='τ = u + K (x̂ - x) with the policy (u, x̂, K) of a planner, x = (q, q̇); '
                   'τ = K_s (q_h - q) - D q̇ + g(q) if it is stale',
          source='Dantec, Taïx and Mansard, IEEE Robotics and Automation Letters 7(2), 2022',
          gains=Gains, memory=Memory, reference=POLICY,
          judged=(Judged('stiffness', 'damping'),))
