# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Motions that show everything, and efforts as a robot would measure them."""

from dataclasses import replace

import numpy as np
from robodyn_ros import Dynamics
from robodyn_ros.dynamics import Batch
from robodyn_ros.identification import Motion
from robodyn_ros.identification.path_friction import path_friction
from scipy.signal import butter, sosfiltfilt


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
    """Return the model with equal friction, forth and back, and equal armature at each joint."""
    ones = np.ones(model.nv)
    return replace(model, viscous_friction=viscous * ones, coulomb_friction=coulomb * ones,
                   static_friction=coulomb * ones, armature=armature * ones,
                   backward_friction=np.outer([viscous, coulomb, coulomb], ones))


def sliding(model, given, way):
    """Return the motion of a model whose friction turns over a distance ``way`` [rad]."""
    late = replace(model, presliding_distance=np.where(model.slides, 0.0, way))
    carried = Batch(model, threads=1).gravity(given.position)
    return replace(given, effort=given.effort - path_friction(model, given)
                   + path_friction(late, given, carried))
