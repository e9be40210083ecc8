# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Independent, scaled columns of the regressor of a motion, and their quality."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import NamedTuple, NoReturn

import numpy as np
from numpy import ndarray
from scipy.linalg import qr

from ..estimation.base_parameters import above_rounding, independent_columns
from ..estimation.regression import INERTIAL_PARAMETERS, triangle
from ..motion import Motion
from ...dynamics import Batch, Dynamics
from ...errors import Argument, IdentificationError, Remedy
from ...model.robot import RobotModel

NO_CHANGES: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True)
class Shares:
    """
    Shares of the limits that a motion may use.

    :param position: of the range between the position limits, about its middle.
    :param velocity: of the velocity limits.
    :param effort: of the effort limits; the rest is for model errors and feedback.
    """

    position: float = 0.95
    velocity: float = 0.8
    effort: float = 0.7

    def __post_init__(self):
        for name in ('position', 'velocity', 'effort'):
            if not 0.0 < (share := getattr(self, name)) <= 1.0:
                raise IdentificationError(f'the share {share:g} of the {name} limits', name=name,
                                          value=share, remedy='use one above 0, up to 1')


@dataclass(frozen=True)
class Limits:
    """
    Limits of a motion with margins taken off, or the largest values of one, (nv,) each.

    :param lower, upper: ends of the range of positions [rad | m].
    :param velocity: [rad/s | m/s].
    :param acceleration: [rad/s² | m/s²]; inf where only the effort limit bounds it.
    :param effort: [N·m | N]; inf where there is no limit.
    """

    lower: ndarray
    upper: ndarray
    velocity: ndarray
    acceleration: ndarray
    effort: ndarray

    @property
    def middle(self) -> ndarray:
        """Return the middle (nv,) of the range of positions [rad | m]."""
        return (self.lower + self.upper) / 2

    @property
    def half(self) -> ndarray:
        """Return half of the range (nv,) of positions [rad | m]."""
        return (self.upper - self.lower) / 2


def motion_limits(model: RobotModel, shares: Shares = Shares(), *,
                  ranges: Mapping[str, tuple[float, float]] = MappingProxyType({}),
                  velocity: Mapping[str, float] = NO_CHANGES,
                  acceleration: Mapping[str, float] = NO_CHANGES) -> Limits:
    """
    Return the limits of a motion: those of a model, or given here, with margins.

    A URDF has no acceleration limits. Where none is given, the effort limit bounds the
    acceleration by inverse dynamics; a joint without both is refused.

    :param ranges: lower and upper end [rad | m] by joint, within the limits of the model.
    :param velocity: limit [rad/s | m/s] by joint, at most that of the model.
    :param acceleration: limit [rad/s² | m/s²] by joint; margins do not apply to it.
    :raises IdentificationError: a joint lacks a required limit, or a given limit is invalid.
    :raises UnknownNameError: there is no such joint.
    """
    lower, upper = model.position_lower.copy(), model.position_upper.copy()
    fastest, hardest = model.velocity_limit.copy(), np.full(model.nv, np.inf)
    for name, (low, high) in ranges.items():
        i = model.joint_index(name)
        if not lower[i] <= low < high <= upper[i]:
            _refuse(name, f'the range {low:g} to {high:g}', (low, high),
                    f'use one in the limits {lower[i]:g} to {upper[i]:g}, the lower end first')
        lower[i], upper[i] = low, high
    for given, limits, what in ((velocity, fastest, 'velocity'),
                                (acceleration, hardest, 'acceleration')):
        for name, value in given.items():
            i = model.joint_index(name)
            if not 0.0 < value <= limits[i]:
                _refuse(name, f'the {what} limit {value:g}', value,
                        f'use one above 0, up to the limit {limits[i]:g} of the model')
            limits[i] = value
    if unlimited := [name for name, span in zip(model.joint_names, upper - lower)
                     if not np.isfinite(span)]:
        _refuse(', '.join(unlimited), 'no position limits', np.inf, (
            'state the range that each may use: ',
            Argument('ranges', dict.fromkeys(unlimited, (-3.1, 3.1)))))
    for i, name in enumerate(model.joint_names):
        if not upper[i] > lower[i]:
            _refuse(name, 'no room between its position limits', (lower[i], upper[i]),
                    'lock it')
        if not 0.0 < fastest[i] < np.inf:
            _refuse(name, f'the velocity limit {fastest[i]:g}', float(fastest[i]),
                    ('set its velocity limit: ', Argument('velocity', {name: 1.0})))
        if np.isinf(model.effort_limit[i]) and np.isinf(hardest[i]):
            _refuse(name, 'neither an effort nor an acceleration limit', np.inf,
                    ('set an acceleration limit: ', Argument('acceleration', {name: 5.0})))
    middle, half = (lower + upper) / 2, shares.position * (upper - lower) / 2
    return Limits(middle - half, middle + half, shares.velocity * fastest, hardest,
                  shares.effort * model.effort_limit)


def _refuse(name: str, problem: str, value: object, remedy: Remedy) -> NoReturn:
    raise IdentificationError(f'joint {name}: {problem}', name=name, value=value, remedy=remedy)


# Of eigenvalues (n,), rising: the value, and its derivative by each of them
Criterion = Callable[[ndarray], tuple[float, ndarray]]
# Terms of a joint besides the inertia of the bodies, and their columns
JOINT_TERMS = {'friction': ('viscous', 'Coulomb'), 'offset': ('offset',),
               'armature': ('armature',)}
# Share of the velocity limit in which the sign of a velocity is taken to change: a step would
# leave the optimisation without a slope
SIGN_WIDTH = 0.05
DIFFERENCE_STEP = 1e-6    # in shares of the limits
MAX_KNOWN_SAMPLES = 2000    # of a recording
RANDOM_STATES, SEED = 300, 0           # random states that show which columns are independent
COSINE_ROUNDING = 2e-3    # of a direction cosine: 3.14 is a half turn
EXACT_COSINES = np.cos(np.radians([0.0, 30.0, 45.0, 60.0, 90.0, 120.0, 135.0, 150.0, 180.0]))


class Quality(NamedTuple):
    """
    Quality of a motion for identification.

    :param condition: condition number of the scaled matrix W, by which relative errors of the
        efforts may grow (Gautier and Khalil 1992).
    :param information: ln det(Wᵀ W / rows) divided by the number of parameters, to be maximized
        (Swevers et al. 1997).
    """

    condition: float
    information: float


def quality(matrix: ndarray) -> Quality:
    """Return the quality of a matrix (N, nv, columns); the condition of a singular one is inf."""
    values = np.linalg.svd(matrix.reshape(-1, matrix.shape[-1]), compute_uv=False)
    with np.errstate(divide='ignore'):
        return Quality(float(np.divide(values[0], values[-1])), float(
            2.0 * np.mean(np.log(values)) - np.log(matrix.shape[0] * matrix.shape[1])))


def smooth_condition(power: float) -> Criterion:
    """
    Return a smooth approximation of the logarithm of the condition number.

    ½ ln of the p-norms of the eigenvalues λ and of 1/λ: for ``power`` p = 1 the condition number
    in the Frobenius norm, towards infinity that in the 2-norm, which has no derivative where
    singular values coincide, as they do at its minimum.
    """
    def criterion(values: ndarray) -> tuple[float, ndarray]:
        up, down = values / values[-1], values[0] / values
        above, below = up**power, down**power
        value = 0.5 * np.log(values[-1] / values[0]) + (
            np.log(above.sum()) + np.log(below.sum())) / (2.0 * power)
        return value, 0.5 * (above / above.sum() - below / below.sum()) / values
    return criterion


def little_information(values: ndarray) -> tuple[float, ndarray]:
    """Return -½ ln det divided by the number of eigenvalues, to be minimized."""
    return -0.5 * float(np.mean(np.log(values))), -0.5 / (len(values) * values)


def of_matrix(criterion: Criterion, matrix: ndarray) -> tuple[float, ndarray]:
    """Return a criterion of a matrix (N, nv, columns), and its gradient of the same shape."""
    tall = matrix.reshape(-1, matrix.shape[-1])
    values, vectors = np.linalg.eigh(tall.T @ tall)
    # Rounding may leave the least ones at or below zero: raise them to the rounding
    values = np.maximum(values, np.finfo(float).eps * max(values[-1], np.finfo(float).tiny))
    value, slope = criterion(values)
    return value, (2.0 * (tall @ vectors) * slope @ vectors.T).reshape(matrix.shape)


class BaseRegressor:
    """
    Independent, scaled columns of the regressor of any motion.

    Columns of bodies are those of :meth:`Dynamics.regressor`; a joint may add viscous (q̇) and
    Coulomb friction (the sign of q̇), an offset (1) and the rotor inertia (q̈). QR decomposition
    with pivoting of the regressor of states all over the limits selects a largest independent set
    (Gautier 1991). It is selected with the angles that rounded ones mean (:func:`unrounded`):
    parameters that only rounding makes visible would dominate the condition number of any motion.

    Rows are divided by the effort limit of the joint (where it has none, by the largest effort of
    the model on those states), so that errors are relative to the strength of the joint. Columns
    are then divided by their root mean square on those states. The scaling is the same for every
    motion, so a motion that hardly excites a parameter is rated accordingly.

    :param include: names of :data:`JOINT_TERMS`.
    :param fastest: (nv,) [rad/s² | m/s²] largest acceleration.
    """

    def __init__(self, dynamics: Dynamics, limits: Limits, fastest: ndarray,
                 include: Sequence[str] = ('friction',)):
        for name in include:
            if name not in JOINT_TERMS:
                raise IdentificationError(f'no joint term {name!r}', name='include', value=name,
                                          remedy=f'choose of {", ".join(JOINT_TERMS)}')
        self._batch, self._include = dynamics.batch, tuple(
            name for name in JOINT_TERMS if name in include)
        #: Limits of the states, (nv,) each.
        self.sizes = replace(limits, acceleration=np.minimum(limits.acceleration, fastest))
        states = self._random_states()
        effort = np.abs(self._batch.inverse_dynamics(*states)).max(0)
        self._weights = 1.0 / np.where(np.isfinite(limits.effort), limits.effort,
                                       np.where(effort > 0.0, effort, 1.0))
        model = dynamics.model
        names = [f'{link} {what}' for link in model.link_names for what in INERTIAL_PARAMETERS] + [
            f'{joint} {what}' for term in self._include for what in JOINT_TERMS[term]
            for joint in model.joint_names]
        self._chosen, self._scale = np.arange(len(names)), np.ones(len(names))
        ideal = self._of(Batch(unrounded(model), threads=1), *states)
        size = np.sqrt(np.mean(ideal**2, axis=(0, 1)))
        some = np.flatnonzero(above_rounding(size, model.nb))
        tall = (ideal[:, :, some] / size[some]).reshape(-1, len(some))
        pivots = qr(tall, mode='r', pivoting=True)[1]   # the most informative ones first
        self._chosen = some[np.sort(independent_columns(tall, pivots.tolist()))]
        self._scale = np.ones(len(self._chosen))
        self._scale = np.sqrt(np.mean(self(*states)**2, axis=(0, 1)))
        #: Names of the columns, of a body's or a joint's parameter.
        self.names = tuple(names[k] for k in self._chosen)

    def __len__(self) -> int:
        return len(self.names)

    def __call__(self, q: ndarray, qd: ndarray, qdd: ndarray) -> ndarray:
        """Return the scaled matrix (N, nv, columns) of states (N, nv)."""
        return self._of(self._batch, q, qd, qdd)

    def _of(self, batch: Batch, q: ndarray, qd: ndarray, qdd: ndarray) -> ndarray:
        one = np.eye(q.shape[1])
        of_term = {'viscous': qd, 'armature': qdd, 'offset': np.ones_like(q),
                   'Coulomb': np.tanh(qd / (SIGN_WIDTH * self.sizes.velocity))}
        full = np.concatenate([batch.regressor(q, qd, qdd), *(
            of_term[what][:, :, None] * one for term in self._include
            for what in JOINT_TERMS[term])], axis=2)
        return full[:, :, self._chosen] * self._weights[:, None] / self._scale

    def with_slopes(self, q: ndarray, qd: ndarray, qdd: ndarray) -> tuple[ndarray, ndarray]:
        """
        Return the matrix (N, nv, columns) and its derivatives (3, nv, N, nv, columns).

        The derivatives are with respect to q, q̇ and q̈ of each joint, by forward differences.
        """
        count, nv = q.shape
        steps = DIFFERENCE_STEP * np.array([
            self.sizes.upper - self.sizes.lower, self.sizes.velocity, self.sizes.acceleration])
        states = np.tile(np.stack([q, qd, qdd])[:, None], (1, 3 * nv + 1, 1, 1))
        for kind in range(3):
            for i in range(nv):
                states[kind, 1 + kind * nv + i, :, i] += steps[kind, i]
        all_of_them = self(*states.reshape(3, -1, nv)).reshape(3 * nv + 1, count, nv, -1)
        slopes = (all_of_them[1:] - all_of_them[0]) / steps.reshape(-1, 1, 1, 1)
        return all_of_them[0], slopes.reshape(3, nv, count, nv, -1)

    def _random_states(self) -> tuple[ndarray, ndarray, ndarray]:
        size, shape = self.sizes, (RANDOM_STATES, len(self.sizes.lower))
        random = np.random.default_rng(SEED)
        return (random.uniform(size.lower, size.upper, shape),
                random.uniform(-size.velocity, size.velocity, shape),
                random.uniform(-size.acceleration, size.acceleration, shape))


def unrounded(model: RobotModel) -> RobotModel:
    """
    Return a model without the rounding of the angles between its joint frames.

    Direction cosines within COSINE_ROUNDING of those of multiples of 30° and 45° become these:
    3.1416 and 1.57 are a half and a quarter turn. The model shows which parameters the efforts
    depend on; it is not for computing efforts.
    """
    distance = np.abs(model.joint_rotation[..., None] - EXACT_COSINES)
    nearest = EXACT_COSINES[distance.argmin(axis=-1)]
    near = np.abs(nearest - model.joint_rotation) < COSINE_ROUNDING
    U, _, Vt = np.linalg.svd(np.where(near, nearest, model.joint_rotation))
    axis = np.where(np.abs(model.joint_axis) < COSINE_ROUNDING, 0.0, model.joint_axis)
    return replace(model, joint_rotation=U @ Vt,
                   joint_axis=axis / np.linalg.norm(axis, axis=1, keepdims=True))


def known_rows(regressor: BaseRegressor, motions: Sequence[Motion], period: float) -> ndarray:
    """
    Return rows (k, nv, columns) with the information of motions that were recorded before.

    They are those of a motion of one sample, to be multiplied by the root of the number of samples
    of a new motion of duration ``period`` [s]; longer recordings count more.
    """
    nv, count = len(regressor.sizes.lower), len(regressor)
    tall = np.zeros((0, count))
    for motion in motions:
        step = max(len(motion) // MAX_KNOWN_SAMPLES, 1)
        rows = regressor(*(a[::step] for a in (motion.position, motion.velocity,
                                               motion.acceleration)))
        weight = len(motion) / motion.rate / period / len(rows)
        tall = triangle(np.vstack([tall, np.sqrt(weight) * rows.reshape(-1, count)]))
    filled = np.zeros((-(-len(tall) // nv) * nv, count))
    filled[:len(tall)] = tall
    return filled.reshape(-1, nv, count)
