# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""An arm with false masses falls; with the calibration of a slow motion it floats, lightly."""

from dataclasses import replace

import numpy as np
import pytest
from robodyn_ros import Settings, simulate, Waypoints
from robodyn_ros.catalog.robots import load_robot
from robodyn_ros.cli.calibrate_float import calibrate, without_payload
from robodyn_ros.closed_loop import ClosedLoop
from robodyn_ros.errors import IdentificationError, ParameterError, RecordingError
from robodyn_ros.identification.excitation.payload_motion import float_motion, MIN_AMPLITUDE
from robodyn_ros.identification.recordings.recording import Recording
from robodyn_ros.law_comparison import scenes, settings_of
from robodyn_ros.simulation.drive import Noise

pytest.importorskip('mujoco')
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures('few_poses')]
FLOATING = Settings(mode='gravity_compensation')
LIGHT = replace(FLOATING, friction_compensation=[0.8])
DISTANCE, NOISE = 1e-3, 1e-5        # rad: of presliding, and of the sensors
RISE = 0.3                          # of the friction a second: what is pushed faster, lags


@pytest.fixture(scope='module')
def panda():
    """Robot, its false model, and a recording of its motion with sensor noise."""
    robot = load_robot('panda', {}, [])
    _, known, plant, delay = scenes(robot.model)[1]
    plant = replace(plant, presliding_distance=np.full(plant.nv, DISTANCE))
    motion = float_motion(known, robot.pose, duration=20.0)
    waypoints = Waypoints(motion.joint_names, motion.times, motion.positions, motion.velocities,
                          motion.accelerations)
    run = simulate(known, settings_of('joint_impedance', known, robot.pose), robot.pose, 20.0,
                   waypoints, plant=plant, delay=delay, noise=Noise(NOISE))
    noise = np.random.default_rng(0).normal(size=run.effort.shape)
    return robot.pose, known, plant, Recording(
        known.joint_names, run.time, run.position, None,
        run.effort + 2e-3 * known.effort_limit * noise)


@pytest.fixture(scope='module')
def found(panda):
    """Its calibration."""
    return calibrate(panda[3], panda[1])


def compensated(found):
    """Return the model of the files that are written."""
    return replace(found.estimate.to_model(), presliding_distance=found.distance)


def test_an_arm_with_false_masses_floats_once_it_is_calibrated(panda, found):
    """Masses off by up to 20 %, friction unknown: a motion, its fit, and simulations."""
    pose, known, plant, _ = panda
    model = compensated(found)
    before, after, light = (simulate(m, settings, pose, 3.0, plant=plant, noise=Noise(NOISE))
                            .position for m, settings in (
                                (known, FLOATING), (model, FLOATING), (model, LIGHT)))
    assert abs(before[-1] - pose).max() > 0.1
    for position in (after, light):
        assert abs(position - pose).max() < 5e-3
        assert np.ptp(position[-1000:], axis=0).max() < 0.3 * DISTANCE
    assert found.distance == pytest.approx(np.full(7, DISTANCE), rel=0.35)
    assert found.noise == pytest.approx(np.full(7, NOISE), rel=0.1) and not found.too_noisy()
    # The last joint turns too slowly in 20 s to tell much of its friction
    assert model.coulomb_friction[:6] == pytest.approx(plant.coulomb_friction[:6], rel=0.1)
    assert (found.after < 0.02 * known.effort_limit).all()


def test_a_light_push_sets_a_compensated_arm_moving(panda, found):
    """At most 30 % of what it takes without compensation."""
    pose, _, plant, _ = panda
    model, i = compensated(found), 3

    def breakaway(settings):
        loop = ClosedLoop(model, settings, pose, plant=plant, noise=Noise(NOISE))
        loop.start()
        begin, step, push = loop.plant.state().position[i], loop.plant.step, np.zeros(7)
        loop.plant.step = lambda tau: step(tau + push)
        while abs(loop.plant.state().position[i] - begin) < 5.0 * DISTANCE:
            push[i] += RISE * plant.coulomb_friction[i] * loop.period
            loop.tick()
        return push[i]
    alone = breakaway(FLOATING)
    assert alone == pytest.approx(plant.coulomb_friction[i], rel=0.1)
    assert breakaway(LIGHT) < 0.3 * alone


def test_noise_bounds_the_distance_that_is_compensated(panda):
    """Steps of coarse encoders are noise; a distance that they hide is not taken as it is."""
    _, known, _, recording = panda
    coarse = replace(recording, position=5e-4 * np.round(recording.position / 5e-4))
    found = calibrate(coarse, known)
    assert (found.noise > 1e-4).any()
    for distance, noise in zip(found.distance, found.noise):
        assert distance == 0.0 or distance >= 40.0 * noise
    assert found.distance.any() == bool(found.too_noisy())


def test_what_cannot_be_calibrated_is_named(panda):
    pose, known, plant, recording = panda
    effort = recording.effort.copy()
    effort[:, 1] *= -1.0
    with pytest.raises(RecordingError, match='panda_joint2'):
        calibrate(replace(recording, effort=effort), known)
    pose, known, *_ = panda
    away = float_motion(known, pose, duration=20.0).positions - pose
    assert away[-1] == pytest.approx(0.0) and (abs(away).max(0) >= MIN_AMPLITUDE / 2).all()
    near = np.where(np.arange(known.nv) == 3, known.position_upper - 0.01, pose)
    with pytest.raises(IdentificationError, match='panda_joint4 has no room'):
        float_motion(known, near)
    known = panda[1]
    with pytest.raises(ParameterError, match='a payload is set'):
        without_payload(known, Settings(mode='pd', payload_mass=1.0, payload_frame='panda_hand'))
