# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Readings that a driver repeats are found; healthy arms that hardly move are not."""

from control.closed_loop import Told
from control.risen import POSE, risen, TWO_LINK
import numpy as np
import pytest
from robodyn_ros import Waypoints

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


@pytest.mark.parametrize(('mode', 'joints'), [
    ('gravity_compensation', ALL), ('joint_impedance', ALL),
    ('gravity_compensation', np.array([False, True]))], ids=['floats', 'follows', 'one joint'])
def test_readings_that_repeat_in_motion(mode, joints):
    rig = risen(Told, mode=mode)
    for speed in 0.01, 3.0:         # at first the driver shows how fine its encoders are
        rig.qd[:] = speed, -speed
        rig.run(0.02)
    repeat(rig, joints)
    finds_it(rig, 15)


@pytest.mark.parametrize('mode', ['joint_impedance', 'computed_torque'])
def test_readings_that_repeat_from_rest_on(mode):
    """They are found once a trajectory drives the arm, before it has moved by 0.05 rad."""
    rig = risen(Told, mode=mode)
    repeat(rig)
    rig.run(0.5)
    assert rig.phase == 'RUNNING'
    rig.controller.follow(Waypoints(TWO_LINK.joint_names, [1.0], [[1.2, 1.2]]), rig.time)
    finds_it(rig, 200)
    assert abs(rig.q - POSE).max() < 0.05


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
