# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults that show in the motion, in closed loop with exact dynamics."""

from collections import deque
from dataclasses import replace

from control.rig import ARMS, backward, Blockable, GAINS, integrate, POSE, Rig, risen, TWO_LINK
import numpy as np
import pytest
from robodyn_ros import Controller, Dynamics, Settings
from robodyn_ros.control.steps import guard


class Late(Rig):
    """An arm whose efforts take effect 20 periods later."""

    substeps = 0

    def __init__(self, *model_and_pose, **settings):
        super().__init__(*model_and_pose, **settings)
        self.waiting = deque(20 * [self.tau])

    def tick(self, **how):
        published = super().tick(**how)
        self.waiting.append(self.tau)
        integrate(self, self.waiting.popleft())
        return published


def test_loops_that_are_unstable_or_out_of_effort():
    # The sum of an effort at its limit and g(q) is rounded, which is no action of the limits.
    controller = Controller(TWO_LINK, Settings(mode='joint_impedance', **GAINS,
                                               effort_rate_limit=[1e7],
                                               consistency_tolerance=[0.0]), specialize=False)
    q, qd, effort = POSE.copy(), np.zeros(2), Dynamics(TWO_LINK).gravity(POSE)
    controller.arm()
    for k in range(360):
        if k == 300:
            qd[:] = 4.0, 2.0
        q += Rig.period * qd
        for name, value in (('position', q), ('velocity', qd), ('effort', effort),
                            ('received', Rig.period * k)):
            controller.state[name] = value
        controller.step(Rig.period * k)
    assert controller.reason_code == 'WRONG_DIRECTION'
    # Delay that gains were not made for: a fault soon, and velocities within their limits.
    rig = risen(Late, mode='joint_impedance')
    rig.qd[:] = 0.02, -0.02
    begin, fastest = rig.time, 0.0
    while rig.phase == 'RUNNING':
        rig.tick()
        fastest = max(fastest, (abs(rig.qd) / TWO_LINK.velocity_limit).max())
        assert rig.time - begin < 0.5
    # Efforts that come half a swing late are of the wrong direction, too
    assert rig.controller.reason_code in ('EFFORT_OSCILLATES', 'WRONG_DIRECTION')
    assert fastest < 1.1


def test_efforts_that_act_in_reverse_are_given_up():
    """The efforts of the fault only make the arm faster: zero, and no brake will be fought."""
    rig = risen(Blockable, mode='joint_impedance')
    rig.lie, rig.qd[0] = backward(0), 0.1
    while rig.phase == 'RUNNING':
        rig.tick()
    assert rig.controller.reason.endswith('(joint1)')
    assert rig.controller.reason_code == 'WRONG_DIRECTION'
    assert (abs(rig.qd) < 0.5 * TWO_LINK.velocity_limit).all()
    rig.controller.stop()       # which would only brake it with the same efforts
    rig.run(0.1)
    assert rig.tick() is None and not rig.tau.any() and rig.phase == 'FAULT'


def stopped(rig):
    """Return an arm in FAULT because of an emergency stop."""
    rig.rise()
    rig.controller.cycle_input['stop_reason'] = guard.EMERGENCY_STOP
    rig.tick()
    assert rig.phase == 'FAULT'


def test_time_of_a_fault():
    # No ramp would ever end: zero at once.
    rig = Rig(TWO_LINK, POSE, mode='joint_impedance')
    stopped(rig)
    rig.controller.cycle_input['clock_stopped'] = 0.06
    rig.time -= rig.period
    rig.tick()
    assert not rig.tau.any()
    # What has lasted goes on lasting: the efforts end after the usual time.
    rig = Rig(TWO_LINK, POSE, mode='gravity_compensation')
    stopped(rig)
    for _ in range(4):
        rig.run(0.3)
        rig.time -= 0.3
    assert rig.tick() is None


def test_efforts_of_a_fault_end_by_ramps():
    # Gravity makes the arm faster as its efforts fall: that is no reason for a step to zero.
    rig = Rig(*ARMS['panda'], mode='gravity_compensation', velocity_scale=0.25, stiffness=[10.0],
              damping=[1.0])
    stopped(rig)
    efforts = np.array([rig.tau.copy(), *(t for t in rig.run(1.2) if t is not None)])
    assert (abs(np.diff(efforts, axis=0)) <= 0.06 * rig.model.effort_limit).all()
    assert not efforts[-1].any()
    # The action of a fault that has long been held is changed: no step to zero.
    rig = Rig(TWO_LINK, POSE, mode='gravity_compensation', fault_action='hold')
    stopped(rig)
    rig.run(2.0)
    before = rig.tau.copy()
    rig.controller.use(replace(rig.controller.settings, fault_action='ramp'))
    rig.tick()
    assert rig.tau == pytest.approx(before, abs=0.01)
    # An emergency stop that is held down does not prolong what it stopped.
    rig = Rig(TWO_LINK, POSE, mode='gravity_compensation', fault_action='hold')
    stopped(rig)
    rig.qd[:] = 0.3, -0.2
    rig.tick()
    rig.controller.stop()
    rig.run(rig.controller.settings.stop_timeout + 0.1)
    assert rig.phase == 'INACTIVE'
    assert rig.controller.reason_code == 'EMERGENCY_STOP'


def test_arming_begins_with_what_is_in_force():
    """An arm that is held in a fault is armed without a step to what its sensors measure."""
    rig = Rig(TWO_LINK, POSE, mode='gravity_compensation', fault_action='hold')
    stopped(rig)
    rig.controller.cycle_input['stop_reason'] = guard.NO_REASON
    rig.controller.arm()
    held = rig.tau.copy()
    for _ in range(200):
        rig.sense()
        rig.state['effort'] = rig.tau + 0.08 * TWO_LINK.effort_limit
        rig.tick(sense=False)
        assert rig.tau == pytest.approx(held, abs=0.02)
    assert rig.phase == 'RUNNING'


def test_one_velocity_that_is_false_is_little_in_a_slow_loop():
    """Below its limit, at 100 Hz, while the arm is at rest."""
    rig = Rig(TWO_LINK, POSE, mode='gravity_compensation', rate=100.0, loop_delay=0.012,
              stiffness=[5.0], damping=[0.5], acceleration_kp=[5.0], acceleration_kd=[2.0],
              damping_rate=5.0, motor_test_effort=0.0)
    rig.period, rig.substeps = 0.01, 40
    rig.controller.arm()
    rig.run(1.0)
    assert rig.phase == 'RUNNING'
    before = rig.tau.copy()
    rig.sense()
    rig.state['velocity'][0] = 2.0
    rig.tick(sense=False)
    assert (abs(rig.tau - before) < 0.2 * TWO_LINK.effort_limit).all()
