# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of coupled arms: one test a row of the table in docs/safety.md."""

from math import nan

from faults.arm import MOST, running
from faults.rows import row
import numpy as np
import pytest
from robodyn_ros.control.controller import partner_and_policy
from robodyn_ros.control.inputs import partner
from robodyn_ros.control.inputs.partner import AWAY, COUPLED, CouplingState, WAITING
from robodyn_ros.control.laws import leader_follower
from robodyn_ros.errors import ArgumentError

near = pytest.approx
STIFFNESS, DAMPING = np.array([40.0, 10.0]), np.array([8.0, 2.0])
FOLLOWER = {'mode': 'leader_follower', 'coupling_role': 'follower', 'stiffness': [40.0, 10.0],
            'damping': [8.0, 2.0], 'coupling_timeout': 0.1, 'effort_rate_limit': [1e5, 1e5]}


class Leader:
    """The leader that the arm under test follows, played by the test."""

    def __init__(self, arm):
        self.arm, self.position = arm, arm.position.copy()

    def say(self, status=WAITING, role='leader', names=None, time=None, position=None,
            velocity=(0.0, 0.0), gains=1.0):
        """Send the state of now."""
        rows = np.array([self.position if position is None else position, velocity,
                         gains * STIFFNESS, gains * DAMPING, np.zeros(2)])
        self.arm.controller.follow_partner(
            CouplingState(role, status, tuple(names or self.arm.names), rows),
            self.arm.time if time is None else time)

    def couple(self):
        """Go on until the follower is coupled, and its share is all of it."""
        for _ in range(MOST):
            if self.arm.controller.coupling_state().status >= COUPLED:
                break
            self.say()
            self.arm.tick()
        self.ticks(300)

    def ticks(self, count):
        """Efforts beyond gravity of so many ticks, with a message in each fifth (count, 2)."""
        out = []
        for k in range(count):
            if k % 5 == 0:
                self.say()
            out.append(self.arm.tick() - self.arm.gravity)
        return np.array(out)


@pytest.fixture
def follower():
    """Return an arm that is coupled to the leader, in the same pose."""
    arm = running(**FOLLOWER)
    leader = Leader(arm)
    leader.couple()
    return arm, leader


def held(arm, count=100):
    """Check that the arm at rest is held: gravity compensation, not given up as after others."""
    arm.steady(count)
    arm.faulted('PARTNER_LOST')


@row('the partner of a coupled arm is silent', 'PARTNER_LOST', where=partner.lost,
     find='m.coupled == 1', instead='False')
def test_the_partner_is_silent(follower):
    """Later than the timeout the arm is held, latched; the spring is gone, also after a reset."""
    arm, leader = follower
    leader.position = leader.position + 0.05
    assert leader.ticks(100)[-1] == near(0.5 * STIFFNESS * 0.05)
    arm.ticks(200)
    held(arm)
    arm.activate()
    assert arm.ticks(50)[-1] == near(arm.gravity)


@row('the partner leaves the coupling', 'PARTNER_LOST', where=partner.lost,
     find='header.status >= _', instead='True')
def test_the_partner_leaves(follower):
    """A partner that is in a fault, or in another mode, ends the coupling at once."""
    arm, leader = follower
    leader.position = leader.position + 0.05            # the spring would pull
    for _ in range(20):                 # long before the timeout
        leader.say(AWAY)
        arm.tick()
    held(arm)


@row('invalid message of the partner', where=partner.checked, find='np.isfinite(rows)',
     instead='np.ones(rows.shape, bool)')
def test_bad_message_of_the_partner(follower):
    """Refused with the reason; what was said before counts until the timeout."""
    arm, leader = follower
    for changed, why in (({'position': [nan, 0.0]}, 'numbers of joint1 are not finite'),
                         ({'role': 'follower'}, 'both arms are the follower'),
                         ({'names': ['joint1', 'joint3']}, 'no joint joint2'),
                         ({'time': arm.time - 10.0}, 'older'), ({'time': nan}, 'older')):
        with pytest.raises(ArgumentError, match=why):
            leader.say(**changed)
        assert leader.ticks(5) == near(np.zeros((5, 2)), abs=1e-6)
    arm.ticks(150)
    held(arm)


@row('the pose of the partner jumps', where=partner.check_continues,
     find='off.max() > MAX_POSITION_JUMP',
     instead='False')
def test_the_pose_of_the_partner_jumps(follower):
    """A jump that its velocities do not explain is left out; one that lasts ends the coupling."""
    arm, leader = follower
    with pytest.raises(ArgumentError, match='jumps by 1'):
        leader.say(position=leader.position + 1.0)
    arm.steady()
    assert leader.ticks(50) == near(np.zeros((50, 2)), abs=1e-6)
    assert arm.phase == 'RUNNING'


@row('velocities of the partner contradict its positions', 'PARTNER_LOST',
     where=partner_and_policy.VelocityCheck.check, find='self._excess[i] > _', instead='False')
@pytest.mark.parametrize('noise', ['alternating', 'random'])
def test_velocities_of_the_partner_contradict_its_positions(follower, noise):
    """Noise never shakes the arm: messages are left out until the coupling ends; it is held."""
    arm, leader = follower
    random, refused = np.random.default_rng(0), 0
    for k in range(400):
        if k % 5 == 0:
            velocity = 2.0 * (random.uniform(-1.0, 1.0, 2) if noise == 'random' else
                              (-1.0)**(k // 5) * np.ones(2))
            try:
                leader.say(velocity=velocity)
            except ArgumentError as error:
                refused += 'contradicts the positions' in str(error)
        effort = arm.tick() - arm.gravity
        assert (abs(effort) <= 1.01 * DAMPING).all()
    assert refused > 10
    held(arm)


@row('gains of the partner alternate', where=partner.LastingGains.keep, find='_ - _ < GAIN_TIME',
     instead='False')
def test_gains_of_the_partner_alternate(follower):
    """Those before stay in force; others count once they last."""
    arm, leader = follower
    leader.position = leader.position + 0.05
    spring = leader.ticks(100)[-1]
    assert spring == near(0.5 * STIFFNESS * 0.05)
    for k in range(100):
        leader.say(gains=k % 2)
        assert arm.tick() - arm.gravity == near(spring)
    for _ in range(100):
        leader.say(gains=0.5)
        arm.tick()
    assert arm.tick() - arm.gravity == near(0.5 * spring)


@row('coupled arms begin in different poses', where=leader_follower.align,
     find='rows[POSITION, i] - arm.q[i] if follows else 0.0', instead='0.0')
def test_coupled_arms_begin_in_different_poses():
    """No effort steps; the spring is tensioned by half a second of coupling_speed at most."""
    arm = running(**FOLLOWER, coupling_speed=[0.2])
    leader = Leader(arm)
    leader.position = arm.position + [1.0, -1.0]
    leader.couple()
    efforts = leader.ticks(600)
    assert abs(np.diff(efforts, axis=0)).max() < 0.05
    most = 0.5 * STIFFNESS * 0.2 * leader_follower.MAX_LAG_TIME + 0.5 * DAMPING * 0.2
    assert (abs(efforts).max(0) <= 1.01 * most).all() and (abs(efforts[-1]) > 0.5 * most).all()
    assert arm.phase == 'RUNNING'
