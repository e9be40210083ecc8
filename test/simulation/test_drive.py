# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0

import numpy as np
import pytest
from robodyn_ros.model.urdf import load_urdf
from robodyn_ros.simulation.drive import Drive, Noise
from robodyn_ros.simulation.plant import Plant
from robots import OWN

pytestmark = pytest.mark.slow

HOME = np.array([0.3, -0.2])
# Close to gravity at HOME: the arm moves, but not far
TAU = np.array([18.0, 4.0])


@pytest.fixture
def make():
    urdf = OWN['two_link'].read_text()

    def make(compensates_gravity=False, **options) -> Drive:
        told: list[str] = []
        plant = Plant(urdf, model=load_urdf(urdf), compensates_gravity=compensates_gravity)
        drive = Drive(plant, initial=HOME, timeout=0.1, tell=told.append, **options)
        drive.told = told
        return drive
    return make


def moved(drive, periods=1):
    before = drive.state().position
    drive.advance(periods)
    return (drive.state().position != before).any()


def test_brakes_and_commands(make):
    drive = make()
    assert not moved(drive, 5) and (drive.state().position == HOME).all()
    drive.command(TAU, 7.0)
    assert moved(drive)
    assert drive.state().effort == pytest.approx(TAU)
    assert drive.told == ['brakes released: by a command']
    drive = make()
    drive.release(3.0)
    drive.watch(3.05)
    assert moved(drive)
    assert drive.state().effort == pytest.approx([0, 0])
    drive.watch(3.11)
    assert not moved(drive) and drive.held
    drive = make(delay=0.003)
    drive.command(TAU, 1.0)
    assert not moved(drive, 3)
    assert moved(drive)
    drive.command(2 * TAU, 1.0)
    drive.watch(2.0)                # under way when the watchdog acts: lost
    assert not moved(drive, 5)


def test_brakes_engaged_by_hand_hold_against_commands(make):
    drive = make()
    drive.command(TAU, 1.0)
    assert moved(drive)
    assert drive.engage() and drive.held
    for now in (1.0, 1.05, 1.5):
        drive.command(TAU, now)
        drive.watch(now)
        assert not moved(drive)
    drive.release(1.5)
    drive.command(TAU, 1.55)
    assert moved(drive)
    assert drive.state().effort == pytest.approx(TAU)
    drive.engage()
    drive.reset()
    drive.command(TAU, 2.0)
    assert moved(drive)


def test_an_arm_without_brakes_falls_and_can_be_given_some(make):
    drive = make(braking=False)
    assert moved(drive)
    drive.command(TAU, 1.0)
    drive.advance()
    assert drive.state().effort == pytest.approx(TAU)
    drive.watch(1.2)
    assert moved(drive)
    assert drive.state().effort == pytest.approx([0, 0])
    assert drive.told == ['efforts are zero: no command for 0.1 s']
    assert not drive.engage()
    drive.braking = True
    assert not moved(drive)
    drive.braking = False
    assert moved(drive)
    drive.command(TAU, 2.0)
    drive.braking = True            # a command is in force: it goes on
    assert moved(drive)


def test_a_robot_that_compensates_gravity_holds_it_without_brakes_and_commands(make):
    drive = make(braking=False, compensates_gravity=True)
    drive.advance(100)
    assert drive.state().position == pytest.approx(HOME, abs=1e-9)
    held = drive.state().effort
    assert (held > 1.0).all()
    drive.command(np.array([1.0, -1.0]), 1.0)
    assert moved(drive)
    assert drive.state().effort == pytest.approx(held + [1.0, -1.0], abs=1e-3)
    drive.watch(1.2)
    drive.advance()
    assert drive.state().effort == pytest.approx(held, abs=1e-3)
    assert drive.told == ['only gravity is compensated: no command for 0.1 s']


def test_reset_goes_home_and_forgets_commands(make):
    drive = make(delay=0.002)
    drive.command(TAU, 1.0)
    drive.advance(10)
    drive.command(TAU, 1.01)
    time = drive.state().time
    drive.reset()
    assert (drive.state().position == HOME).all() and (drive.state().velocity == 0).all()
    assert drive.state().time == time
    assert not moved(drive, 5)
    drive = make(noise=Noise(position=1e-3))        # of the sensors, not of the plant
    assert (drive.state().position != HOME).all()
    assert (drive.plant.state().position == HOME).all()
