# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""An arm with false masses falls; with the calibration of a slow motion it floats."""

from dataclasses import replace

import numpy as np
import pytest

from robodyn_ros import Settings, Waypoints, simulate
from robodyn_ros.catalog.robots import load_robot
from robodyn_ros.cli.calibrate_float import calibrate, without_payload
from robodyn_ros.demo.law_comparison import scenes, settings_of
from robodyn_ros.errors import IdentificationError, ParameterError, RecordingError
from robodyn_ros.identification.excitation.float_motion import LEAST, float_motion
from robodyn_ros.identification.recordings.recording import Recording

pytest.importorskip('mujoco')
FLOATING = Settings(mode='gravity_compensation')


@pytest.fixture(scope='module')
def panda():
    """Robot, its false model, and a recording of its motion with sensor noise."""
    robot = load_robot('panda', {}, [])
    _, known, plant, delay = scenes(robot.model)[1]
    motion = float_motion(known, robot.pose, duration=20.0)
    waypoints = Waypoints(motion.joint_names, motion.times, motion.positions, motion.velocities,
                          motion.accelerations)
    run = simulate(known, settings_of('joint_impedance', known, robot.pose), robot.pose, 20.0,
                   waypoints, plant=plant, delay=delay)
    noise = np.random.default_rng(0).normal(size=(2, *run.effort.shape))
    return robot.pose, known, plant, Recording(
        known.joint_names, run.time, run.position + 1e-5 * noise[0], None,
        run.effort + 2e-3 * known.effort_limit * noise[1])


def test_an_arm_with_false_masses_floats_once_it_is_calibrated(panda):
    """Masses off by up to 20 %, friction unknown. Takes 15 s: a motion and two simulations."""
    pose, known, plant, recording = panda
    found = calibrate(recording, known)
    model = found.estimate.to_model()
    before, after = (simulate(m, FLOATING, pose, 10.0, plant=plant).position
                     for m in (known, model))
    assert abs(before[-1] - pose).max() > 0.1
    assert abs(after - pose).max() < 5e-3
    # The last joint turns too slowly in 20 s to tell much of its friction
    assert model.coulomb_friction[:6] == pytest.approx(plant.coulomb_friction[:6], rel=0.25)
    assert (found.after < 0.02 * known.effort_limit).all()


def test_an_effort_of_the_wrong_sign_is_named(panda):
    pose, known, plant, recording = panda
    effort = recording.effort.copy()
    effort[:, 1] *= -1.0
    with pytest.raises(RecordingError, match='panda_joint2'):
        calibrate(replace(recording, effort=effort), known)


def test_the_motion_needs_room(panda):
    pose, known, *_ = panda
    away = float_motion(known, pose, duration=20.0).positions - pose
    assert away[-1] == pytest.approx(0.0) and (abs(away).max(0) >= LEAST / 2).all()
    near = np.where(np.arange(known.nv) == 3, known.position_upper - 0.01, pose)
    with pytest.raises(IdentificationError, match='panda_joint4 has no room'):
        float_motion(known, near)


def test_a_payload_does_not_become_part_of_the_robot(panda):
    known = panda[1]
    with pytest.raises(ParameterError, match='a payload is set'):
        without_payload(known, Settings(mode='pd', payload_mass=1.0, payload_frame='panda_hand'))
