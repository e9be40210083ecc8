# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A reading that stands still: of a joint that moves, of one that is blocked, or that sticks."""

from control.closed_loop import Rig, Told
from control.risen import Blockable, follow, PANDA, POSE, risen
import numpy as np
import pytest

NOISE, STEP = 2e-6, 1e-5        # rad
FROZEN = {
    'frozen': lambda random: 0.0, 'noisy': lambda random: NOISE * random.standard_normal(),
    'dithering': lambda random: STEP * random.integers(2)}
SHOULDER = np.array([0.3, -0.5, 0.2, -2.0, 0.3, 1.5, 0.7])      # rad, of the Panda
STIFF = {'stiffness': [100.0, 100.0, 60.0, 60.0, 10.0, 10.0, 2.0],
         'damping': [8.0, 8.0, 4.0, 8.0, 1.0, 1.0, 0.2]}


def frozen(joint, noise, here):
    """Return a lie: a joint stays here, but for noise."""
    random = np.random.default_rng(0)

    def lie(q, qd):
        q[joint], qd[joint] = here + noise(random), 0.0
        return q, qd
    return lie


def fastest(rig, seconds):
    """Run until a fault; return the greatest velocity on the way, of the limit."""
    peak = 0.0
    for _ in range(round(seconds / rig.period)):
        if rig.phase == 'FAULT':
            break
        rig.tick()
        peak = max(peak, (abs(rig.qd) / rig.model.velocity_limit).max())
    return peak


@pytest.mark.parametrize('noise', FROZEN)
@pytest.mark.parametrize('joint', [0, 1, 3])
def test_a_frozen_joint_in_motion_is_found_by_the_others(joint, noise):
    """No reading needs to repeat bit for bit."""
    rig = risen(Told, SHOULDER, PANDA, mode='joint_impedance', **STIFF)
    follow(rig, SHOULDER + 0.6, 0.8)
    rig.run(0.3)
    rig.lie = frozen(joint, FROZEN[noise], rig.q[joint])
    assert fastest(rig, 0.3) < 0.7                  # that of the motion
    assert rig.controller.reason_code == 'STATE_INCONSISTENT'
    assert rig.controller.memory['joint'][0] == joint
    rig.tick()
    assert not rig.tau.any()


def test_a_blocked_joint_is_no_frozen_one():
    """The other joints do not move as if it did: its fault is named, and the arm is held."""
    rig = risen(Blockable, SHOULDER, PANDA, mode='joint_impedance', blocked_effort=0.1, **STIFF)
    follow(rig, SHOULDER + 0.6, 1.2)
    rig.blocked = 1,
    fastest(rig, 3.0)
    assert rig.controller.reason_code == 'JOINT_BLOCKED'
    assert rig.controller.memory['joint'][0] == 1 and rig.tau.any()


@pytest.mark.parametrize('noise', ['frozen', 'dithering'])
def test_effort_does_not_drive_on_a_wrist_that_may_move(noise):
    """Too light to move other joints visibly: its effort is friction compensation at most."""
    rig = risen(Told, SHOULDER, PANDA, mode='joint_impedance', **STIFF)
    rig.lie = frozen(6, FROZEN[noise], rig.q[6])
    goal = SHOULDER + 0.5
    goal[6] += 0.3
    follow(rig, goal, 0.9)
    assert fastest(rig, 0.85) < 1.1


class Sticky(Rig):
    """
    An arm of which friction holds the joints, which its model does not know.

    Joints at rest stay where they are, bit for bit, until their efforts exceed ``share`` of their
    limits.
    """

    share, substeps = 0.0, 0

    def tick(self, **how):
        published = super().tick(**how)
        most = self.share * self.model.effort_limit
        excess = self.tau - self.dynamics.gravity(self.q)
        slides = (abs(excess) > most) | (self.qd != 0.0)
        for _ in range(4):
            h, before = self.period / 4, self.qd.copy()
            friction = np.where(self.qd != 0.0, np.sign(self.qd), np.sign(excess)) * most
            self.qd = np.where(slides, self.qd + h * self.dynamics.forward_dynamics(
                self.q, self.qd, np.where(slides, self.tau - friction, self.tau)), 0.0)
            self.qd[self.qd * before < 0.0] = 0.0
            self.q += h * self.qd
        return published


@pytest.mark.parametrize('share', [0.014, 0.043, 0.09])
@pytest.mark.parametrize('seconds', [1.0, 4.0])
def test_an_arm_that_sticks_begins_a_slow_motion(share, seconds):
    """With a fine encoder without noise, and no friction in its model."""
    rig = risen(Sticky, POSE, mode='joint_impedance')
    rig.share = share
    follow(rig, POSE + 0.5, seconds)
    fastest(rig, seconds + 0.5)
    assert rig.phase == 'RUNNING', rig.controller.reason
    assert (abs(rig.q - POSE) > 0.1).any()
