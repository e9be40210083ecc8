# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Plausibility of joint states: valid ones always pass, contradictions and repetitions do not."""

from math import nan

from control.rig import follow, POSE, Rig, risen, Told, TWO_LINK
import numpy as np
import pytest
from robodyn_ros.control.steps import guard
from thorough import seeds

ALL = np.array([True, True])
STEP = 1e-4                 # rad, of a coarse encoder


def repeat(rig: Told, joints: np.ndarray = ALL) -> None:
    """Let the driver repeat the present positions of joints (2,) with zero velocity."""
    here = rig.q.copy()
    rig.lie = lambda q, qd: (np.where(joints, here, q), np.where(joints, 0.0, qd))


def finds_it(rig: Told, most: int) -> None:
    """Go on until STATE_INCONSISTENT latches, within so many periods of 1 ms."""
    while most and rig.phase == 'RUNNING':
        rig.tick()
        most -= 1
    assert rig.controller.reason_code == 'STATE_INCONSISTENT', rig.controller.reason


@pytest.mark.parametrize(('mode', 'slowed'), [
    ('joint_impedance', True), ('computed_torque', False)])
def test_readings_that_repeat_from_rest_on(mode, slowed):
    """
    They are found once a trajectory drives the arm, before it has moved by 0.05 rad.

    Also if a joint came to rest against its effort, as in a protective stop: that was long ago.
    """
    rig = risen(Told, mode=mode)
    repeat(rig)
    if slowed:
        before = rig.controller._v.frozen_readings.disturbance_before
        before[1] = -np.inf * np.sign(rig.controller.tau[1])
    rig.run(0.5)
    assert rig.phase == 'RUNNING'
    follow(rig, [1.2, 1.2], 1.0)
    finds_it(rig, 200)
    assert abs(rig.q - POSE).max() < 0.05


class Sticking(Rig):
    """Dry friction of 5 % of the effort limits holds joints at rest, bit for bit."""

    share, substeps = 0.05, 0

    def tick(self, **how):
        published, h = super().tick(**how), self.period / 4
        excess = self.tau - self.dynamics.gravity(self.q)
        most = self.share * self.model.effort_limit
        slides = (abs(excess) > most) | (self.qd != 0.0)
        for _ in range(4):
            before = self.qd.copy()
            dry = most * np.sign(np.where(before == 0.0, excess, before))
            qdd = self.dynamics.forward_dynamics(self.q, before, self.tau - dry)
            self.qd = np.where(slides, before + h * qdd, 0.0)
            self.qd[self.qd * before < 0.0] = 0.0
            self.q += h * self.qd
        return published


@pytest.mark.parametrize('declared, reason', [(0.0, 'STATE_INCONSISTENT'), (0.05, '')])
def test_arm_that_sticks_needs_declared_friction(declared, reason):
    """Else its readings look like repeated ones in its first slow motion."""
    rig = risen(Sticking, coulomb_friction=(declared * TWO_LINK.effort_limit).tolist(),
                mode='joint_impedance')
    follow(rig, POSE + 0.5, 4.0)
    while rig.time < 4.5 and rig.phase == 'RUNNING':
        rig.tick()
    assert (rig.controller.reason_code if rig.phase == 'FAULT' else '') == reason
    assert reason or (rig.q > POSE + 0.1).all()


@pytest.mark.parametrize('period', [0.7, 4.0])      # s
def test_arm_that_turns_round(period):
    """A hand moves it against the law, and at the turning points coarse positions stand still."""
    rig = Told(TWO_LINK, POSE, mode='joint_impedance')
    rig.lie = lambda q, qd: (STEP * np.round(q / STEP), qd)
    rig.rise()
    for _ in range(1000):
        rig.external = np.array([8.0, 3.0]) * np.sin(2.0 * np.pi * rig.time / period)
        rig.tick()
    assert rig.phase == 'RUNNING', rig.controller.reason


def test_readings_published_twice():
    """The driver derives velocities by differences, which are zero every second time."""
    rig, readings = Told(TWO_LINK, POSE, mode='gravity_compensation'), [POSE, POSE]

    def renewed(q, qd):
        readings.append(q if len(readings) % 2 else readings[-1])
        return readings[-1], (readings[-1] - readings[-2]) / rig.period

    rig.rise()
    rig.lie = renewed
    rig.qd[:] = 0.4, -0.4
    rig.run(0.5)
    assert rig.phase == 'RUNNING', rig.controller.reason


def test_driver_that_hiccups():
    """Three readings are missing: the last one is repeated with zero velocity; then a step."""
    rig = risen(Told, mode='gravity_compensation')
    rig.qd[:] = 1.0, -1.0
    rig.run(0.1)
    before = rig.q.copy()
    repeat(rig)
    rig.run(0.003)
    rig.lie = lambda q, qd: (q, (q - before) / rig.period)
    rig.tick()
    rig.lie = lambda q, qd: (q, qd)
    rig.run(0.3)
    assert rig.phase == 'RUNNING', rig.controller.reason


SLOW = {'stiffness': [20.0, 5.0], 'damping': [4.0, 1.0], 'loop_delay': 0.025,
        'acceleration_kp': [25.0], 'acceleration_kd': [10.0], 'state_timeout': 0.3}


@pytest.mark.slow
@pytest.mark.parametrize('seed', range(seeds(2, 6)))
@pytest.mark.parametrize(('every', 'settings'), [(1, {}), (40, SLOW)], ids=['1 kHz', '25 Hz'])
def test_healthy_motion_is_believed(every, settings, seed):
    """With noise, a fifth of the samples lost, and at any rate that the gains are made for."""
    random = np.random.default_rng(seed)
    rig = Told(TWO_LINK, POSE, mode=['gravity_compensation', 'joint_impedance'][seed % 2],
               **settings)
    rig.lie = lambda q, qd: (q + 1e-4 * random.standard_normal(2),
                             qd + 1e-2 * random.standard_normal(2))
    rig.controller.arm()
    for k in range(1500):
        rig.tick(sense=k % every == 0 and random.uniform() > 0.2)
        if k % 700 == 600:
            push = random.uniform(-0.8, 0.8, 2)
        if rig.phase == 'RUNNING' and k > 600 and k % 700 >= 600:   # for 0.1 s
            rig.qd += push / 100.0
    assert rig.phase == 'RUNNING', rig.controller.reason
    assert rig.controller.memory['implausible'][0] == 0


def test_a_clock_that_goes_back_a_little_is_no_jump():
    """Samples of the past are judged by their values."""
    rig = risen(Told)
    for _ in range(5):
        rig.time -= 0.02
        rig.run(0.1)
    assert rig.phase == 'RUNNING', rig.controller.reason
    assert rig.controller.memory['implausible'][0] == 0


def test_a_sample_of_the_same_time_is_none():
    """Neither its position nor its velocity is used: two states can have the same stamp."""
    rig = risen(Told, mode='joint_impedance')
    before, stamp = rig.published[-1].copy(), rig.state['received'].copy()
    rig.state['position'], rig.state['velocity'] = POSE + 0.4, 8.0
    rig.state['received'] = stamp
    assert rig.tick(sense=False) == pytest.approx(before)


@pytest.mark.parametrize(('gap', 'behind'), [      # periods, of which state_timeout has 50; s
    (15, 0.0), (49, 0.0), (49, 20e-6), (30, 100e-6)])
def test_messages_held_up_once_are_no_lasting_delay(gap, behind):
    """Whether only the newest one comes or all, with their old stamps, one behind the other."""
    rig = risen(Told, mode='joint_impedance')
    sent = rig.time + rig.period * np.arange(gap)
    rig.run(rig.period * gap, sense=False)
    for stamp in sent if behind else sent[-1:]:
        rig.sense()
        rig.state['stamp'] = stamp
        rig.controller.step(rig.time)
        assert rig.phase == 'RUNNING', rig.controller.reason
        rig.time += behind
    rig.run(0.1)
    assert rig.phase == 'RUNNING', rig.controller.reason


@pytest.mark.parametrize('held, wrong', [(10, 0.0), (0, 0.05), (0, -0.05), (10, 0.05)])
def test_a_contradiction_by_receipt_or_by_stamps_alone_is_none(held, wrong):
    """In fast motion: one message that comes 9 ms late, or has a wrong stamp; both are a fault."""
    rig = risen(Told, mode='gravity_compensation')
    rig.qd[:] = 3.0, -3.0
    rig.run(0.02)
    late = rig.q.copy(), rig.qd.copy(), rig.time
    rig.run(rig.period * held, sense=False)
    for name, value in zip(('position', 'velocity', 'stamp'), late):
        rig.state[name] = value
    rig.state['received'] = rig.time
    rig.state['stamp'] += wrong
    rig.tick(sense=False)
    rig.run(0.02)
    assert rig.phase == ('FAULT' if held and wrong else 'RUNNING'), rig.controller.reason


@pytest.mark.parametrize(('ahead', 'ticks'), [(0.5, 1), (1000.0, 1), (0.5, 100)])
def test_a_stamp_of_the_future_hides_nothing(ahead, ticks):
    """States that become rare are found as soon as without it, and no delay is below 0."""
    rig = risen(Told)
    for _ in range(ticks):
        rig.sense()
        rig.state['stamp'] += ahead
        rig.tick(sense=False)
        assert (rig.controller._v.plausibility.late >= 0.0).all() and rig.phase == 'RUNNING'
    offset = ahead if ticks > 1 else 0.0
    for k in range(100):
        if k % 40 == 39:
            rig.sense()
            rig.state['stamp'] += offset
        rig.tick(sense=False)
        assert (rig.controller._v.plausibility.late >= 0.0).all()
    assert rig.controller.reason_code == 'STATE_LATE'


def late(rig, seconds, delay, error=0.0):
    """Go on with stamps that are ``delay`` [s] behind, the first of them with an error."""
    for _ in range(round(seconds / rig.period)):
        rig.sense()
        rig.state['stamp'] = rig.time - delay + error
        rig.tick(sense=False)
        error = 0.0


@pytest.mark.parametrize('back', [0.1, 1e4])
def test_a_clock_that_was_set_back_does_not_prevent_a_reset(back):
    """It is a fault in motion; afterwards the offset is learned anew, and latency found again."""
    rig = risen(Told)
    late(rig, 0.1, back)
    assert rig.controller.reason_code == 'STATE_LATE'
    rig.controller.arm()
    late(rig, 0.3, back)
    assert rig.phase == 'RUNNING', rig.controller.arming_refusal
    rig.run(0.02, sense=False)
    late(rig, 0.1, back + 0.02)
    assert rig.controller.reason_code == 'STATE_LATE'


@pytest.mark.parametrize('wrong', [-1.0, 1.0])
def test_one_wrong_stamp_excuses_no_latency(wrong):
    """Neither in motion before the fault, nor after it: a reset stays refused."""
    rig = risen(Told)
    late(rig, 0.1, 0.0, wrong)
    rig.run(0.02, sense=False)
    late(rig, 0.1, 0.02)
    assert rig.controller.reason_code == 'STATE_LATE'
    rig.controller.arm()
    late(rig, 0.2, 0.02, wrong)
    assert rig.phase == 'FAULT'
    assert guard.CODES[rig.controller.memory['arming_refusal'][0]] == 'STATE_LATE'


VELOCITY = np.array([0.2, -0.1])


@pytest.fixture
def rig():
    """Return the textbook 2R arm, estimated where it is not measured."""
    return Rig(TWO_LINK, POSE, missing_velocity='estimate')


def estimate(rig, periods, measured=nan, shift=0.0):
    """Estimated velocity after cycles so many periods apart (K, 2)."""
    estimates = []
    for k in periods:
        rig.time += k * rig.period
        rig.q = rig.q + k * rig.period * VELOCITY + shift
        rig.sense()
        rig.state['velocity'] = measured
        rig.controller.step(rig.time)
        estimates.append(rig.controller._v.qd.copy())
    return np.array(estimates)


@pytest.mark.parametrize(('periods', 'measured'), [
    (1, nan), (10, nan), (1, 1e200), (1, -1e3)])
def test_converges_where_no_velocity_is_measured(rig, periods, measured):
    """However few of the states arrive; what no joint can do is not believed, and not damped."""
    assert estimate(rig, [periods] * 200, measured)[-1] == pytest.approx(VELOCITY)


def test_keeps_pace_while_velocities_are_measured(rig):
    """So it is there at once when they fail; while time stands still nothing is divided by it."""
    estimate(rig, [1] * 200, measured=VELOCITY)
    before = estimate(rig, [1])[0]
    assert before == pytest.approx(VELOCITY)
    assert estimate(rig, [0] * 3) == pytest.approx(np.tile(before, (3, 1)))


@pytest.mark.parametrize('jump', [-1000, 1000])
def test_begins_anew_after_a_jump_of_time(rig, jump):
    """Where the arm is then tells nothing of its motion."""
    estimate(rig, [1] * 200)
    assert estimate(rig, [jump], shift=0.5).tolist() == [[0.0, 0.0]]
    assert abs(estimate(rig, [1] * 20)).max() <= abs(VELOCITY).max()
