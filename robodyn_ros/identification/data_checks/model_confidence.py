# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Robustness of model predictions to errors of mass and inertia, joint by joint."""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy import ndarray

from ...dynamics.api import Batch
from ...model.robot import RobotModel
from .fit import Fit

ROBOTS = 8          # of which each could be the real one
MASS = 0.4          # standard deviation of the log of what a mass is wrong by
INERTIA = 0.7       # the same of an inertia, beyond what it has from the mass
CENTRE = 0.015       # of the arm's length: standard deviation of a centre of mass, each direction
SLOPES = (0.3, 3.0)     # of a joint that follows its model whichever robot is the real one
CONFIRMED = 0.9     # of an effort that friction leaves: what explains this much is right


class ModelConfidence(NamedTuple):
    """
    What can be said of each joint before its masses are known.

    :param model: (nv,) whether its effort goes with the model's.
    :param gravity: (nv,) whether it bears gravity as the model does.
    :param power: (nv,) what wrong masses can look like friction by [W].
    """

    model: ndarray
    gravity: ndarray
    power: ndarray


def model_confidence(batch: Batch, model: RobotModel, fit: Fit) -> ModelConfidence:
    """
    Return what remains true of the model for robots whose masses and centres are others.

    A link whose centre is near the axis of its joint, for instance, may load this joint with some
    or none: what the model says of it is chance. What the measured efforts themselves confirm is
    trusted anyway.
    """
    slopes, holds, power = [], [], np.zeros(model.nv)
    for other in _others(model):
        real = Batch(other, threads=1)
        states = fit.states
        effort = real.inverse_dynamics(states.position, states.velocity, states.acceleration)
        seen = Fit(batch, model, states, effort)
        found = [seen.coefficients(j)[0] for j in range(model.nv)]
        slopes.append([of_joint[0] for of_joint in found])
        power = np.maximum(power, [abs(seen.dissipated(j, of)) for j, of in enumerate(found)])
        holds.append(_slope(fit.gravity, real.gravity(states.position)))
    confirmed = np.array([fit.coefficients(j)[1][0] > CONFIRMED for j in range(model.nv)])
    return ModelConfidence(_within(slopes) | confirmed, _within(holds), power)


def _others(model: RobotModel) -> Iterator[RobotModel]:
    """Yield robots that the model may be meant for; the same ones each time."""
    rng = np.random.default_rng(0)
    length = float(np.linalg.norm(model.joint_origin, axis=1).sum()) \
        or float(np.abs(model.com).max())
    for _ in range(ROBOTS):
        factor = np.exp(MASS * rng.normal(size=model.nb))
        of_inertia = factor * np.exp(INERTIA * rng.normal(size=model.nb))
        shift = CENTRE * length * rng.normal(size=(model.nb, 3))
        yield replace(model, mass=model.mass * factor,
                      inertia=model.inertia * of_inertia[:, None, None],
                      com=model.com + shift)


def _slope(x: ndarray, y: ndarray) -> list[float]:
    x, y = x - x.mean(0), y - y.mean(0)
    return [float(a @ b / max(a @ a, 1e-30)) for a, b in zip(x.T, y.T)]


def _within(slopes: list[list[float]]) -> ndarray:
    each = np.array(slopes)
    return np.all((each > SLOPES[0]) & (each < SLOPES[1]), axis=0)
