# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""An arm in the springs of its drives: planted mistakes are found before a torque is computed."""

from dataclasses import replace

import numpy as np
import pytest
from robodyn_ros import Dynamics
from robodyn_ros.drivers import holding
from robodyn_ros.drivers.arm import load_arm
from robodyn_ros.errors import DriverError
from robodyn_ros.model.robot import with_payload
from robodyn_ros.testing import mit_motors
from robodyn_ros.testing.desk_arm import Bench, desk_arm, POSES
from robodyn_ros.testing.mit_motors import MotorBus

near = pytest.approx
pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def steps(monkeypatch):
    """Have the plant as exact as its springs need."""
    monkeypatch.setattr(mit_motors, 'STEP', 1e-3)


def bench(plant=None, arm=None, **motors):
    """Return a YAM; `plant` is the model that moves, `arm` has the ids of its motors."""
    yam = load_arm('yam')
    return Bench(yam, MotorBus(arm or yam, plant or desk_arm(), POSES[0], **motors))


def swapped(arm, a, b):
    """Return the arm with the ids of two motors exchanged."""
    motors = list(arm.motors)
    motors[a], motors[b] = (replace(motors[i], id=motors[k].id, reply=motors[k].reply)
                            for i, k in ((a, b), (b, a)))
    return replace(arm, motors=tuple(motors))


@pytest.mark.parametrize(('kind', 'names', 'value', 'planted'), [
    ('agrees', (), 1.0, {}),
    ('sign', ('joint3',), -1.0, {'motor': (2, 'sign', -1.0)}),
    ('zero', ('joint2',), 0.2, {'motor': (1, 'offset', 0.2)}),
    ('swapped', ('joint4', 'joint6'), np.nan, {'arm': swapped(load_arm('yam'), 3, 5)})])
def test_mistakes_that_are_planted_in_the_motors(monkeypatch, kind, names, value, planted):
    """Those of the model, and the range of a motor: test_diagnosis and test_driver_commands."""
    monkeypatch.setattr(holding, 'LOWERING_SPEED', 1.0)
    motor = planted.pop('motor', None)
    arm = bench(**planted)
    if motor:
        i, name, true = motor
        setattr(arm.plant.motors[i], name, true)
    drives, poses = arm.connect(), []
    for pose in POSES:
        arm.carry(pose)
        poses.append(holding.hold(drives, lambda text: arm.support()))
    finding = holding.compare(drives, arm.model, poses).findings[0]
    assert finding[:2] == (kind, names) and finding.value == near(value, abs=0.02, nan_ok=True)
    assert not any(one.on for one in arm.plant.motors)


def test_the_arm_is_lowered_slowly():
    """Until its joints carry nothing more than friction."""
    arm = bench(friction=0.2)
    drives = arm.connect()
    arm.carry(POSES[0])
    fastest, move = [], arm.plant._place

    def noted():
        fastest.append(np.abs(arm.plant.qd).max())
        move()
    arm.plant._place = noted
    pose = holding.hold(drives)
    assert pose.effort == near(Dynamics(arm.model).gravity(pose.position), abs=0.05)
    assert max(fastest) < 0.6
    assert np.abs(arm.plant.q - POSES[0]).max() > 0.5
    assert not any(one.on for one in arm.plant.motors)


def test_efforts_of_the_springs_are_bounded():
    """A joint that carries more yields; the pose is refused, and the arm comes down."""
    arm = bench(with_payload(desk_arm(), 'link6', 1.8))
    drives, springs = arm.connect(), []
    arm.carry(POSES[0])
    command = drives._command

    def noted(commands):
        springs.append([one.stiffness * (one.position - answer.position)
                        for one, answer in zip(commands, drives.motors.answers)])
        assert all(one.effort == 0.0 for one in commands)
        command(commands)
    drives._command = noted
    with pytest.raises(DriverError, match='joint2.*choose a'):
        holding.hold(drives, lambda text: arm.support())
    assert np.abs(springs).max(axis=0) / drives.facts.effort_limit == near(
        [0.03, 0.3, 0.3, 0.1, 0.2, 0.01], abs=0.1)
    assert np.abs(springs).max() <= 1.001 * holding.SHARE * 27.0
    assert not any(one.on for one in arm.plant.motors)


@pytest.mark.parametrize('error', [KeyboardInterrupt, DriverError])
def test_whatever_ends_it_the_arm_comes_down(error):
    """After Ctrl-C, and after the error of a drive."""
    arm = bench()
    drives, told = arm.connect(), []
    arm.carry(POSES[0])
    spring, left = drives.spring, [20]

    def interrupted(*given):
        left[0] -= 1
        if error is DriverError:
            arm.plant.motors[3].status = 0xC if left[0] == 0 else arm.plant.motors[3].status
        elif left[0] == 0:
            raise KeyboardInterrupt
        spring(*given)
    drives.spring = interrupted
    with pytest.raises(error, match='joint4: rotor too hot' if error is DriverError else ''):
        holding.hold(drives, lambda text: (told.append(text), arm.support()))
    assert told == ['the arm comes down slowly'] and left[0] < -10
    assert not any(one.on for one in arm.plant.motors)
