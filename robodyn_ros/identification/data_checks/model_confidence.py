# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Robustness of model predictions to errors of mass and inertia, joint by joint."""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy import ndarray

from .fit import Fit
from ...dynamics.api import Batch
from ...model.robot import RobotModel

VARIATIONS = 8            # of the robot
MASS_DEVIATION = 0.4      # standard deviation of the log of a mass
INERTIA_DEVIATION = 0.7   # the same of an inertia, in addition to that of the mass
CENTRE_DEVIATION = 0.015  # of a centre of mass, relative to the length of the arm
CONFIRMED_SLOPES = (0.3, 3.0)    # of efforts that follow the model under every variation
MIN_CONFIRMED_SHARE = 0.9    # of an effort, without friction, that confirms the model


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
    # Efforts are linear in the parameters of the bodies, and rotors are as the model has them
    moving = batch.regressor(states.position, states.velocity, states.acceleration)
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
