# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
A robot in the simulator whose masses, friction and rotors nobody told, and what is found of it.

What is true is not what the estimator assumes: MuJoCo's dry friction holds a joint still where it
reverses, for some hundredths of a second, with any effort up to its size, and the sign of the
velocity is no model of that. So rows of a joint that is slower than MOVING, and those that the
low-pass mixes with them, are left out, of fits and of judgements alike.

Standard errors as small as those that are claimed need a long motion.
"""

from dataclasses import replace
from functools import cache

from motions import with_joints
import numpy as np
from numpy import ndarray
import pytest
from robodyn_ros import closed_loop, Dynamics, load_urdf, RobotModel, Settings, simulate, Waypoints
from robodyn_ros.control.settings.gain_stability import highest
from robodyn_ros.identification import Estimate, identify, Motion, ParameterSelection
from robodyn_ros.identification.estimation.regression import regression, rows_that_count
from robodyn_ros.identification.excitation.base_regressor import (
    BaseRegressor, motion_limits, quality, Shares)
from robodyn_ros.identification.excitation.trajectory_file import Fourier
from robodyn_ros.identification.options import PreparationOptions
from robodyn_ros.identification.recorded_motion import checked_motion
from robodyn_ros.identification.recordings.recording import Recording
from robodyn_ros.identification.result import efforts_of
from robodyn_ros.simulation.drive import Noise
from scipy.stats import binom

pytestmark = pytest.mark.slow

RATE = 500.0            # of the controller and the sensors [Hz]
# Encoders: standard deviation and step (of 19 bits a turn) [rad]; velocities [rad/s]
ENCODER, STEP, VELOCITY = 1e-5, 2 * np.pi / 2**19, 1e-3
# Torque sensors: standard deviation in RMS efforts of the motion, and at least in effort limits
TORQUE, RESOLVED = 0.02, 0.002
# What the robot has that its maker did not say: Coulomb friction, viscous friction at 1 rad/s,
# half of it up to half as much again, and what the rotors are about, as shares of effort limits
COULOMB, VISCOUS, ROTOR = 0.02, 0.01, 0.004
SHARES = Shares(position=0.8, velocity=0.8, effort=0.6)
FAR = 2.5               # [rad] from 0, further no joint goes
HARMONICS = 0.5         # a second: the highest frequency [Hz]
TRIED = 40              # random motions, of which the best conditioned one is driven
# Of the gains, over what is stable were the model exact: it is not
MARGIN = 4.0
ENDS = 0.5              # [s] at either end of a motion, near rest, that is not recorded
MOVING = 0.05           # rad/s
CHOICE = ParameterSelection(moving=MOVING, decimate=10)
# Hz: the rule takes less, and so leaves more of the rows near reversals out
OPTIONS = PreparationOptions(cutoff=10.0)
SEED = 2                # of what is not known
SECONDS = 40            # of the motion that is fitted
UNSEEN_SECONDS = 20     # of the one that is predicted


@cache
def arm() -> tuple[RobotModel, RobotModel]:
    """
    Return a robot as its maker says it is, and as it is.

    Masses are off by up to 20 %, centres of mass by up to 2 cm in each direction, moments of
    inertia by the mass and a radius of gyration of 2 to 3 cm, rotors by 20 %; friction is its own.
    """
    known = load_urdf('arm6')
    known = replace(known, armature=ROTOR * known.effort_limit)
    random, nb, nv = np.random.default_rng([SEED, 2026]), known.nb, known.nv
    factor, gyration = random.uniform(0.8, 1.2, nb), random.uniform(0.02, 0.03, nb)
    mass = factor * known.mass
    more = (mass * gyration**2)[:, None, None] * np.eye(3)
    coulomb, viscous = (share * known.effort_limit * random.uniform(0.5, 1.5, nv)
                        for share in (COULOMB, VISCOUS))
    other = replace(known, mass=mass, com=known.com + random.uniform(-0.02, 0.02, (nb, 3)),
                    inertia=factor[:, None, None] * known.inertia + more)
    return known, with_joints(other, viscous, coulomb,
                              known.armature * random.uniform(0.8, 1.2, nv))


def exciting(model: RobotModel, pose: ndarray, seconds: int, seed: int) -> Waypoints:
    """Return the best conditioned of a few random motions, within the limits."""
    series = Fourier(harmonics=round(HARMONICS * seconds), period=float(seconds))
    limits = motion_limits(model, SHARES, ranges={
        name: (max(low, -FAR), min(high, FAR)) for name, low, high in zip(
            model.joint_names, model.position_lower, model.position_upper)})
    dynamics, random = Dynamics(model), np.random.default_rng(seed)
    regressor = BaseRegressor(dynamics, limits, series.highest_frequency * limits.velocity)
    basis = series.basis(np.linspace(0.0, series.period, 10 * series.harmonics))
    found = []
    for _ in range(TRIED):
        c = random.normal(size=(model.nv, series.size))
        q, qd, _ = (b @ c.T for b in basis)
        share = np.max([q.max(0) / (limits.upper - pose), q.min(0) / (limits.lower - pose),
                        abs(qd).max(0) / limits.velocity], axis=0)
        c /= share[:, None]
        while True:
            q, qd, qdd = pose + basis[0] @ c.T, basis[1] @ c.T, basis[2] @ c.T
            if (abs(dynamics.batch.inverse_dynamics(q, qd, qdd)) <= limits.effort).all():
                break
            c *= 0.9
        found.append((quality(regressor(q, qd, qdd)).condition, c))
    best = min(found, key=lambda one: one[0])[1]
    times = np.linspace(0.0, series.period, 20 * seconds + 1)
    q, qd, qdd = series.motion(times, best, pose)
    qd[[0, -1]] = qdd[[0, -1]] = 0.0        # where rounding leaves next to nothing
    return Waypoints(model.joint_names, times, q, qd, qdd)


@cache
def drive(seconds: int, motion: int) -> tuple[Recording, ndarray]:
    """
    Return a recording of the controller driving an arm along a random motion, and true efforts.

    An effort is commanded with a state and holds until the next one, half a period late on the
    average: what is recorded is the mean of before and after.
    """
    known, true = arm()
    n, pose = known.nv, np.clip([known.position_lower, known.position_upper], -FAR, FAR).mean(0)
    settings = Settings(mode='computed_torque', rate=RATE)
    kp, kd = settings.stable_accelerations(known, *highest(
        np.eye(n), np.full(n, 1e5), np.full(n, 1e4), 1.0 / RATE, settings.loop_delay,
        margin=MARGIN))
    kp = np.minimum(kp, kd**2 / 4.0)        # critically damped
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(closed_loop, 'MAX_PHYSICS_STEP', 1e-3)        # for time's sake
        run = simulate(known, replace(settings, acceleration_kp=kp, acceleration_kd=kd), pose,
                       seconds, exciting(known, pose, seconds, motion), plant=true,
                       noise=Noise(ENCODER, VELOCITY, seed=motion))
    assert not run.fault
    inside = slice(round(ENDS * RATE), round((seconds - ENDS) * RATE))
    effort = (run.effort[inside] + run.effort[inside.start - 1:inside.stop - 1]) / 2
    sigma = np.maximum(TORQUE * np.sqrt((effort**2).mean(0)), RESOLVED * known.effort_limit)
    noise = sigma * np.random.default_rng([SEED, motion]).normal(size=effort.shape)
    return Recording(known.joint_names, run.time[inside], STEP * np.round(
        run.position[inside] / STEP), None, effort + noise), effort


@cache
def found() -> Estimate:
    known, _ = arm()
    motion, *_ = checked_motion(drive(SECONDS, 2 * SEED)[0], known, OPTIONS)
    return identify(known, motion, CHOICE)


@cache
def unseen() -> tuple[Motion, ndarray, ndarray]:
    """
    Return a motion that nothing was fitted to.

    And where a joint moves (N, nv), and the RMS of the noise there (nv,) [N·m].
    """
    known, _ = arm()
    recording, effort = drive(UNSEEN_SECONDS, 2 * SEED + 1)
    motion, exact = (checked_motion(each, known, OPTIONS)[0]
                     for each in (recording, replace(recording, effort=effort)))
    counted = rows_that_count(motion, ParameterSelection(moving=MOVING))
    return motion, counted, np.sqrt(np.mean((motion.effort - exact.effort)**2, axis=0,
                                            where=counted))


def test_parameters_are_within_three_standard_errors():
    # As many of normal numbers as 99.9 % of all trials have at most: two of 58
    estimate = found()
    true = regression(arm()[1], unseen()[0], CHOICE).prior
    off = abs(estimate.values - estimate.base.values(true)) / estimate.standard_errors
    assert np.sum(off > 3.0) <= binom.ppf(0.999, len(off), 0.0027)
    assert off.max() < 6.0


def test_prediction_of_another_motion_errs_as_the_sensors_do():
    motion, counted, floor = unseen()

    def error(predicted: ndarray) -> ndarray:
        return np.sqrt(np.mean((motion.effort - predicted)**2, axis=0, where=counted)) / floor
    assert (counted.mean(0) > 0.4).all()
    assert (error(found().predict(motion)) <= 1.1).all()
    assert (error(efforts_of(arm()[0], motion)) > 10.0).all()     # of what its maker said
