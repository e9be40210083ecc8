# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Robots that MuJoCo moves, our controller drives and noisy sensors watch, to be identified."""

from dataclasses import dataclass, replace
from functools import cache

from lxml import etree
import numpy as np
from numpy import ndarray
from robodyn_ros import Dynamics, load_urdf, RobotModel
from robodyn_ros.control.controller.controller import Controller
from robodyn_ros.control.references.trajectory import Waypoints
from robodyn_ros.control.settings.gain_stability import highest
from robodyn_ros.control.settings.settings import Settings
from robodyn_ros.control.steps import guard
from robodyn_ros.identification.excitation.base_regressor import BaseRegressor
from robodyn_ros.identification.excitation.criteria import quality
from robodyn_ros.identification.excitation.fourier import Fourier
from robodyn_ros.identification.excitation.motion_limits import motion_limits, Shares
from robodyn_ros.identification.recordings.recording import Recording
from robodyn_ros.simulation.drive import Drive
from robodyn_ros.simulation.imperfections import Noise
from robodyn_ros.simulation.plant import Plant
from robots import LOCKED, OWN, REAL

PERIOD = 1e-3           # [s]
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
STEPS = 2               # of the physics in a period, for time's sake half the simulator's
ENDS = 0.5              # [s] at either end of a motion, near rest, that is not recorded


@dataclass(frozen=True, eq=False)
class Arm:
    """
    A robot, and what is believed of it.

    :param urdf: of the robot as it is; ``true``: the same, read by this package.
    :param known: the robot as its maker says it is.
    """

    urdf: str
    true: RobotModel
    known: RobotModel
    locked: dict[str, float]


@dataclass(frozen=True, eq=False)
class Driven:
    """
    A motion that was driven.

    :param recording: what the sensors said; ``effort`` (N, nv) what was true [N·m].
    """

    recording: Recording
    effort: ndarray

    @property
    def exact(self) -> Recording:
        """Return the recording with efforts as they were."""
        return replace(self.recording, effort=self.effort)


@cache
def arm(name: str, seed: int) -> Arm:
    """
    Return a robot that is not as its URDF says.

    Masses are off by up to 20 %, centres of mass by up to 2 cm in each direction, moments of
    inertia by the mass and a radius of gyration of 2 to 3 cm, rotors by 20 %; friction is its own.
    """
    path, locked = {**OWN, **REAL}[name], LOCKED.get(name, {})
    known = load_urdf(path, locked=locked)
    known = replace(known, armature=ROTOR * known.effort_limit)
    random = np.random.default_rng([seed, 2026])
    root = etree.parse(str(path), etree.XMLParser(remove_comments=True)).getroot()
    for inertial in root.iterfind('link/inertial'):
        mass, origin = inertial.find('mass'), inertial.find('origin')
        factor = random.uniform(0.8, 1.2)
        mass.set('value', repr(value := factor * float(mass.get('value'))))
        for key, moment in (inertia := inertial.find('inertia')).items():
            inertia.set(key, repr(factor * float(moment) + (
                value * random.uniform(0.02, 0.03)**2 if key[1] == key[2] else 0.0)))
        if origin is None:
            origin = etree.SubElement(inertial, 'origin')
        xyz = np.array(origin.get('xyz', '0 0 0').split(), float)
        origin.set('xyz', ' '.join(map(repr, (xyz + random.uniform(-0.02, 0.02, 3)).tolist())))
    for joint, limit in zip(known.joint_names, known.effort_limit):
        element = root.find(f"joint[@name='{joint}']")
        for old in element.findall('dynamics'):
            element.remove(old)
        etree.SubElement(element, 'dynamics', {
            kind: repr(float(share * limit * random.uniform(0.5, 1.5)))
            for kind, share in (('friction', COULOMB), ('damping', VISCOUS))})
    urdf = etree.tostring(root, encoding='unicode')
    true = load_urdf(urdf, locked=locked)
    rotors = known.armature * random.uniform(0.8, 1.2, known.nv)
    return Arm(urdf, replace(true, armature=rotors), known, locked)


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
def drive(name: str, seed: int, seconds: int, motion: int) -> Driven:
    """
    Let the controller drive an arm along a random motion at 1 kHz, and record it.

    Of a drive that holds its effort from one sample to the next a state tells what it was before,
    half a period late on the average: what is recorded is the mean of before and after.
    """
    it = arm(name, seed)
    n, pose = it.known.nv, np.clip([it.known.position_lower, it.known.position_upper],
                                   -FAR, FAR).mean(0)
    waypoints = exciting(it.known, pose, seconds, motion)
    settings = Settings(mode='computed_torque')
    kp, kd = settings.stable_accelerations(it.known, *highest(
        np.eye(n), np.full(n, 1e5), np.full(n, 1e4), PERIOD, settings.loop_delay, margin=MARGIN))
    kp = np.minimum(kp, kd**2 / 4.0)        # critically damped
    controller = Controller(it.known, replace(settings, acceleration_kp=kp, acceleration_kd=kd),
                            specialize=False)
    arm_ = Drive(Plant(it.urdf, model=it.true, locked=it.locked, timestep=PERIOD / STEPS,
                       substeps=STEPS), initial=pose, timeout=0.1, noise=Noise(
                           ENCODER, VELOCITY, seed=motion))
    positions, efforts, start = [], [], None
    controller.arm()
    for k in range(1000 * (seconds + 1)):
        now, seen = k * PERIOD, arm_.state()
        positions.append(STEP * np.round(seen.position / STEP))
        efforts.append(seen.effort)
        for field, value in (('position', positions[-1]), ('velocity', seen.velocity),
                             ('effort', seen.effort), ('received', now)):
            controller.state[field] = value
        if controller.step(now):
            arm_.command(controller.tau.copy(), now)
        if start is None and controller.phase == guard.RUNNING:
            start = k
            controller.follow(waypoints, now)
        arm_.advance()
    assert start is not None and controller.phase == guard.RUNNING, controller.reason
    inside = slice(start + round(ENDS / PERIOD), start + round((seconds - ENDS) / PERIOD))
    held = np.array(efforts)
    effort = ((held[:-1] + held[1:]) / 2)[inside]
    sigma = np.maximum(TORQUE * np.sqrt((effort**2).mean(0)), RESOLVED * it.known.effort_limit)
    noise = sigma * np.random.default_rng([seed, motion]).normal(size=effort.shape)
    return Driven(Recording(it.known.joint_names, PERIOD * np.arange(len(effort)),
                            np.array(positions)[inside], None, effort + noise), effort)
