# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Motions, recordings and files that nothing is wrong with, of robots that are known."""

from dataclasses import replace
from functools import cache

import numpy as np
from robodyn_ros import Dynamics, load_urdf, RobotModel
from robodyn_ros.dynamics import Batch
from robodyn_ros.identification import Motion
from robodyn_ros.identification.estimation.filtered_columns import path_friction
from robodyn_ros.identification.options import PipelineOptions
from robodyn_ros.identification.pipeline import identify_parts
from robodyn_ros.identification.recorded_motion import Parts
from robodyn_ros.identification.recordings.recording import Recording, write
from robodyn_ros.model.robot import with_payload
from robots import LOCKED, OWN, REAL
from scipy.signal import butter, sosfiltfilt


def noted(r: Recording, words: str) -> bool:
    return any(words in note for note in r.notes)


def compare(r: Recording, expected: Recording, rtol: float = 1e-7, atol: float = 1e-7):
    """Compare a recording that was read with what was written."""
    assert r.joint_names == expected.joint_names and r.effort_unit == 'N·m'
    np.testing.assert_allclose(r.time, expected.time, atol=1e-8)
    for name in ('position', 'velocity', 'effort'):
        np.testing.assert_allclose(getattr(r, name), getattr(expected, name), rtol, atol)


@cache
def robot(name: str) -> RobotModel:
    return load_urdf({**OWN, **REAL}[name], locked=LOCKED.get(name, {}))


def sines(model: RobotModel, time: np.ndarray, seed: int = 0):
    """
    Positions, velocities and accelerations (N, nv) of sums of five sines within the limits.

    The slowest goes round once in twelve seconds.
    """
    rng = np.random.default_rng(seed)
    lower = np.maximum(np.where(np.isfinite(model.position_lower), model.position_lower, -2), -2.8)
    upper = np.minimum(np.where(np.isfinite(model.position_upper), model.position_upper, 2), 2.8)
    q, v, a = np.zeros((3, len(time), model.nv))
    reach = np.zeros(model.nv)
    for k in range(1, 6):
        w = 2 * np.pi * k / 12
        s, c = rng.normal(size=(2, model.nv)) / k
        sin, cos = np.sin(w * time)[:, None], np.cos(w * time)[:, None]
        q += s * sin + c * cos
        v += (s * cos - c * sin) * w
        a -= (s * sin + c * cos) * w * w
        reach += np.hypot(s, c)
    scale = 0.45 * (upper - lower) / reach
    return (lower + upper) / 2 + scale * q, scale * v, scale * a


@cache
def recorded(name: str, seed: int = 0, rate: float = 250.0, duration: float = 12.0,
             model: RobotModel | None = None) -> Recording:
    """Return a recording that nothing is wrong with, of that robot or of ``model``."""
    model, rng = model or robot(name), np.random.default_rng(seed + 100)
    time = np.arange(round(rate * duration)) / rate
    q, v, a = sines(model, time, seed)
    effort = Batch(model).inverse_dynamics(q, v, a)
    size = effort.std(0)
    effort += size * (0.1 * np.tanh(v / 0.01) + 0.1 * v / v.std(0) + 0.05)
    return Recording(model.joint_names, time, q + 1e-4 * rng.normal(size=q.shape),
                     v + 5e-3 * rng.normal(size=q.shape),
                     effort + 0.05 * size * rng.normal(size=q.shape))


def motion(model, count=1500, rate=100.0, seed=0, offset=0.0, speed=1.0):
    """Return sums of sines of no common period; efforts with friction, noise-free."""
    rng = np.random.default_rng(seed)
    time = np.arange(count) / rate
    q, qd, qdd = np.zeros((3, count, model.nv))
    for _ in range(4):
        w = speed * rng.uniform(0.5, 4.0, model.nv)
        a = rng.uniform(0.2, 0.8, model.nv) * rng.choice([-1, 1], model.nv) / np.sqrt(w)
        phase = np.outer(time, w) + rng.uniform(0, 6, model.nv)
        q += a * np.sin(phase)
        qd += a * w * np.cos(phase)
        qdd -= a * w**2 * np.sin(phase)
    batch = Dynamics(model).batch
    effort = batch.inverse_dynamics(q, qd, qdd) + batch.friction(qd) + offset
    return Motion(model.joint_names, time, q, qd, qdd, effort, rate, ((0, count),))


def relative_errors(found, given):
    """Return RMS errors of an estimate's prediction over RMS efforts about their mean (nv,)."""
    error = found.predict(given) - given.effort
    return np.sqrt((error**2).mean(0)) / given.effort.std(0)


def noisy(given, sigma, seed, bandwidth=None):
    """Return the same with noise of its own σ on each joint, white or low-passed [Hz]."""
    noise = np.random.default_rng(seed).normal(size=given.effort.shape)
    if bandwidth is not None:
        low_pass = butter(4, bandwidth, fs=given.rate, output='sos')
        noise = sosfiltfilt(low_pass, noise, axis=0)
        noise /= noise.std(0)
    return replace(given, effort=given.effort + sigma * noise)


def with_joints(model, viscous=0.0, coulomb=0.0, armature=0.0):
    """Return the model with equal friction, forth and back, and with armature at the joints."""
    viscous, coulomb, armature = (np.broadcast_to(value, model.nv).astype(float)
                                  for value in (viscous, coulomb, armature))
    return replace(model, viscous_friction=viscous, coulomb_friction=coulomb,
                   static_friction=coulomb, armature=armature,
                   backward_friction=np.array([viscous, coulomb, coulomb]))


def sliding(model, given, way):
    """Return the motion of a model whose friction turns over a distance ``way`` [rad]."""
    late = replace(model, presliding_distance=np.where(model.slides, 0.0, way))
    carried = Batch(model, threads=1).gravity(given.position)
    return replace(given, effort=given.effort - path_friction(model, given)
                   + path_friction(late, given, carried))


def identified(given, model, options, share=0.7):
    """Return the identification of a model by the first share of a motion."""
    return identify_parts(Parts(*given.split(share), (), ()), model, options)


# Effects that take long to search for are left out
QUICK = PipelineOptions(delay=0.0, tilt=False, presliding=0.0)
OFFSET = np.array([0.3, -0.2])
RATE, NOISE = 200.0, 0.05


def nominal():
    return load_urdf(OWN['two_link'])


def real():
    """Heavier at the elbow, lighter at the tip, with friction."""
    model = nominal()
    model = with_payload(model, 'link1', 0.6, (0.2, 0.03, 0), np.diag([0.004, 0.01, 0.012]))
    model = replace(model, mass=model.mass * [1.0, 0.8], com=model.com * [[1, 1, 1], [0.9, 1, 1]],
                    inertia=model.inertia + [np.zeros((3, 3)), 0.005 * np.eye(3)])
    return with_joints(model, [0.8, 0.5], [0.7, 0.3])


def write_csv(path, model, seed, duration, offset=OFFSET):
    """Write what a recorder would: time, positions, and efforts with noise."""
    rng = np.random.default_rng(seed + 50)
    time = np.arange(round(duration * RATE)) / RATE
    q, v, a = sines(model, time, seed)
    batch = Batch(model, threads=1)
    effort = batch.inverse_dynamics(q, v, a) + batch.friction(v) + offset
    effort += NOISE * rng.normal(size=effort.shape)
    q = q + 2e-5 * rng.normal(size=q.shape)
    write(path, Recording(model.joint_names, time, q, None, effort))
    return path
