# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Arms in MuJoCo with unknown friction or masses: disturbance observer, calibrated floating."""

from dataclasses import replace

from control.rig import ARMS, follow, POSE, Told, TWO_LINK
import numpy as np
import pytest
from robodyn_ros import Dynamics, Settings, simulate, Waypoints
from robodyn_ros.catalog.robots import load_robot
from robodyn_ros.cli.calibrate_float import calibrate, without_payload
from robodyn_ros.closed_loop import ClosedLoop
from robodyn_ros.control.references import sine_motion as motion
from robodyn_ros.control.settings.suggested_gains import suggest_gains
from robodyn_ros.errors import IdentificationError, ParameterError, RecordingError
from robodyn_ros.identification.excitation.payload_motion import float_motion, MIN_AMPLITUDE
from robodyn_ros.identification.recordings.recording import Recording
from robodyn_ros.law_comparison import drive, EFFORT_DELAY, scenes, settings_of
from robodyn_ros.simulation.drive import Noise
from thorough import seeds

pytest.importorskip('mujoco')
pytestmark = pytest.mark.slow
FLOATING = Settings(mode='gravity_compensation')
LIGHT = replace(FLOATING, friction_compensation=[0.8])
DISTANCE, NOISE = 1e-3, 1e-5        # rad: of presliding, and of the sensors
RISE = 0.3                          # of the friction a second: what is pushed faster, lags
SECONDS = 10.0                      # of the recording


@pytest.fixture(scope='module')
def panda():
    """Robot, its false model, and a recording of its motion with sensor noise."""
    robot = load_robot('panda', {}, [])
    _, known, plant, delay = scenes(robot.model)[1]
    plant = replace(plant, presliding_distance=np.full(plant.nv, DISTANCE))
    motion = float_motion(known, robot.pose, duration=SECONDS)
    waypoints = Waypoints(motion.joint_names, motion.times, motion.positions, motion.velocities,
                          motion.accelerations)
    run = simulate(known, settings_of('joint_impedance', known, robot.pose), robot.pose, SECONDS,
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
    # The last joint turns too slowly to tell much of its friction
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


# Each law knows the whole arm: most checks are as good on the short one
EACH = pytest.mark.parametrize('name', ['two_link', 'panda'] if seeds(0, 1) else ['two_link'])


@EACH
def test_friction_is_cancelled_without_a_limit_cycle(name):
    # At equal stiffness, the error is a fifth of that of joint impedance, or less.
    false, pose = scenes(ARMS[name][0])[1], ARMS[name][1]
    asked = motion.plan(Dynamics(false.known), pose, 3.0)
    observed, impedance = (drive(false, law, pose, asked, 0.5).rms
                           for law in ('disturbance_observer', 'joint_impedance'))
    assert 5.0 * observed < impedance
    # After a motion, 8 s at rest with Coulomb friction: neither arm nor efforts move.
    (_, known, plant, _), pose = scenes(ARMS[name][0])[1], ARMS[name][1]
    asked = motion.plan(Dynamics(known), pose, 2.0)
    settings = Settings(mode='disturbance_observer', **suggest_gains(known, pose)._asdict())
    run = simulate(known, settings, pose, asked.times[-1] + 8.0, asked, plant=plant,
                   delay=EFFORT_DELAY)
    late = run.time > run.time[-1] - 5.0
    assert run.fault == ''
    assert abs(run.position[late] - pose).max() < 2e-3
    assert np.ptp(run.position[late], axis=0).max() < 1e-4
    assert (np.ptp(run.effort[late], axis=0) < 1e-3 * known.effort_limit).all()


@EACH
def test_undeclared_delay_shakes_no_more_than_with_joint_impedance(name):
    """The gains of `robodyn init`, whose bandwidth is near the highest, with 8 ms of delay."""
    model, pose = ARMS[name]
    gains = suggest_gains(model, pose, Settings())._asdict()
    asked = motion.plan(Dynamics(model), pose, 2.0)
    speed = {}
    for mode in ('joint_impedance', 'disturbance_observer'):
        run = simulate(model, Settings(mode=mode, **gains), pose, 4.0, asked, delay=0.008)
        assert run.fault == ''
        speed[mode] = abs(run.velocity / model.velocity_limit).max()
    assert speed['disturbance_observer'] < 1.2 * speed['joint_impedance']


def test_compensated_friction_counts_as_known():
    model = replace(TWO_LINK, coulomb_friction=np.array([1.0, 0.4]),
                    static_friction=np.array([1.0, 0.4]),
                    backward_friction=np.array([[0.0, 0.0], [1.0, 0.4], [1.0, 0.4]]))
    asked = motion.plan(Dynamics(model), POSE, 2.0)
    gains = suggest_gains(model, POSE, Settings())._asdict()
    rms = []
    for share in (0.0, 1.0):
        run = simulate(model, Settings(mode='disturbance_observer', friction_compensation=share,
                                       **gains), POSE, asked.times[-1], asked)
        error = run.position - motion.reference(model, asked)(run.time)
        rms.append(np.sqrt((error**2).mean()))
    assert rms[1] < 0.5 * rms[0]


def test_noise_of_the_velocity_is_no_oscillation():
    """It exceeds the effort rate in most cycles: no fault, and the arm hardly notices."""
    noise, random, rates = 0.03, np.random.default_rng(0), []       # rad/s
    rig = Told(TWO_LINK, POSE, mode='disturbance_observer', stiffness=[115.0, 16.0],
               damping=[23.0, 3.2], observer_bandwidth=[50.0], acceleration_limit=[],
               arming_velocity=0.5)
    rig.lie = lambda q, qd: (q, qd + noise * random.standard_normal(2))
    rig.rise()
    follow(rig, [0.9, -0.2], 1.5, at_rest=True)
    for _ in range(4000):
        rig.tick()
        rates.append(rig.qd - rig.controller._v.target_qd)
    assert rig.phase == 'RUNNING', rig.controller.reason
    assert rig.controller.memory['rate_limited'][0] > 1000
    assert np.sqrt(np.mean(np.square(rates), axis=0)).max() < 2.0 * noise
