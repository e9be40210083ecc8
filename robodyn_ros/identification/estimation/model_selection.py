# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Selection of the effects and terms of the exported model, by likelihood and cross-validation."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy import ndarray
from scipy import optimize
from scipy.sparse import csr_matrix, kron

from .base_parameters import base_parameters
from .cross_validation import Candidate, choose_weight, scores_of, Trial
from .estimate import autocovariance, Estimate, inertial_of
from .filtered_columns import path_friction, thinner
from .least_squares import least_squares, METHODS
from .physical_consistency import consistent, PRIOR_WEIGHTS
from .regression import friction_columns, Regression, regression, VALIDATION_BLOCKS
from .search import AS_RECORDED, EFFECTS, find_effects, most_likely_coupling
from ..motion import Motion
from ..options import ParameterSelection, PipelineOptions, USUAL_PARAMETERS
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


ARMATURE_SIGNIFICANCE = 3.0     # standard errors above zero
SELECTION_ROUNDS = 4            # of effects and armature at most
COARSE_WEIGHTS = PRIOR_WEIGHTS[::2]   # of the prior, among which one is chosen for the comparisons
# In descending order of importance, since later terms may explain a part of earlier ones
TERMS = ('coupled transmission', 'presliding', 'load-dependent friction', 'delay', 'tilt',
         'rotor inertia', 'static friction', 'velocity scales of friction',
         'friction of each direction')
ALL_METHODS = ('consistent', *METHODS)


def select_model(model: RobotModel, motion: Motion, selection: ParameterSelection,
                 options: PipelineOptions) -> Candidate:
    """
    Return the terms and the weight of the prior of the model that predicts best as exported.

    Every candidate is fitted under physical consistency to all blocks of the motion but one, and
    scored by the mean relative RMS of the block that was left out (Stone 1974). All of its terms
    are exported, and known to the controller and the simulator. The effects that the likelihood
    selects come first; then terms without a gain are dropped, and others added that gain more than
    a standard error. Terms forced by an option are excluded. Delay, tilt, presliding distance and
    velocity scales are estimated once, with all blocks.
    """
    found = select_effects(model, motion, selection, options)
    best = Trial(found, motion)
    scores = scores_of(best, COARSE_WEIGHTS)
    weight = min(scores, key=lambda weight: scores[weight].error)
    score, terms = scores[weight], list[str]()
    for name in TERMS:
        try:
            if (other := alternative(name, best.candidate, model, motion, options)) is None:
                continue
            trial = Trial(other, motion)
            new = trial.exported(weight)
        except IdentificationError as error:
            terms.append(f'{name}: rejected, {error}')
            continue
        gain, deviation = new.gain(score)
        adds = name not in EFFECTS and (name != 'rotor inertia' or other.selection.armature)
        wins = bool(gain > (deviation if adds else 0.0))
        with_it, without = (new.error, score.error) if adds else (score.error, new.error)
        why = f'the gain is within its standard error of {100 * deviation:.2g} %' \
            if adds and 0.0 < gain <= deviation else 'the lower error'
        terms.append(f'{name}: {"taken" if adds == wins else "rejected"}, {100 * with_it:.2f} % '
                     f'with it, {100 * without:.2f} % without: {why}')
        if wins:
            best, score = trial, new
    plain = Trial(Candidate(model, replace(AS_RECORDED, delay=options.delay or 0.0), replace(
        selection, armature=options.armature is not False,
        presliding=options.presliding or 0.0)), motion)
    weight, notes = _weight(best, [plain.least_squares(method).error for method in METHODS])
    return best.candidate._replace(notes=(*found.notes, *notes), weight=weight,
                                   terms=tuple(terms))


def alternative(term: str, given: Candidate, model: RobotModel, motion: Motion,
                options: PipelineOptions) -> Candidate | None:
    """
    Return a candidate without a term, or with it; None where the term is forced or meaningless.

    :param model: as it is in the URDF.
    :raises IdentificationError: the motion does not determine the term.
    """
    selection, mounting = given.selection, given.mounting
    moved, fitted = mounting.motion(motion), dict[str, Any]()
    if term == 'delay' and mounting.delay and options.delay is None:
        return given._replace(mounting=replace(mounting, delay=0.0))
    if term == 'tilt' and mounting.tilt.any():
        return Candidate(replace(given.model, gravity_vector=model.gravity_vector),
                         replace(mounting, tilt=np.zeros(3)), selection)
    if term == 'velocity scales of friction' and selection.coulomb and selection.moving is None \
            and (selection.static or not selection.presliding):     # else it has no such scales
        return given._replace(model=friction_speeds(given.model, moved, selection).model)
    if term == 'presliding' and selection.presliding and options.presliding is None:
        fitted['presliding'] = 0.0
    elif term == 'rotor inertia' and options.armature is None:
        fitted['armature'] = not selection.armature
    elif term == 'friction of each direction' and not selection.directions:
        fitted['directions'] = True
    elif term == 'static friction' and selection.coulomb and not selection.static:
        fitted['static'] = True
    elif term == 'load-dependent friction' and selection.coulomb and not selection.load:
        fitted['load'] = inertial_of(least_squares(
            regression(given.model, moved, selection), 'weighted', full_rank=False))
    elif term == 'coupled transmission' and selection.coulomb and not selection.coupling and (
            pair := most_likely_coupling(given.model, moved, selection, options.coupled)):
        fitted['coupling'] = (pair,)
    return given._replace(selection=replace(selection, **fitted)) if fitted else None


def select_effects(model: RobotModel, motion: Motion, selection: ParameterSelection,
                   options: PipelineOptions) -> Candidate:
    """
    Select the effects besides inertia and friction that the motion shows.

    Delay, tilt and presliding are searched for together (:func:`~.search.find_effects`), at first
    with rotor inertias, and again without these where they turn out to be insignificant.
    """
    wanted, notes = set(EFFECTS), list[str]()
    if options.delay is not None:
        notes.append(f'delay of the efforts: {1e3 * options.delay:.4g} ms, as given')
        wanted.remove('delay')
    if not options.tilt:
        wanted.remove('tilt')
    if (way := options.presliding) is not None:
        notes.append(f'presliding: {f"{1e3 * way:.4g} mrad" if way else "none"}, as given')
        wanted.remove('presliding')
    elif not selection.coulomb or selection.moving is not None:
        notes.append('presliding: not estimated, ' + (
            'reversals are left out' if selection.coulomb else 'no dry friction'))
        wanted.remove('presliding')
    late = replace(AS_RECORDED, delay=options.delay or 0.0)
    selection = replace(selection, presliding=way or 0.0, armature=options.armature is not False)
    for _ in range(SELECTION_ROUNDS):
        mounting, distance = find_effects(model, late.motion(motion), selection, wanted)
        mounting = replace(mounting, delay=mounting.delay + late.delay)
        chosen, why = _with_armature(mounting.model(model), mounting.motion(motion), replace(
            selection, presliding=distance), options.armature)
        again, selection = chosen.armature != selection.armature, replace(
            selection, armature=chosen.armature)
        if not again:
            break
    return Candidate(mounting.model(model), mounting, chosen, (*notes, *mounting.notes, *why))


def _with_armature(model: RobotModel, motion: Motion, selection: ParameterSelection,
                   asked: bool | None) -> tuple[ParameterSelection, list[str]]:
    """Return the selection with or without armature, and why."""
    if asked is not None:
        return replace(selection, armature=asked), [
            'armature: ' + ('estimated' if asked else 'as in the URDF') + ', as given']
    with_armature = replace(selection, armature=True)
    found = least_squares(regression(model, motion, with_armature), 'weighted', full_rank=False)
    each = [(value, error) for name, value, error in zip(
        found.base.base_names, found.values, found.standard_errors)
        if name.startswith('armature ') and np.isfinite(error)]
    if not each:
        return with_armature, ['armature: estimated; not distinguishable from the inertia of the '
                               'links']
    positive = sum(value > ARMATURE_SIGNIFICANCE * error for value, error in each)
    if positive:
        return with_armature, [f'armature: estimated (significant at {positive} of {len(each)} '
                               'observable joints)']
    negative = sum(value < -ARMATURE_SIGNIFICANCE * error for value, error in each)
    return replace(selection, armature=False), [
        'armature: as in the URDF (significant at no joint' + (
            f', negative at {negative} of {len(each)}: the torque sensors are behind the gears, '
            'or the model lacks another effect)' if negative else ')')]


def _weight(best: Trial, plain: Sequence[float]) -> tuple[float, list[str]]:
    """Return the weight of the prior, and why; ``plain``: errors of plain least squares."""
    least = min(plain)
    weight, error = choose_weight(best, least)
    notes = [f'cross-validation over {VALIDATION_BLOCKS} blocks of the fitted part, mean relative '
             f'RMS: {100 * error:.2f} % as exported, {100 * plain[0]:.2f} % ordinary and '
             f'{100 * plain[1]:.2f} % weighted least squares; weight of the prior {weight:g}']
    if error > least:
        notes.append('least squares without constraints predicts the blocks better: physically '
                     'consistent parameters with nonnegative friction are less accurate')
    return weight, notes


def identify(model: RobotModel, motion: Motion, selection: ParameterSelection = USUAL_PARAMETERS,
             method: str = 'consistent', weight: float | None = None) -> Estimate:
    """
    Estimate the parameters of a robot from its motion.

    :param selection: parameters that are estimated besides the inertial ones, and samples that are
        used.
    :param method: 'consistent': physically consistent (:func:`~.physical_consistency.consistent`);
        'weighted', 'ordinary': see :func:`~.least_squares.least_squares`.
    :param weight: of the nominal model as a prior, for 'consistent'; None: by cross-validation
        (:func:`~.cross_validation.choose_weight`).
    :raises IdentificationError: the motion does not determine the parameters; the error names a
        joint or parameter and the remedy.
    """
    if method not in ALL_METHODS:
        raise IdentificationError(f'no method {method!r}', name='method', value=method,
                                  remedy=f'choose one of {", ".join(ALL_METHODS)}')
    if weight is not None and method != 'consistent':
        raise IdentificationError(f'method {method!r} has no prior to weigh', name='weight',
                                  value=weight, remedy='leave the weight out, or choose '
                                                       'consistent')
    given = regression(model, motion, selection)
    if method != 'consistent':
        return least_squares(given, method)
    if weight is None:
        weight, _ = choose_weight(Trial(Candidate(model, AS_RECORDED, selection), motion))
    return consistent(given, weight)
