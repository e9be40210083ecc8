# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of the joint state: one test a row of the table in docs/safety.md, and its variants."""

from math import inf, nan
import signal

from faults.arm import Arm, PERIOD
from faults.efforts import goes_limp, moving, SHARES
from faults.rows import row
import numpy as np
import pytest
from robodyn_ros.control.steps import guard
from robodyn_ros.nodes.controller import arming
from robodyn_ros.wire import decoders
from robodyn_ros.wire.decode_status import DUPLICATE, FOREIGN, LENGTHS, NON_FINITE, REASONS

near = pytest.approx

BAD = [({'position': [nan, 9.0]}, NON_FINITE), ({'position': [9.0, -inf]}, NON_FINITE),
       ({'velocity': [inf, 0.0], 'position': [9.0, 9.0]}, NON_FINITE),
       ({'position': [9.0]}, LENGTHS), ({'velocity': [1.0], 'position': [9.0, 9.0]}, LENGTHS),
       ({'name': ['joint2', 'joint2'], 'position': [9.0, 9.0]}, DUPLICATE),
       ({'name': ['elbow', 'wrist'], 'position': [9.0, 9.0]}, FOREIGN)]


@row('no joint state yet', 'NO_STATE', where=arming.Arming.poll, find='_.decoder.missing',
     instead='[]')
def test_no_joint_state_yet(controller, remote):
    """Nothing is published; activating is refused, with the names of the joints waited for."""
    arm = Arm(remote, controller(arming_timeout=1.0))
    assert remote.change('configure') and not remote.change('activate')
    assert 'not activated: no joint state yet of joint1, joint2 on' in arm.controller.text
    timer = remote.node.create_timer(0.002, lambda: arm.send(
        name=['joint1'], position=[0.3], velocity=[0.0], effort=[]))
    assert not remote.change('activate')
    remote.node.destroy_timer(timer)
    assert 'not activated: no joint state yet of joint2 on' in arm.controller.text
    remote.until(lambda: 'yet of joint2 on' in remote.diagnostics.get('message', ''), 'the reason')
    assert remote.diagnostics['level'] == '2'
    assert remote.commands == [] and remote.state() == 'inactive'
    arm.asked('activate', lambda: remote.change('activate'))
    assert arm.tick() == near(arm.gravity)


def test_states_of_which_none_is_accepted(controller, remote):
    """One joint that is no number makes the whole message useless: that joint is named."""
    arm = Arm(remote, controller(arming_timeout=0.5))
    assert remote.change('configure')
    timer = remote.node.create_timer(0.002, lambda: arm.send(position=[0.3, nan]))
    assert not remote.change('activate')
    remote.node.destroy_timer(timer)
    assert ('not activated: no joint state yet of joint1, joint2 on joint_states; messages are '
            'refused: a number is NaN or infinite where it must not be (joint2)'
            in arm.controller.text)


@row('state stale', 'STALE_STATE', where=guard.state_fault, find='not _ - _state.received <= _',
     instead='isnan(_state.received)')
def test_state_stale(running):
    """At rest gravity of the last pose, for a bounded time; in motion zero at once; latched."""
    arm = running()
    g = arm.gravity
    assert arm.tick() == near(g)
    assert arm.silence(0.0495) == near(g)       # old, not yet too old
    goes_limp(arm, arm.silence, g)
    arm.faulted('STALE_STATE')
    arm.reset()
    arm.velocity[:] = 0.1, 0.0
    assert arm.tick() == near(g)
    assert arm.silence(0.0495) == near(g)
    assert arm.silence().tolist() == [0.0, 0.0]
    arm.velocity[:] = 0.0
    arm.nothing()                               # although states are back
    arm.faulted('STALE_STATE')
    arm.reset()
    assert arm.tick() == near(g)


def test_stale_although_faults_hold(running):
    """fault_action hold is for fresh states: without them the time of the efforts is bounded."""
    arm = running(fault_action='hold')
    g = arm.gravity
    arm.tick()
    arm.silence(0.0495)
    goes_limp(arm, arm.silence, g)
    arm.faulted('STALE_STATE')
    arm.reset()
    assert arm.ticks(200, velocity=[]) == near(np.tile(g, (200, 1)))     # a fault that holds
    arm.faulted('NO_VELOCITY')
    assert arm.silence(0.0495) == near(g)
    goes_limp(arm, arm.silence, g)
    arm.faulted('NO_VELOCITY')                  # the first reason stays


def test_stale_while_stopping(running, remote):
    """A stopping phase does not go on blindly: zero at once, and the process ends as asked."""
    arm = running()
    arm.velocity[:] = 0.1, -0.1
    arm.controller.popen.send_signal(signal.SIGINT)
    while arm.tick() == near(arm.gravity):      # until it has heard
        pass
    damped = arm.gravity + arm.damping
    assert arm.ticks(10)[5:] == near(np.tile(damped, (5, 1)))
    assert arm.silence(0.0495) == near(damped)
    assert arm.silence().tolist() == [0.0, 0.0]
    assert arm.controller.wait() == 0
    assert 'FAULT STALE_STATE: state is stale (joint1)' in arm.controller.text
    arm.nothing()


def test_signal_in_a_fault_without_states(running, remote):
    """Nothing brakes an arm whose state is unknown: its efforts have the time of a fault."""
    arm = running(fault_hold_time=1.5, stop_timeout=0.1)
    arm.tick()
    assert arm.silence(0.0495) == near(arm.gravity)
    assert arm.silence() == near(arm.gravity)
    arm.faulted('STALE_STATE')
    arm.controller.popen.send_signal(signal.SIGTERM)
    remote.listen(1.5)              # of the wall; the clock of the simulation stands
    assert arm.silence() == near(arm.gravity)
    assert arm.controller.wait() == 0
    assert list(remote.commands[-1]) == [0.0, 0.0]


@row('NaN/Inf position, wrong lengths, duplicate names', 'STALE_STATE',
     where=decoders.decode_numbers, find='return NON_FINITE', instead='pass')
def test_bad_samples(running, remote):
    """Each is refused, counted and answered by nothing; nothing but bad ones is a stale state."""
    arm = running()
    g = arm.gravity
    for fields, _ in BAD:
        arm.send(**fields)
        arm.send(**fields)
        assert arm.tick() == near(g)            # the good one, and nothing before it
    remote.until(lambda: remote.diagnostics['refused samples'] == '14', 'the count')
    for code, kinds in ((NON_FINITE, 3), (LENGTHS, 2), (DUPLICATE, 1), (FOREIGN, 1)):
        assert remote.diagnostics[f'refused samples: {REASONS[code]}'] == str(2 * kinds)
    for fields, _ in BAD:
        arm.send(0.007, **fields)
    assert arm.silence(0.0005) == near(g)
    arm.send(0.0, **BAD[0][0])
    goes_limp(arm, arm.silence, g)
    arm.faulted('STALE_STATE')
    timer = remote.node.create_timer(0.002, arm.pass_time)
    arm.refuses_reset('state is stale', **BAD[0][0])
    remote.node.destroy_timer(timer)
    arm.reset()
    assert arm.tick() == near(g)


@row('velocity empty or NaN', 'NO_VELOCITY', where=guard.running_fault,
     find='return NO_VELOCITY, _', instead='pass')
def test_missing_velocity_is_a_fault(running, remote):
    """Gravity of a known pose, damped by what positions tell of the motion, then the ramp."""
    arm = running(arming_timeout=1.0)
    arm.velocity[:] = 0.05, -0.05
    assert moving(arm, 60)[-1] == near(arm.gravity)
    for share in SHARES:
        effort = moving(arm, 1, velocity=[])[0]
        damped = arm.gravity + arm.damping
        assert effort == near(share * damped, abs=1e-3)
    assert effort.tolist() == [0.0, 0.0]
    arm.nothing()
    arm.faulted('NO_VELOCITY')
    arm.velocity[:] = 0.0
    arm.refuses_reset('no credible velocity', velocity=[])
    for velocity in ([0.0, nan], [0.0, 1e200]):
        arm.reset()
        assert arm.tick() == near(arm.gravity)
        assert arm.ticks(5, velocity=velocity) == near(np.tile(arm.gravity, (5, 1)))
        arm.faulted('NO_VELOCITY')
        assert remote.diagnostics['reason'] == 'joint states carry no credible velocity (joint2)'


def test_missing_velocity_is_estimated(running):
    """By choice the law goes on, with the derivative of the positions behind its filter."""
    arm = running(missing_velocity='estimate', mode='joint_impedance')
    begin = arm.position.copy()
    stiffness, damping = np.array([400.0, 100.0]), np.array([40.0, 10.0])
    assert arm.ticks(5, velocity=[])[-1] == near(arm.gravity)
    arm.velocity[:] = 0.02, -0.02
    for n in range(1, 100):
        effort = moving(arm, 1, velocity=[nan, nan])[0]
        estimate = arm.velocity * (1.0 - np.exp(-2.0 * np.pi * 30.0 * n * PERIOD))
        assert effort == near(arm.gravity + stiffness * (begin - arm.position)
                              - damping * estimate)
    assert estimate == near(arm.velocity)
    arm.position += PERIOD * arm.velocity
    assert arm.tick() == near(arm.gravity + stiffness * (begin - arm.position)
                              - damping * arm.velocity)


def test_missing_velocity_leaves_gravity(running):
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
        assert moving(arm, 1, velocity=[0.3, nan])[0] == near(arm.gravity)
    arm.velocity[:] = 0.0
    assert arm.tick() == near(arm.gravity)
    assert pulled_back() == arm.tick()


@row('reordered or extra joints; joints spread over several messages', 'STALE_STATE',
     where=decoders.parse_names, find='find(_, _, _, _, _)',
     instead='k if k < permutation.shape[0] else -1')
def test_joints_in_any_order(running, remote):
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
    goes_limp(arm, arm.silence, arm.gravity, first=1)
    arm.faulted('STALE_STATE')
    assert remote.diagnostics['reason'] == 'state is stale (joint2)'
    arm.velocity[:] = 0.0
    arm.reset()
    assert arm.tick() == near(arm.gravity)
