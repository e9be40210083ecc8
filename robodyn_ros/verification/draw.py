# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Random worlds: each follows from a seed and an index alone."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy import ndarray
from scipy.stats import qmc

from .catalogue import drawable
from .injection import FOR_EVER
from .worlds import QUANTITIES, Truth, Worlds
from ..control.laws import registry
from ..control.settings.friction import with_friction
from ..model.rigid_body import body_of, Inertial, of_body
from ..model.robot import RobotModel, with_payload

CHOICES = ('mode', 'motion', 'fault', 'injection', 'start', 'duration')     # further dimensions
STILL = 0.3             # share of the worlds in which nothing moves the arm on purpose
START = 0.5             # s: latest start of a fault
SHORT, LONG = 0.02, 0.6             # s, of a fault
LASTING = 0.4           # share of the faults that do not end
STOPPED = 'states stop'         # the fault after which another one has to latch soon
STOPPED_COUNT = 6       # times that it is listed besides, so that few worlds show slow watchdogs


@dataclass(frozen=True)
class Draw:
    """
    A world before it is played.

    :param values: of the quantities, by name.
    :param motion: still, hand or tour.
    :param injection: name of the fault that is injected; '' for none.
    :param start, duration: [s] of it, after the arm has begun to move; ``joint``: its joint.
    """

    seed: int
    index: int
    values: Mapping[str, float]
    mode: str
    motion: str
    injection: str = ''
    start: float = 0.0
    duration: float = 0.0
    joint: int = 0

    def random(self, stream: int) -> np.random.Generator:
        """Return one of the independent random generators of this world."""
        return np.random.default_rng([self.seed, self.index, stream])

    def plain(self) -> dict[str, Any]:
        """Return it as JSON would hold it."""
        return {**vars(self), 'values': dict(self.values),
                'duration': None if self.duration == FOR_EVER else self.duration}


@lru_cache(4)
def _engine(seed: int) -> qmc.Sobol:
    return qmc.Sobol(len(QUANTITIES) + len(CHOICES), scramble=True,
                     seed=np.random.default_rng(seed))


def point(seed: int, index: int) -> ndarray:
    """Return a point of the scrambled Sobol sequence, uniform in [0, 1)."""
    engine = _engine(seed)
    if engine.num_generated > index:
        engine.reset()
    if index > engine.num_generated:
        engine.fast_forward(index - engine.num_generated)
    return engine.random(1)[0]


def draw(worlds: Worlds, nv: int, seed: int, index: int) -> Draw:
    """Return the world of an index for an arm with ``nv`` joints."""
    at = dict(zip((*(q.name for q in QUANTITIES), *CHOICES), point(seed, index)))
    values = {}
    for q in QUANTITIES:
        low, high = worlds.ranges[q.name]
        values[q.name] = float(low + (high - low) * at[q.name])
    mode = worlds.modes[int(at['mode'] * len(worlds.modes))]
    moving = 'tour' if registry.find(mode).follows else 'hand'
    motion = 'still' if at['motion'] < STILL else moving
    one = Draw(seed, index, values, mode, motion)
    if at['fault'] >= worlds.fault_share:
        return one
    names = worlds.faults or (*drawable(), *STOPPED_COUNT * (STOPPED,))
    lasts = (FOR_EVER if at['duration'] < LASTING else
             SHORT + (LONG - SHORT) * (at['duration'] - LASTING) / (1.0 - LASTING))
    return replace(one, injection=names[int(at['injection'] * len(names))],
                   start=float(START * at['start']), duration=float(lasts),
                   joint=int(one.random(2).integers(nv)))


def nominal_model(model: RobotModel, truth: Truth) -> RobotModel:
    """Return the true robot without any uncertainty; of a URDF without payload."""
    moved = with_friction(model, {name: np.array(getattr(truth, name)) for name in (
        'viscous_friction', 'coulomb_friction')})
    offset = np.array(truth.encoder_offset)         # positions are those that are measured
    moved = replace(moved, armature=np.array(truth.armature),
                    gravity_vector=np.array(truth.gravity),
                    shift=model.shift - model.ratio * offset[model.driver],
                    position_lower=model.position_lower + offset,
                    position_upper=model.position_upper + offset)
    if truth.payload_mass == 0.0:
        return moved
    return with_payload(moved, truth.payload_frame, truth.payload_mass, truth.payload_com)


def true_model(model: RobotModel, truth: Truth, drawn: Draw) -> RobotModel:
    """Return the robot that moves in a world, without the limits of its drives."""
    v, random = drawn.values, drawn.random(0)
    changed = replace(truth, payload_mass=0.0)
    moved = _deformed(nominal_model(model, changed), v['inertia_error'], random)
    payload = truth.payload_mass * (1.0 + v['payload_error'])
    for mass in (payload, v['unknown_payload']):
        if mass > 0.0:
            moved = with_payload(moved, truth.payload_frame, mass, truth.payload_com)
    effort = np.array(truth.effort_limit)
    coulomb = (v['friction_scale'] * moved.coulomb_friction
               + v['friction_extra'] * effort * random.uniform(0.5, 1.0, model.nv))
    moved = with_friction(moved, {
        'viscous_friction': v['friction_scale'] * moved.viscous_friction,
        'coulomb_friction': coulomb, 'static_friction': (1.0 + v['stribeck']) * coulomb})
    return replace(moved, gravity_vector=_tilted(moved.gravity_vector, v['tilt'], random))


def _deformed(model: RobotModel, size: float, random: np.random.Generator) -> RobotModel:
    """
    Return the model with random affine maps of its bodies, and their densities scaled.

    The pseudo-inertia of mapped points is A P Aᵀ, which stays positive semidefinite.
    """
    masses, coms, inertias = model.mass.copy(), model.com.copy(), model.inertia.copy()
    for b in range(len(masses)):
        P = of_body(Inertial(model.mass[b], model.com[b], model.inertia[b]))
        A = np.eye(4)
        A[:3] += size * random.uniform(-1.0, 1.0, (3, 4)) * [1.0, 1.0, 1.0, _radius(P)]
        body = body_of((1.0 + size * random.uniform(-1.0, 1.0)) * A @ P @ A.T)
        masses[b], coms[b], inertias[b] = body.mass, body.com, body.inertia
    return replace(model, mass=masses, com=coms, inertia=inertias)


def _radius(P: ndarray) -> float:
    """Return the radius of gyration about the center of mass [m], 0 without mass."""
    mass = P[3, 3]
    if mass <= 0.0:
        return 0.0
    return float(np.sqrt(max(0.0, np.trace(P[:3, :3]) / mass - P[:3, 3] @ P[:3, 3] / mass**2)))


def _tilted(gravity: ndarray, angle: float, random: np.random.Generator) -> ndarray:
    """Return the gravity vector (3,) turned by an angle [rad] about a random horizontal axis."""
    axis = np.cross(gravity, random.standard_normal(3))
    if not (norm := np.linalg.norm(axis)):
        return gravity
    return np.cos(angle) * gravity + np.sin(angle) * np.cross(axis / norm, gravity)
