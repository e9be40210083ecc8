# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of the joint state and of its publishers: one test a row of docs/safety.md."""

from itertools import count
from math import inf, nan

from faults.arm import Arm, DAMPING, PERIOD, running, SHARES, STIFFNESS, TELEPORTED, ZERO
from faults.rows import row
import numpy as np
import pytest
from robodyn_ros.control.steps import guard
from robodyn_ros.wire import decoders
from robodyn_ros.wire.decoders import DUPLICATE, FOREIGN, LENGTHS, NON_FINITE, REASONS

near = pytest.approx

BAD = [({'position': [nan, 9.0]}, NON_FINITE), ({'position': [9.0, -inf]}, NON_FINITE),
       ({'velocity': [inf, 0.0], 'position': [9.0, 9.0]}, NON_FINITE),
       ({'position': [9.0]}, LENGTHS), ({'velocity': [1.0], 'position': [9.0, 9.0]}, LENGTHS),
       ({'name': ['joint2', 'joint2'], 'position': [9.0, 9.0]}, DUPLICATE),
       ({'name': ['elbow', 'wrist'], 'position': [9.0, 9.0]}, FOREIGN)]


@row('state stale', 'STALE_STATE', where=guard.state_fault, find='not _ - _state.received <= _',
     instead='isnan(_state.received)')
def test_state_stale():
    """At rest gravity of the last pose, for a bounded time; in motion zero at once; latched."""
    arm = running()
    g = arm.gravity
    assert arm.tick() == near(g)
    assert arm.silence(0.0495) == near(g)       # old, not yet too old
    arm.goes_limp(arm.silence, g)
    arm.faulted('STALE_STATE')
    arm.activate()
    arm.velocity[:] = 0.1, 0.0
    assert arm.tick() == near(g)
    assert arm.silence(0.0495) == near(g)
    assert arm.silence().tolist() == ZERO
    arm.velocity[:] = 0.0
    arm.nothing()                               # although states are back
    arm.faulted('STALE_STATE')
    arm.resumes()


@row('NaN/Inf position, wrong lengths, duplicate names', 'STALE_STATE',
     where=decoders.decode_numbers, find='return NON_FINITE', instead='pass')
def test_bad_samples():
    """Each is refused, counted and answered by nothing; nothing but bad ones is a stale state."""
    arm = running()
    g = arm.gravity
    for fields, _ in BAD:
        arm.send(**fields)
        arm.send(**fields)
        assert arm.tick() == near(g)            # the good one, and nothing before it
    assert arm.loop.tally.refused == {REASONS[code]: 2 * kinds for code, kinds in (
        (LENGTHS, 2), (NON_FINITE, 3), (DUPLICATE, 1), (FOREIGN, 1))}
    for fields, _ in BAD:
        arm.send(0.007, **fields)
    assert arm.silence(0.0005) == near(g)
    arm.send(0.0, **BAD[0][0])
    arm.goes_limp(arm.silence, g)
    arm.faulted('STALE_STATE')
    arm.refuses('state is stale', **BAD[0][0])
    arm.resumes()


@row('velocity empty or NaN', 'NO_VELOCITY', where=guard.running_fault,
     find='return NO_VELOCITY, _', instead='pass')
def test_missing_velocity_is_a_fault():
    """Gravity of a known pose, damped by what positions tell of the motion, then the ramp."""
    arm = running()
    arm.velocity[:] = 0.05, -0.05
    assert arm.moving(60)[-1] == near(arm.gravity)
    for share in SHARES:
        effort = arm.moving(1, velocity=[])[0]
        damped = arm.gravity + arm.damping
        assert effort == near(share * damped, abs=1e-3)
    assert effort.tolist() == ZERO
    arm.nothing()
    arm.faulted('NO_VELOCITY')
    arm.velocity[:] = 0.0
    arm.refuses('no credible velocity', velocity=[])
    for velocity in ([0.0, nan], [0.0, 1e200]):
        arm.resumes()
        assert arm.ticks(5, velocity=velocity) == near(np.tile(arm.gravity, (5, 1)))
        arm.faulted('NO_VELOCITY', '(joint2)')


def test_missing_velocity_is_estimated():
    """By choice the law goes on, with the derivative of the positions behind its filter."""
    arm = running(missing_velocity='estimate', mode='joint_impedance')
    begin = arm.position.copy()
    assert arm.ticks(5, velocity=[])[-1] == near(arm.gravity)
    arm.velocity[:] = 0.02, -0.02
    for n in range(1, 100):
        effort = arm.moving(1, velocity=[nan, nan])[0]
        estimate = arm.velocity * (1.0 - np.exp(-2.0 * np.pi * 30.0 * n * PERIOD))
        assert effort == near(arm.gravity + STIFFNESS * (begin - arm.position)
                              - DAMPING * estimate)
    assert estimate == near(arm.velocity)
    arm.position += PERIOD * arm.velocity
    assert arm.tick() == near(arm.gravity + STIFFNESS * (begin - arm.position)
                              - DAMPING * arm.velocity)


def test_missing_velocity_leaves_gravity():
    """By choice gravity alone; with the velocity the mode is back, holding the present pose."""
    arm = running(missing_velocity='gravity_only', mode='computed_torque')
    shift = np.array([0.0005, -0.0005])

    def pulled_back():
        arm.position += shift
        return near(arm.gravity - 400.0 * arm.dynamics.mass_matrix(arm.position) @ shift)
    assert pulled_back() == arm.tick()
    assert arm.tick(velocity=[]) == near(arm.gravity)
    arm.velocity[:] = 0.3, -0.1
    for _ in range(50):
        assert arm.moving(1, velocity=[0.3, nan])[0] == near(arm.gravity)
    arm.velocity[:] = 0.0
    assert arm.tick() == near(arm.gravity)
    assert pulled_back() == arm.tick()


@row('reordered or extra joints; joints spread over several messages', 'STALE_STATE',
     where=decoders.parse_names, find='find(_, _, _, _, _)',
     instead='k if k < permutation.shape[0] else -1')
def test_joints_in_any_order():
    """By name, whatever comes with them: the same efforts; each must be fresh."""
    arm = running(mode='computed_torque')
    arm.position += 0.0003, -0.0004
    arm.velocity[:] = 0.002, -0.003
    (q1, q2), (v1, v2), (e1, e2) = arm.position, arm.velocity, arm.effort
    plain = arm.tick()
    assert abs(plain - arm.gravity).min() > 0.01
    same = [arm.tick(name=['joint2', 'joint1'], position=[q2, q1], velocity=[v2, v1],
                     effort=[e2, e1]),
            arm.tick(name=['gripper', 'joint2', 'tail', 'joint1'], position=[9.0, q2, 8.0, q1],
                     velocity=[1.0, v2, nan, v1], effort=[])]
    first = {'name': ['joint1', 'gripper'], 'position': [q1, 9.0], 'velocity': [v1, 1.0],
             'effort': []}
    second = {'name': ['joint2'], 'position': [q2], 'velocity': [v2], 'effort': [e2]}
    for both in ((first, second), (second, first)):
        arm.tick(position=[q1 + 0.0001, q2 + 0.0001])
        same += [[arm.tick(**fields) for fields in both][1]]
    assert np.array(same) == near(np.array([plain] * 4), abs=1e-12)
    arm.tick(0.025, **first)
    arm.tick(0.0235, **first)
    arm.tick(**first)                           # joint2 is too old now
    arm.goes_limp(arm.silence, arm.gravity, first=1)
    arm.faulted('STALE_STATE', '(joint2)')
    arm.velocity[:] = 0.0
    arm.resumes()


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
    arm.resumes()


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
    arm.resumes()


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
    arm.resumes()


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
    arm.resumes()
