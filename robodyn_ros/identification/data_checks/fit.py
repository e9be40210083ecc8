# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Fit of recorded efforts to the model's, joint by joint, whatever their sign and scale."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy import ndarray

from ...dynamics.api import Batch
from ...model.robot import RobotModel
from ..motion import Motion

MOST = 2000             # samples that are looked at
NEGLIGIBLE = 1e-3       # of an effort's variance: what is less than this unexplained is noise


@dataclass(frozen=True)
class States:
    """Some samples of a motion, (N, nv) each."""

    position: ndarray
    velocity: ndarray
    acceleration: ndarray

    def scaled(self, factor: ndarray) -> 'States':
        """Return what they are if joint j was recorded in units of ``factor[j]``."""
        return States(self.position * factor, self.velocity * factor, self.acceleration * factor)

    def ordered(self, order: ndarray) -> 'States':
        """Return what they are if column ``order[j]`` is of joint j."""
        return States(self.position[:, order], self.velocity[:, order],
                      self.acceleration[:, order])


def thin(motion: Motion, cutoff: float) -> tuple[States, ndarray]:
    """Return a few of the samples, as far apart as to tell something new each, and the efforts."""
    apart = motion.rate / (4 * cutoff) if np.isfinite(cutoff) else 1.0
    step = max(1, round(apart), -(-len(motion) // MOST))
    return States(motion.position[::step], motion.velocity[::step],
                  motion.acceleration[::step]), motion.effort[::step]


class Fit:
    """
    Efforts of a model in some states, and what they and friction explain of measured ones.

    Effort j is regressed on the model's effort of joint k, that joint's velocity and its sign, and
    an offset: masses that are wrong, friction and bias of a sensor explain themselves away.

    :param weightless: take gravity out of the model's efforts.
    :param weight: (nv,) how much is made of what joint k leaves unexplained; None: 1.
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
        """Return what effort may consist of at joint k (N, 4): model, viscous, Coulomb, offset."""
        return np.column_stack([self.model_effort[:, k], self.states.velocity[:, k],
                                self._sign[:, k], np.ones(len(self.effort))])

    @cached_property
    def unexplained(self) -> ndarray:
        """(nv, nv) log of the share of effort j that joint k leaves unexplained, weighted."""
        out = np.empty((self.effort.shape[1],) * 2)
        for k in range(len(out)):
            out[:, k] = _rest(self.columns(k), self.effort)
        share = out / np.maximum(self.variance, 1e-30)[:, None]
        return self._weight * np.log(np.maximum(share, NEGLIGIBLE))

    def coefficients(self, j: int) -> tuple[ndarray, ndarray]:
        """
        Return what joint j's effort is made of (4,), and what each explains that others do not.

        The latter (3,) are shares of what is left without it: of the model's effort, of friction
        (viscous and Coulomb together), of the whole but the offset.
        """
        X, tau = self.columns(j), self.effort[:, j:j + 1]
        found = np.linalg.lstsq(X, tau, rcond=1e-10)[0][:, 0]
        rest = float(_rest(X, tau)[0])
        without = [float(_rest(X[:, keep], tau)[0]) for keep in ([1, 2, 3], [0, 3], [3])]
        return found, np.array([1 - rest / w if w > 0 else 0.0 for w in without])

    def dissipated(self, j: int, found: ndarray) -> float:
        """Return the mean power that friction takes from joint j [W], given its coefficients."""
        friction = self.columns(j)[:, 1:3] @ found[1:3]
        return float(np.mean(self.states.velocity[:, j] * friction))


def _rest(X: ndarray, tau: ndarray) -> ndarray:
    """Return the variance of each column of ``tau`` that the columns of X do not explain."""
    # The offset first, or a large one would drown the others' digits
    X = np.column_stack([np.ones(len(X)), X[:, :-1] - X[:, :-1].mean(0)])
    size = np.sqrt(np.mean(X**2, axis=0))
    Q, R = np.linalg.qr(X / np.where(size > 0, size, 1.0))
    Q = Q[:, np.abs(np.diag(R)) > 1e-8 * np.sqrt(len(X))]
    return np.mean((tau - Q @ (Q.T @ tau))**2, axis=0)
