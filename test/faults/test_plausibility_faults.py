# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Joint states that the arm cannot have sent: one test a row of the table in docs/safety.md."""

from faults.arm import Arm, DAMPING, FIXED_RATE, PERIOD, running, STIFFNESS, TELEPORTED, ZERO
from faults.rows import row
import numpy as np
import pytest
from robodyn_ros import load_urdf
from robodyn_ros.control.steps import frozen_readings, guard, phase_efforts, plausibility
from robodyn_ros.model.resources import robot_path

near = pytest.approx
TURN = 2.0 * np.pi
FASTEST = np.array([8.0, 10.0])             # rad/s, of two_link
FOUND = 50                                  # ticks of 1 ms that a contradiction may last


@row('one impossible sample', where=plausibility.check_sample, find='_ != _ and (_ or _)',
     instead='False')
@pytest.mark.parametrize('mode', ['gravity_compensation', 'joint_impedance'])
def test_one_sample_that_cannot_be(mode):
    """The sample before it stays in use: the efforts are those of it; counted."""
    arm = running(mode=mode)
    begin = arm.position.copy()
    arm.velocity = np.array([0.05, -0.04])
    for change, times in (({'position': TURN * np.ones(2)}, 1), ({'velocity': 5.0 * FASTEST}, 1),
                          ({'position': -TURN * np.ones(2)}, 2)):
        before = arm.moving(40)[-1]
        law = arm.gravity
        if mode == 'joint_impedance':
            law += STIFFNESS * (begin - arm.position) - DAMPING * arm.velocity
        assert before == near(law)
        for _ in range(times):
            arm.position = arm.position + PERIOD * arm.velocity
            spoilt = {name: list(getattr(arm, name) + by) for name, by in change.items()}
            assert arm.tick(**spoilt) == near(law)
        assert abs(np.diff(arm.moving(5), axis=0)).max() < 0.05
    assert arm.counted('implausible') == 8 and arm.phase == 'RUNNING'


# What the state says of an arm that was at ``here`` when the lie began
LIES = {
    'a turn more': lambda arm, here: {'position': list(arm.position + TURN)},
    'a wrong sign': lambda arm, here: {'velocity': list(-arm.velocity)},
    'frozen': lambda arm, here: {'position': list(here)},
    'exchanged joints': lambda arm, here: {'position': list(arm.position[::-1]),
                                           'velocity': list(arm.velocity[::-1])},
    'degrees': lambda arm, here: {'velocity': list(np.degrees(arm.velocity))},
    'one joint frozen': lambda arm, here: {'position': [here[0], arm.position[1]]},
    'a velocity that stays': lambda arm, here: {'velocity': ZERO},
}


@row('position and velocity contradict each other', 'STATE_INCONSISTENT',
     where=plausibility.consistent, find='return _ <= 1.0', instead='return True')
def test_position_and_velocity_contradict_each_other():
    """Zero within 50 ms, for the arm moves; latched, and not armed while it lasts."""
    arm = running()
    for lie in LIES.values():
        arm.velocity = np.array([1.0, -0.8])
        assert arm.moving(20)[-1] == near(arm.gravity)
        here = arm.position.copy()
        for _ in range(FOUND):
            arm.position = arm.position + PERIOD * arm.velocity
            if not (effort := arm.tick(**lie(arm, here))).any():
                break
            assert abs(effort - arm.gravity).max() < 1.0
        assert effort.tolist() == ZERO
        arm.faulted('STATE_INCONSISTENT')
        arm.refuses('positions and velocities of the state contradict each other')
        arm.position, arm.velocity = np.array([0.3, 0.5]), np.zeros(2)
        arm.nothing()
        arm.faulted('STATE_INCONSISTENT')
        arm.forget()
        arm.resumes()


@row('a driver repeats its last reading', 'STATE_INCONSISTENT',
     where=frozen_readings.frozen_joint, find='abs(_[i]) > _ + _', instead='False')
@pytest.mark.parametrize('mode', ['gravity_compensation', 'joint_impedance'])
def test_driver_that_repeats_its_last_reading(mode):
    """Zero effort within 10 ms at 0.2 rad/s: no arm stops within one period."""
    arm = running(mode=mode)
    arm.ticks(40)       # its driver shows how often it renews its readings, and how fine they are
    arm.velocity = np.array([0.2, -0.1])
    arm.moving(20)
    last = arm.state()['position']
    assert len(arm.until(position=last, velocity=[0.0, 0.0])) <= 10
    arm.faulted('STATE_INCONSISTENT')


@row('a robot stops by itself', 'ROBOT_STOPPED', where=frozen_readings.note_sample,
     find='_[i] = -_ * inf', instead='pass')
@pytest.mark.parametrize('last', [10, 300])
def test_robot_that_stops_by_itself(last):
    """It slows down within 10 to 300 ms although it is driven, and brakes hold it: held."""
    arm = running(mode='joint_impedance', fault_hold_time=1.0)
    arm.ticks(40)
    before = np.array([0.6, -0.3])
    arm.follow(arm.position + before, 0.6)
    for share in [*[1.0] * 300, *np.linspace(1.0, 0.0, last + 1)]:
        arm.velocity = share * before
        arm.moving(1)
    here = arm.position.copy()
    for _ in range(FOUND):
        arm.send(position=list(here))
        if arm.phase == 'FAULT':
            break
    arm.faulted('ROBOT_STOPPED')
    arm.goes_on(200, position=list(here))
    assert arm.commands[-1] == near(arm.gravity)
    arm.faulted('ROBOT_STOPPED')


@row('position jumps', 'STATE_INCONSISTENT', where=plausibility.check_samples,
     find='_ == _ and _ == 1', instead='False')
def test_position_that_jumps_at_rest():
    """Gravity of the last pose that was believed, however long; then a ramp to zero; latched."""
    arm = running(fault_hold_time=0.2)
    g = arm.gravity
    arm.position = arm.position + 0.4
    assert arm.ticks(200) == near(np.tile(g, (200, 1)))
    arm.goes_limp(arm.tick, g, first=18)       # of 202 ticks: two samples were only rejected
    arm.faulted('STATE_INCONSISTENT')
    arm.forget()
    arm.resumes()


@row('position jumps in a fault', where=plausibility.check_samples,
     find='_ == _ and _ == 1', instead='False')
def test_position_that_jumps_in_a_fault():
    """The efforts stay those of the last valid pose, as if it had not come."""
    arm = running(fault_action='hold', fault_hold_time=10.0)
    g = arm.gravity
    arm.controller.cycle_input['command_publishers'] = 2
    arm.tick()
    arm.faulted('OTHER_COMMANDS')
    arm.position = arm.position + 0.4
    assert arm.ticks(300) == near(np.tile(g, (300, 1)))


@row('velocity above its limit', 'VELOCITY_ABOVE_LIMIT', where=plausibility.check_sample,
     find='_ = VELOCITY_ABOVE_LIMIT', instead='pass')
def test_velocity_above_its_limit():
    """Thrown at 1.25 times its velocity limit, positions agreeing: braked, and latched."""
    arm = running()
    for velocity in np.linspace(0.0, 10.0, 50):
        arm.velocity[0] = velocity
        effort = arm.moving(1)[0]
    assert effort[0] < arm.gravity[0] - 20.0
    arm.faulted('VELOCITY_ABOVE_LIMIT', '(joint1)')
    arm.velocity[:] = 0.0
    arm.until()
    arm.nothing()
    arm.faulted('VELOCITY_ABOVE_LIMIT')


@row('efforts of a fault make the arm faster', 'VELOCITY_ABOVE_LIMIT',
     where=phase_efforts.fault_efforts, find='_ and _ and _ and accelerates_arm(_, _)',
     instead='False')
def test_efforts_of_a_fault_make_the_arm_faster():
    """Braking that accelerates, a drive of the wrong sign, is ended: zero at once."""
    arm = running()
    efforts = []
    for velocity in np.linspace(0.0, 12.0, 60):
        arm.velocity[0] = velocity
        efforts.append(arm.moving(1)[0])
        if velocity > 1.28 * 8.0:               # 1.17 at the fault, and a tenth more
            break
    assert efforts[-2][0] < arm.gravity[0] - 20.0 and efforts[-1].tolist() == ZERO
    arm.nothing()
    arm.faulted('VELOCITY_ABOVE_LIMIT')


def driven_by_a_policy():
    """Return an arm whose joint1 is driven by 35 N·m, which change by 0.2 N·m a tick."""
    arm = running(mode='feedback_policy', policy_timeout=[1.0], effort_rate_limit=[200.0],
                  fault_hold_time=1.0)
    drive = np.array([35.0, 0.0])
    arm.controller.follow_policy(arm.time, arm.gravity + drive, arm.position, np.zeros(2),
                                 np.zeros((2, 4)))
    assert arm.ticks(180)[-1] == near(arm.gravity + drive)
    return arm


def moves(arm, speeds):
    """Efforts on top of g(q) of joint1 at these velocities [rad/s], (n,) [N·m]."""
    efforts = []
    for arm.velocity[0] in speeds:
        efforts.append(arm.moving(1)[0][0] - arm.gravity[0])
    return np.array(efforts)


@row('efforts of the law still drive the arm at a fault', 'VELOCITY_ABOVE_LIMIT',
     where=guard.fault, find='m.fading_end += _', instead='pass')
def test_efforts_of_the_law_still_drive_the_arm():
    """
    Thrown beyond its velocity limit in the direction of the law's effort, which changes slowly.

    The arm becomes faster until that effort has faded, and is braked then. It is not blamed on the
    fault efforts, unless it becomes still faster later.
    """
    arm = driven_by_a_policy()
    assert moves(arm, np.linspace(0.4, 9.2, 22))[-1] > 20.0
    efforts = moves(arm, [*np.linspace(9.2, 11.6, 40), *[11.6] * 80])
    assert abs(np.diff(efforts)).max() < 1.3        # about five times the rate limit
    assert efforts[-60:].max() < -20.0              # braked
    assert moves(arm, [1.12 * 11.6])[0] == near(-arm.gravity[0])    # faster: nothing any more
    arm.faulted('VELOCITY_ABOVE_LIMIT')


def test_an_arm_that_is_much_faster_while_they_fade():
    """Fault efforts end at 1.1 times 1.4 velocity limits, whatever the law has left."""
    arm = driven_by_a_policy()
    assert moves(arm, np.linspace(0.4, 9.2, 22))[-1] > 20.0
    assert moves(arm, np.linspace(9.3, 1.53 * 8.0, 12))[-1] > 0.0
    assert moves(arm, [1.56 * 8.0])[0] == near(-arm.gravity[0])
    arm.faulted('VELOCITY_ABOVE_LIMIT')


@row('states come late', 'STATE_LATE', where=plausibility.update_lateness, find='_ += min(_, _)',
     instead='pass')
def test_states_come_late():
    """Latency that grows by 50 ms/s is found before it is 25 ms; a stamp of zero says nothing."""
    arm = running(**FIXED_RATE, state_timeout=0.5, late_limit=0.0)
    g = arm.gravity

    def answered(stamp: float) -> np.ndarray:
        arm.send(0.005, stamp=stamp)
        return arm.cycles(1)[-1]
    for _ in range(10):
        assert answered(0.0) == near(g)
    late = 0.0
    while (effort := answered(arm.time + 0.005 - late)) == near(g):
        late += 0.05 * 0.005
        assert late < 0.025
    assert (abs(effort) < abs(g)).all()
    arm.faulted('STATE_LATE')


@row('states come rarely', 'STATE_LATE', where=plausibility.update_lateness,
     find='_ += _ * (min(_, _) - _)', instead='pass')
def test_states_come_rarely():
    """At 50 Hz, with gains made for 1 kHz: found in a quarter of a second; gravity, then zero."""
    arm = running(late_limit=0.0, state_timeout=0.05)       # its time constants count in these
    g = arm.gravity
    efforts = []
    while not efforts or efforts[-1].any():
        efforts.append(arm.tick(0.02))
        assert len(efforts) < 18
    assert efforts[4] == near(g) and (np.diff(efforts, axis=0) < 1e-9).all()
    arm.faulted('STATE_LATE')
    arm.activate()
    assert arm.set(late_limit=0.05) == ''
    assert [list(arm.tick(0.02)) for _ in range(30)] == [near(g)] * 30


@row("a continuous joint's encoder wraps", where=plausibility.unwrap,
     find='return _ + (_ + _) % _ - _', instead='return q')
def test_continuous_joint_that_wraps():
    """No step where its angle begins anew, and the shortest way to what lies beyond."""
    text = robot_path('two_link').read_text()
    text = text.replace('name="joint1" type="revolute"', 'name="joint1" type="continuous"')
    arm = Arm(load_urdf(text), mode='joint_impedance', **TELEPORTED)
    arm.position = begin = np.array([3.13, 0.5])
    arm.effort = arm.gravity
    arm.activate()

    def wrapped():
        return [float((arm.position[0] + np.pi) % TURN - np.pi), arm.position[1]]
    for arm.velocity[0], side in ((0.2, 1.0), (-0.2, -1.0), (0.2, 1.0)):
        for k in range(120):
            arm.position = arm.position + PERIOD * arm.velocity
            effort = arm.tick(position=wrapped())
            law = arm.gravity + STIFFNESS * (begin - arm.position) - DAMPING * arm.velocity
            assert k < 25 or effort == near(law)
        assert side * (arm.position[0] - np.pi) > 0.0
    assert arm.counted('implausible') == 0
    arm.velocity[0] = 0.0
    arm.ticks(20, position=wrapped())
    arm.follow([-3.0, 0.5], 0.2)
    efforts = arm.ticks(350, position=wrapped())
    assert efforts[-1] == near(arm.gravity + STIFFNESS * ([TURN - 3.0, 0.5] - arm.position))
    assert efforts[:, 0].max() < 80.0 and arm.phase == 'RUNNING'
