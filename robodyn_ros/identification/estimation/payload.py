# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Mass, centre of mass and inertia of a load from the efforts that the model leaves."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy import ndarray
from scipy import optimize
from scipy.special import chdtrc

from .base_parameters import base_of
from .estimate import covariance, Estimate
from .least_squares import solve, undetermined, undetermined_error
from .regression import INERTIAL_PARAMETERS, INERTIAL_UNITS, Regression, regression
from ..motion import Motion
from ..options import INERTIAL_ONLY, ParameterSelection
from ...dynamics import Batch
from ...errors import ArgumentError, IdentificationError
from ...model.rigid_body import body_of, inertial_parameters, pseudo_inertia, UNITS
from ...model.robot import RobotModel

PARAMETER_ORDER = (0, 1, 2, 3, 4, 6, 9, 5, 7, 8)    # mass first, products of inertia last
LOAD_SIZE = 0.1                         # [m] scale of the prior, a point mass
PRIOR_WEIGHT = 1e-3                     # in units of squared errors of one σ
MASS_SIGNIFICANCE = 3.0                 # standard errors of the mass
SIGNIFICANCE = 1e-3                     # level of the test for inertia
DIFFERENCE_STEP = 1e-4    # of a parameter
MAX_CENTRE_ERROR = 0.05                 # [m] standard error of a determined centre of mass


@dataclass(frozen=True, eq=False)
class Payload:
    """
    Physically consistent load at a frame.

    :param mass: [kg].
    :param com: (3,) [m] in the axes of the frame.
    :param inertia: (3, 3) [kg·m²] about the centre of mass, None where it is not significant: the
        load is then a point mass.
    :param mass_error: standard error [kg]; ``com_error`` (3,) [m], infinite where not determined;
        ``inertia_error`` (3, 3) of the inertia.
    :param sigma: (nv,) standard deviation of the residual efforts [N·m | N].
    :param without: (nv,) root mean square of the residual efforts without a load [N·m | N].
    :param unseen: descriptions of quantities that this motion does not determine.
    """

    frame: str
    mass: float
    com: ndarray
    inertia: ndarray | None
    mass_error: float
    com_error: ndarray
    inertia_error: ndarray | None
    sigma: ndarray
    without: ndarray
    unseen: tuple[str, ...]


class ModelErrors(NamedTuple):
    """
    Uncertainty of the model without a load.

    :param names: (p,) of base parameters: 'Izz link2', 'Coulomb joint3', 'offset joint1'.
    :param covariance: (p, p) of their values.
    """

    names: tuple[str, ...]
    covariance: ndarray

    @classmethod
    def of(cls, estimate: Estimate) -> 'ModelErrors':
        """Return those of an estimate, as far as its motion determined the parameters."""
        determined = np.isfinite(np.diag(estimate.covariance))
        return cls(tuple(np.array(estimate.base.base_names)[determined].tolist()),
                   estimate.covariance[np.ix_(determined, determined)])


def find_payload(model: RobotModel, motion: Motion, frame: str,
                 offset: ndarray | float = 0.0, model_errors: ModelErrors | None = None
                 ) -> Payload:
    """
    Estimate mass, centre of mass and, if significant, inertia of a load fixed to a frame.

    The efforts that the known robot with its friction leaves are linear in the ten parameters of
    the load (Atkeson, An and Hollerbach 1986), which are estimated by weighted least squares with
    standard errors. Where its moments of inertia do not differ significantly from those of a
    point, the load is taken as a point mass. The result is the maximum-likelihood body that is
    physically consistent: its pseudo-inertia is L Lᵀ. Standard errors are those of the residual
    efforts and, where they are known, those that the errors of the model cause.

    :param frame: one of ``model.frame_names`` that moves.
    :param offset: (nv,) constant offsets of the effort sensors [N·m | N].
    :param model_errors: None: they count as none.
    :raises UnknownNameError: there is no such frame.
    :raises ArgumentError: the frame is fixed to the base.
    :raises IdentificationError: this motion does not determine a mass there.
    """
    place = model.frame(frame)
    if place.body < 0:
        raise ArgumentError(f'frame {frame!r} belongs to the base, which does not move',
                            name=frame, remedy='name the frame that holds the load')
    robot = regression(model, motion, INERTIAL_ONLY)
    known = robot.predict(robot.prior) + offset
    moved = _moved(model, frame)
    names = tuple(f'{name} load' for name in INERTIAL_PARAMETERS)
    whole = replace(robot, names=names, units=INERTIAL_UNITS, prior=np.zeros(10),
                    joint=np.full(10, -1), known=known, matrix=robot.matrix[
                        :, :, 10 * place.body:10 * place.body + 10] @ moved)
    columns = None if model_errors is None else _error_columns(model, motion, model_errors)
    full = _solve(whole, PARAMETER_ORDER, columns)
    visible = _inertia_shows(full)
    point = full if visible else _solve(whole, PARAMETER_ORDER[:4], columns)
    body = _real(whole, point.sigma, visible)
    mass = float(body[0])
    if not mass > 0.0:
        raise IdentificationError(f'the likeliest load at {frame} has no mass', name=frame,
                                  value=mass, remedy='see that the robot holds it, and that its '
                                  'model without a load predicts its efforts: `robodyn '
                                  'identify --validate`')
    centre = body[1:4] / mass
    errors, com_error = _errors(point, mass, centre)
    unseen = tuple(['mass: not significant'] * bool(mass < MASS_SIGNIFICANCE * errors[0])
                   + [f'com {axis}' for axis, error in zip('xyz', com_error)
                      if not error < MAX_CENTRE_ERROR]
                   + ['inertia: not significant, a point mass is assumed'] * (not visible)
                   + [f'{name}: not separable' for k, name in enumerate(INERTIAL_PARAMETERS)
                      if visible and k > 3 and not np.isfinite(errors[k])])
    inertia = inertia_error = None
    if visible:
        inertia, inertia_error = _about_centre(body), _spread_about_centre(point, body)
    return Payload(frame, mass, centre, inertia, float(errors[0]), com_error,
                   inertia_error, point.sigma,
                   np.sqrt((whole.target**2).mean(0)), unseen)


def load_columns(model: RobotModel, frame: str, q: ndarray, qd: ndarray, qdd: ndarray) -> ndarray:
    """
    Return efforts (N, nv, 10) [N·m | N] of unit inertial parameters of a load at a frame.

    :param frame: one of ``model.frame_names`` that moves.
    :param q: (N, nv) [rad | m]; ``qd``, ``qdd``: its derivatives.
    """
    first = 10 * model.frame(frame).body
    matrix = Batch(model).regressor(q, qd, qdd)[:, :, first:first + 10] @ _moved(model, frame)
    return np.asarray(matrix)


def _moved(model: RobotModel, frame: str) -> ndarray:
    """Return the matrix (10, 10) from parameters in a frame to those in its body."""
    place, H = model.frame(frame), np.eye(4)
    H[:3, :3], H[:3, 3] = place.rotation, place.origin
    return inertial_parameters(H @ UNITS @ H.T).reshape(10, 10).T


class _Solution(NamedTuple):
    """Columns that are independent, their values, covariance, and σ (nv,)."""

    columns: ndarray
    values: ndarray
    covariance: ndarray
    sigma: ndarray


def _error_columns(model: RobotModel, motion: Motion, errors: ModelErrors) -> ndarray:
    """
    Return the efforts (N, nv, p) of independent errors of the model, of one standard error each.

    Coupled friction, whose column the model alone does not have, is left out.
    """
    kinds = {name.split()[0] for name in errors.names}
    given = regression(model, motion, ParameterSelection(
        viscous='viscous' in kinds, coulomb='Coulomb' in kinds, static='static' in kinds,
        directions=any(name.endswith(' forward') for name in errors.names),
        offset='offset' in kinds, armature='armature' in kinds,
        load=tuple(model.inertial_parameters.tolist()) if 'load' in kinds else ()))
    at = {name: k for k, name in enumerate(given.names)}
    known = [k for k, name in enumerate(errors.names) if name in at]
    values, vectors = np.linalg.eigh(errors.covariance[np.ix_(known, known)])
    return np.asarray(given.matrix[:, :, [at[errors.names[k]] for k in known]]
                      @ (vectors * np.sqrt(np.maximum(values, 0.0))))


def _solve(given: Regression, order: tuple[int, ...], errors: ndarray | None) -> _Solution:
    base = base_of(given, order)
    if not len(base.independent):
        raise IdentificationError(
            'no effort of this motion depends on the mass of a load', name='mass', value=0.0,
            remedy='name a frame that moves, and move joints that its weight loads, or that '
            'accelerate it')
    if (lost := undetermined(given, base)).any():
        raise undetermined_error(given, base, lost)
    found = solve(given, base, 'weighted')
    matrix = covariance(given, base.independent, found.divisor, found.error).matrix
    if errors is not None:
        rows = given.matrix[:, :, base.independent] / found.divisor[:, None]
        caused = np.linalg.lstsq(rows.reshape(-1, rows.shape[-1]), (
            errors / found.divisor[:, None]).reshape(-1, errors.shape[-1]), rcond=None)[0]
        matrix = matrix + caused @ caused.T
    return _Solution(base.independent, found.values, matrix, found.sigma)


def _inertia_shows(found: _Solution) -> bool:
    """Return whether moments of inertia differ from those of a point, by more than chance."""
    moments = np.flatnonzero(found.columns > 3)
    full = np.zeros(10)
    full[found.columns] = found.values
    if not len(moments) or not full[0] > 0.0:
        return False
    P = np.outer([*full[1:4], full[0]], [*full[1:4], full[0]])[None] / full[0]
    more = (full - inertial_parameters(P))[found.columns[moments]]
    spread = found.covariance[np.ix_(moments, moments)]
    return bool(chdtrc(len(moments), more @ np.linalg.solve(spread, more)) < SIGNIFICANCE)


def _real(given: Regression, sigma: ndarray, inertia: bool) -> ndarray:
    """Return the likeliest parameters (10,) of a body, or of a point, that can exist."""
    R = given.compressed.whole(sigma)
    size = np.array([LOAD_SIZE] * 3 + [1.0])
    lower = np.tril_indices(4)

    def body(x: ndarray) -> ndarray:
        L = np.zeros((4, 4))
        if inertia:
            L[lower] = x
        else:
            L[:, 0] = x
        return np.outer(size, size) * (L @ L.T)

    def errors(x: ndarray) -> ndarray:
        P = body(x)
        spread = P - np.outer(P[3], P[3]) / max(P[3, 3], 1e-12)     # none, of a point
        # The prior of the moment keeps a center that no effort depends on at the origin, where
        # rounding would decide otherwise
        return np.concatenate([R @ np.append(inertial_parameters(P[None]), -1.0),
                               PRIOR_WEIGHT * (spread / np.outer(size, size)).ravel(),
                               PRIOR_WEIGHT * P[3, :3] / size[:3]])

    starts = ([0.7 * np.eye(4)[lower] + 0.01] if inertia else
              [np.array([0.0, 0.0, 0.0, root]) for root in (0.3, 1.0, 2.0)])
    best = min((optimize.least_squares(errors, start, xtol=1e-12, ftol=1e-12, gtol=1e-12,
                                       max_nfev=400) for start in starts),
               key=lambda result: result.cost)
    return inertial_parameters(body(best.x)[None])


def _about_centre(body: ndarray) -> ndarray:
    """Return the inertia (3, 3) of ten parameters about the centre of mass."""
    return body_of(pseudo_inertia(body)[0]).inertia


def _spread_about_centre(found: _Solution, body: ndarray) -> ndarray:
    """Return standard errors (3, 3) of it, by its slopes."""
    slopes = []
    for column in found.columns:
        step = np.zeros(10)
        step[column] = DIFFERENCE_STEP * max(abs(body[column]), body[0] * LOAD_SIZE**2)
        slopes.append((_about_centre(body + step) - _about_centre(body - step)) / (
            2 * step[column]))
    J = np.array(slopes)
    return np.sqrt(np.einsum('aij,ab,bij->ij', J, found.covariance, J))


def _errors(found: _Solution, mass: float, centre: ndarray) -> tuple[ndarray, ndarray]:
    """Return standard errors of the ten parameters (10,), possibly infinite, and of the com."""
    errors = np.full(10, np.inf)
    errors[found.columns] = np.sqrt(np.diag(found.covariance))
    com = np.full(3, np.inf)
    place = {int(column): k for k, column in enumerate(found.columns)}
    for i in range(3):
        if 0 in place and i + 1 in place:
            k = [place[0], place[i + 1]]
            slope = np.array([-centre[i], 1.0]) / mass
            com[i] = np.sqrt(slope @ found.covariance[np.ix_(k, k)] @ slope)
    return errors, com
