# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Fit of recorded efforts to the model's, its robustness, and the direction of gravity."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy import ndarray

from .motion import Motion
from ..dynamics.api import Batch
from ..model.robot import RobotModel

MAX_SAMPLES = 2000  # for the regression
NOISE_SHARE = 1e-3  # of the variance of an effort: less counts as noise
VARIATIONS = 8            # of the robot
MASS_DEVIATION = 0.4      # standard deviation of the log of a mass
INERTIA_DEVIATION = 0.7   # the same of an inertia, in addition to that of the mass
CENTRE_DEVIATION = 0.015  # of a centre of mass, relative to the length of the arm
CONFIRMED_SLOPES = (0.3, 3.0)    # of efforts that follow the model under every variation
MIN_CONFIRMED_SHARE = 0.9    # of an effort, without friction, that confirms the model
SAME_AXIS_ANGLE = np.radians(15.0)    # from an axis of the base, within which this axis is meant


class States(NamedTuple):
    """Samples of a motion, (N, nv) each."""

    position: ndarray
    velocity: ndarray
    acceleration: ndarray

    def scaled(self, factor: ndarray) -> 'States':
        """Return the states if joint j was recorded in units of ``factor[j]``."""
        return States(*(array * factor for array in self))

    def ordered(self, order: ndarray) -> 'States':
        """Return the states if column ``order[j]`` is of joint j."""
        return States(*(array[:, order] for array in self))

    def every(self, step: int) -> 'States':
        """Return one in so many samples."""
        return States(*(array[::step] for array in self))


def thin(motion: Motion) -> tuple[States, ndarray]:
    """Return samples that are far enough apart to be independent, and their efforts."""
    apart = motion.rate / (4 * motion.cutoff)
    step = max(1, round(apart), -(-len(motion) // MAX_SAMPLES))
    states = States(motion.position, motion.velocity, motion.acceleration)
    return states.every(step), motion.effort[::step]


class Fit:
    """
    Regression of measured efforts on the efforts of a model and on friction.

    Effort j is regressed on the model's effort of joint k, that joint's velocity and its sign, and
    an offset, so that wrong masses, friction and sensor offsets leave no residual.

    :param weightless: remove gravity from the model's efforts.
    :param weight: (nv,) weight of the residuals of joint k; None: 1.
    """

    def __init__(self, batch: Batch, model: RobotModel, states: States, effort: ndarray,
                 weightless: bool = False, weight: ndarray | None = None):
        self._weight = np.ones(effort.shape[1]) if weight is None else weight
        self.states, self.effort = states, effort
        self.model_effort = batch.inverse_dynamics(*states)
        self.gravity = batch.gravity(states.position)
        if weightless:
            self.model_effort -= self.gravity
        self._sign = np.tanh(states.velocity / model.friction_velocity)
        self.variance = np.var(effort, axis=0)

    def columns(self, k: int) -> ndarray:
        """Return the regressors at joint k (N, 4): model effort, viscous, Coulomb, offset."""
        return np.column_stack([self.model_effort[:, k], self.states.velocity[:, k],
                                self._sign[:, k], np.ones(len(self.effort))])

    @cached_property
    def unexplained(self) -> ndarray:
        """Weighted logarithm (nv, nv) of the share of effort j that joint k leaves unexplained."""
        return self._unexplained([self.columns(k) for k in range(len(self.variance))])

    @property
    def unexplained_with_rotors(self) -> ndarray:
        """Return the same where the acceleration of joint k is a regressor, as of its rotor."""
        return self._unexplained([
            np.column_stack([self.states.acceleration[:, k], self.columns(k)])
            for k in range(len(self.variance))])

    def _unexplained(self, each: list[ndarray]) -> ndarray:
        columns = np.stack(each)
        share = _rest(columns, self.effort).T / np.maximum(self.variance, 1e-30)[:, None]
        return self._weight * np.log(np.maximum(share, NOISE_SHARE))

    def coefficients(self, j: int) -> ndarray:
        """Return the coefficients of joint j's effort (4,)."""
        return np.linalg.lstsq(self.columns(j), self.effort[:, j:j + 1], rcond=1e-10)[0][:, 0]

    def contributions(self, j: int) -> list[float]:
        """
        Return the shares of joint j's effort that are due to the model's, and to friction.

        They are shares of what is left without the model's effort, and without friction (viscous
        and Coulomb together).
        """
        X, tau = self.columns(j), self.effort[:, j:j + 1]
        rest = float(_rest(X, tau)[0])
        without = [float(_rest(X[:, keep], tau)[0]) for keep in ([1, 2, 3], [0, 3])]
        return [1 - rest / w if w > 0 else 0.0 for w in without]

    def dissipated(self, j: int, found: ndarray) -> float:
        """Return the mean power that friction takes from joint j [W], given its coefficients."""
        friction = self.columns(j)[:, 1:3] @ found[1:3]
        return float(np.mean(self.states.velocity[:, j] * friction))


def _rest(X: ndarray, tau: ndarray) -> ndarray:
    """Return the residual variance (..., m) of ``tau`` (N, m) after regression on (..., N, p)."""
    # The offset first, or a large one would drown the others' digits
    X = np.concatenate([np.ones_like(X[..., -1:]), X[..., :-1] - X[..., :-1].mean(
        axis=-2, keepdims=True)], axis=-1)
    size = np.sqrt(np.mean(X**2, axis=-2, keepdims=True))
    Q, R = np.linalg.qr(X / np.where(size > 0, size, 1.0))
    determined = np.abs(np.diagonal(R, axis1=-2, axis2=-1)) > 1e-8 * np.sqrt(len(tau))
    Q *= determined[..., None, :]
    return np.asarray(np.mean((tau - Q @ (np.swapaxes(Q, -2, -1) @ tau))**2, axis=-2))


class ModelConfidence(NamedTuple):
    """
    Reliability of a model's predictions for each joint while masses are uncertain.

    :param model: (nv,) whether efforts follow those of the model.
    :param gravity: (nv,) whether gravity loads the joint as in the model.
    :param power: (nv,) [W] power of apparent friction that wrong masses can cause.
    """

    model: ndarray
    gravity: ndarray
    power: ndarray


def model_confidence(batch: Batch, model: RobotModel, fit: Fit) -> ModelConfidence:
    """
    Return which predictions of a model hold for robots with other masses and centres of mass.

    A link whose centre of mass is near the axis of its joint, for instance, may load this joint or
    not: the model's prediction is then arbitrary. Joints whose measured efforts confirm the model
    are trusted in any case.
    """
    slopes, holds, power = [], [], np.zeros(model.nv)
    states, rest = fit.states, np.zeros_like(fit.states.position)
    # Efforts are linear in the parameters of the bodies; rotors are those of the model
    moving = batch.regressor(*states)
    weighing = batch.regressor(states.position, rest, rest)
    for parameters in _others(model):
        effort = moving @ parameters + model.armature * states.acceleration
        seen = Fit(batch, model, states, effort)
        found = [seen.coefficients(j) for j in range(model.nv)]
        slopes.append([of_joint[0] for of_joint in found])
        power = np.maximum(power, [abs(seen.dissipated(j, of)) for j, of in enumerate(found)])
        holds.append(_slope(fit.gravity, weighing @ parameters))
    confirmed = np.array([fit.contributions(j)[0] > MIN_CONFIRMED_SHARE for j in range(model.nv)])
    return ModelConfidence(_within(slopes) | confirmed, _within(holds), power)


def _others(model: RobotModel) -> Iterator[ndarray]:
    """Yield inertial parameters (10 nb,) of variations of a robot, the same ones in each call."""
    rng = np.random.default_rng(0)
    length = float(np.linalg.norm(model.joint_origin, axis=1).sum()) \
        or float(np.abs(model.com).max())
    for _ in range(VARIATIONS):
        factor = np.exp(MASS_DEVIATION * rng.normal(size=model.nb))
        of_inertia = factor * np.exp(INERTIA_DEVIATION * rng.normal(size=model.nb))
        shift = CENTRE_DEVIATION * length * rng.normal(size=(model.nb, 3))
        yield replace(model, mass=model.mass * factor,
                      inertia=model.inertia * of_inertia[:, None, None],
                      com=model.com + shift).inertial_parameters


def _slope(x: ndarray, y: ndarray) -> list[float]:
    x, y = x - x.mean(0), y - y.mean(0)
    return [float(a @ b / max(a @ a, 1e-30)) for a, b in zip(x.T, y.T)]


def _within(slopes: list[list[float]]) -> ndarray:
    each = np.array(slopes)
    return np.all((each > CONFIRMED_SLOPES[0]) & (each < CONFIRMED_SLOPES[1]), axis=0)


def found_gravity(model: RobotModel, fit: Fit) -> ndarray:
    """
    Return the gravity (3,) [m/s²] in the base frame that fits the efforts best.

    The efforts of gravity are linear in its vector, so that least squares finds it together with
    inertial efforts, friction and an offset of each joint. Only its direction is used, because
    masses may be wrong; a direction near an axis of the base becomes that axis.
    """
    size = float(np.linalg.norm(model.gravity_vector)) or 9.81
    vector, _ = fitted_gravity(model, fit)
    length = float(np.linalg.norm(vector))
    if length == 0.0:
        return model.gravity_vector
    direction = vector / length
    k = int(np.argmax(np.abs(direction)))
    if abs(direction[k]) > np.cos(SAME_AXIS_ANGLE):
        direction = np.sign(direction[k]) * np.eye(3)[k]
    return np.round(size * direction, 3) + 0.0


def fitted_gravity(model: RobotModel, fit: Fit) -> tuple[ndarray, float]:
    """Return the gravity (3,) that fits best as a share of its size, and its standard error."""
    nv, size = model.nv, float(np.linalg.norm(model.gravity_vector)) or 9.81
    along = np.stack([Batch(replace(model, gravity_vector=size * axis), threads=1).gravity(
        fit.states.position) for axis in np.eye(3)], axis=2)         # (N, nv, 3)
    noise = np.sqrt(np.maximum(fit.variance, 1e-30))
    rows, targets = [], []
    for j in range(nv):
        others = fit.columns(j)
        others[:, 0] -= fit.gravity[:, j]
        # Residuals of both after regression on the joint's own columns
        basis = np.linalg.qr(others / np.maximum(np.linalg.norm(others, axis=0), 1e-30))[0]
        both = np.column_stack([along[:, j], fit.effort[:, j]]) / noise[j]
        rest = both - basis @ (basis.T @ both)
        rows.append(rest[:, :3])
        targets.append(rest[:, 3])
    X, y = np.vstack(rows), np.concatenate(targets)
    vector = np.linalg.lstsq(X, y, rcond=1e-10)[0]
    deviation = np.sqrt(np.mean((y - X @ vector)**2) * np.trace(np.linalg.pinv(X.T @ X)))
    return vector, float(deviation)
