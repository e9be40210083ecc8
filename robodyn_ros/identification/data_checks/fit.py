# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Fit of recorded efforts to the model's, joint by joint, whatever their sign and scale."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy import ndarray

from ..motion import Motion
from ...dynamics.api import Batch
from ...model.robot import RobotModel

MAX_SAMPLES = 2000  # for the regression
NOISE_SHARE = 1e-3  # of the variance of an effort: less counts as noise


@dataclass(frozen=True)
class States:
    """Samples of a motion, (N, nv) each."""

    position: ndarray
    velocity: ndarray
    acceleration: ndarray

    def scaled(self, factor: ndarray) -> 'States':
        """Return the states if joint j was recorded in units of ``factor[j]``."""
        return States(self.position * factor, self.velocity * factor, self.acceleration * factor)

    def ordered(self, order: ndarray) -> 'States':
        """Return the states if column ``order[j]`` is of joint j."""
        return States(self.position[:, order], self.velocity[:, order],
                      self.acceleration[:, order])


def thin(motion: Motion, cutoff: float) -> tuple[States, ndarray]:
    """Return samples that are far enough apart to be independent, and their efforts."""
    apart = motion.rate / (4 * cutoff) if np.isfinite(cutoff) else 1.0
    step = max(1, round(apart), -(-len(motion) // MAX_SAMPLES))
    return States(motion.position[::step], motion.velocity[::step],
                  motion.acceleration[::step]), motion.effort[::step]


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
        self.model_effort = batch.inverse_dynamics(
            states.position, states.velocity, states.acceleration)
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
