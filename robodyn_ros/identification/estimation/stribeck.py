# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Velocity scales of the friction curve, in which efforts are not linear."""

from dataclasses import dataclass, replace

import numpy as np
from numpy import ndarray
from scipy import optimize
from scipy.sparse import csr_matrix, kron

from .base_parameters import base_parameters
from .estimate import autocovariance
from .filtered_columns import path_friction, thinner
from .least_squares import least_squares
from .regression import friction_columns, Regression, regression
from ..motion import Motion
from ..options import ParameterSelection
from ...errors import IdentificationError
from ...model.robot import RobotModel

MAX_BEND_VELOCITY = 0.1    # [rad/s | m/s] range of the bend of the curve
MIN_SAMPLES = 20     # moving within this range
REST_VELOCITY = 1e-4    # [rad/s | m/s]
MIN_SCALE = 1e-3    # [rad/s | m/s]; a steeper zero crossing is a step
ALTERNATIONS = 3    # of rigid bodies and friction
MAX_LOG_ERROR = 1.0  # standard error of the logarithm of a determined scale


@dataclass(frozen=True, eq=False)
class FrictionSpeeds:
    """
    Velocity scales of the friction curves.

    :param model: the model with these scales, for the regression of all other parameters.
    :param friction_velocity: (nv,) [rad/s | m/s].
    :param stribeck_velocity: (nv,) [rad/s | m/s]; nominal where static friction is not selected.
    :param friction_velocity_error: (nv,) standard errors; ``stribeck_velocity_error``: too.
    :param undetermined: names such as 'stribeck_velocity joint3' of scales that the motion does
        not determine; they stay nominal, with an infinite error.
    """

    model: RobotModel
    friction_velocity: ndarray
    stribeck_velocity: ndarray
    friction_velocity_error: ndarray
    stribeck_velocity_error: ndarray
    undetermined: tuple[str, ...]


def friction_speeds(model: RobotModel, motion: Motion, selection: ParameterSelection
                    ) -> FrictionSpeeds:
    """
    Estimate ``friction_velocity`` and, with ``selection.static``, ``stribeck_velocity``.

    The curve of :mod:`~robodyn_ros.dynamics.friction` is linear in all but these scales: its
    coefficients follow by least squares, and only the scales are searched for (variable
    projection: Golub and Pereyra 1973), for all joints together, on the efforts that the rigid
    bodies leave; then the rigid bodies are fitted again. All samples are used, whatever
    ``selection.moving``, since slow ones determine the scales. With presliding the velocity on
    which friction changes its sign does not matter, and only the other scale is found.

    :raises IdentificationError: Coulomb friction is not selected, a joint has no slow motion, or
        as :func:`~.least_squares.least_squares`.
    """
    if not selection.coulomb:
        raise IdentificationError('the speeds belong to Coulomb friction, which is not chosen',
                                  name='coulomb', value=False, remedy='choose it')
    selection = replace(selection, moving=None)
    slow = (abs(motion.velocity) < MAX_BEND_VELOCITY) & (abs(motion.velocity) > REST_VELOCITY)
    for name, count in zip(motion.joint_names, slow.sum(0).tolist()):
        if count < MIN_SAMPLES:
            raise IdentificationError(
                f'joint {name!r} moves slower than {MAX_BEND_VELOCITY:g} in {count} samples only',
                name=name, value=count,
                remedy='record slow motion of it and reversals, or keep the speeds of the model')
    fastest = abs(motion.velocity).max(0)
    base, believed = base_parameters(model, selection), model
    for _ in range(ALTERNATIONS):
        given = regression(model, motion, selection)
        estimate = least_squares(given, 'weighted', base, full_rank=False)
        own = np.array([not name.startswith(('armature', 'coupled')) for name in given.names])
        own &= given.joint >= 0
        rigid = given.matrix[:, :, ~own] @ estimate.parameters[~own]
        fit = Fit(model, motion, selection, (given.target - rigid) / estimate.sigma, fastest)
        model = fit.best()
    return fit.speeds(model, believed, given)


class Fit:
    """Friction of all joints as a function of logarithms of their speeds (n · nv,)."""

    def __init__(self, model: RobotModel, motion: Motion, selection: ParameterSelection,
                 friction: ndarray, fastest: ndarray):
        self.start, self.motion, self.selection, self.friction = model, motion, selection, friction
        self.thin, self.fixed = thinner(motion, selection, True), dict[str, ndarray]()
        start = [model.friction_velocity, model.stribeck_velocity][:1 + selection.static]
        low, high = np.log(MIN_SCALE), np.log(np.tile(fastest, len(start)))
        self.bounds = np.full(high.shape, low), np.maximum(high, low + 1.0)
        inside = 1e-3 * (self.bounds[1] - self.bounds[0])
        self.at = np.clip(np.log(np.concatenate(start)), self.bounds[0] + inside,
                          self.bounds[1] - inside)
        self.found: optimize.OptimizeResult | None = None

    def model(self, logarithms: ndarray) -> RobotModel:
        """Return the model with these speeds."""
        speeds = np.exp(logarithms).reshape(-1, self.start.nv)
        fields = dict(zip(('friction_velocity', 'stribeck_velocity'), speeds.copy()))
        return replace(self.start, **fields)

    def errors(self, logarithms: ndarray) -> ndarray:
        """Return the residual friction of the best coefficients, joint by joint (nv · N,)."""
        columns = []
        for name, *_, unit, load in friction_columns(self.model(logarithms), self.selection,
                                                     self.motion):
            if name not in self.fixed:
                column = self.thin(path_friction(unit, self.motion, load))
                if name.startswith('viscous'):      # no speed matters to it
                    self.fixed[name] = column
            columns.append(self.fixed[name] if name in self.fixed else column)
        columns += [np.ones_like(columns[0])] * self.selection.offset
        C = np.stack(columns, axis=2)
        left = []
        for j, friction in enumerate(self.friction.T):
            Q = np.linalg.qr(C[:, j])[0]
            left.append(friction - Q @ (Q.T @ friction))
        return np.concatenate(left)

    def best(self) -> RobotModel:
        """Search."""
        n, nv = len(self.friction), self.start.nv
        block = kron(csr_matrix(np.eye(nv)), np.ones((n, 1)))
        pattern = csr_matrix(np.hstack([block.toarray()] * (len(self.at) // nv)))
        one = len(self.at) == 1     # the solver for sparse Jacobians takes two or more
        self.found = optimize.least_squares(
            self.errors, self.at, bounds=self.bounds, jac_sparsity=None if one else pattern,
            x_scale=1.0, max_nfev=50)
        return self.model(self.found.x)

    def speeds(self, model: RobotModel, believed: RobotModel, given: Regression
               ) -> FrictionSpeeds:
        """Return the result with errors, correlation of neighbours counted in."""
        assert self.found is not None
        n, nv = self.friction.shape
        jacobian = csr_matrix(self.found.jac).toarray()
        deviation = np.full((2, nv), np.inf)
        for j in range(nv):
            J = jacobian[j * n:(j + 1) * n, j::nv]
            gamma = autocovariance(self.found.fun[j * n:(j + 1) * n], given.segments)
            spread = np.linalg.pinv(J.T @ J) * (gamma[0] + 2 * gamma[1:].sum())
            seen = abs(J).max(axis=0) > 1e-9
            deviation[:len(spread), j] = np.where(seen, np.sqrt(np.diag(spread)), np.inf)
        if not self.selection.static:
            deviation[1] = 0.0
        deviation[deviation > MAX_LOG_ERROR] = np.inf
        kinds = 'friction_velocity', 'stribeck_velocity'
        speed, stribeck = (np.where(np.isinf(row), getattr(believed, kind), getattr(model, kind))
                           for kind, row in zip(kinds, deviation))
        undetermined = tuple(f'{kind} {joint}' for kind, row in zip(kinds, deviation)
                             for joint, value in zip(model.joint_names, row) if np.isinf(value))
        return FrictionSpeeds(
            replace(believed, friction_velocity=speed, stribeck_velocity=stribeck), speed,
            stribeck, deviation[0] * speed, deviation[1] * stribeck, undetermined)
