# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Linear regression of a motion: efforts as a matrix times unknown parameters."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy import ndarray

from .filtered_columns import (
    gravity_efforts, inertial_columns, kept_columns, kinematics, path_friction, rows_that_count,
    thinner)
from ..motion import Motion
from ..options import ParameterSelection, USUAL_PARAMETERS
from ...dynamics import Batch
from ...dynamics.model_data import friction_parameters
from ...errors import IdentificationError
from ...model.robot import RobotModel

VALIDATION_BLOCKS = 5    # of equal numbers of samples, for cross-validation
# Of a body, in the order of `RobotModel.inertial_parameters`
INERTIAL_PARAMETERS = ('m', 'mcx', 'mcy', 'mcz', 'Ixx', 'Ixy', 'Iyy', 'Ixz', 'Iyz', 'Izz')
INERTIAL_UNITS = ('kg', *('kg·m',) * 3, *('kg·m²',) * 6)
FRICTION_TERMS = ('viscous', 'Coulomb', 'static')
CHUNK_SAMPLES = 4096    # samples whose columns exist at once
LOAD_TERM = 'load'      # share of the effort of gravity, by which Coulomb friction grows


class Compressed:
    """
    Triangular factors of the rows of each joint in each block of samples.

    A factor R has |R (φ, -1)| equal to the norm of the errors that the parameters φ leave of this
    joint in this block. Every estimate that weights joints or leaves blocks out follows from a few
    hundred rows then, and columns on which a joint does not depend take no part.

    :param matrix: (N, nv, P) and ``target`` (N, nv) of the regression.
    :param bounds: of the blocks, (blocks + 1) indices of samples; None: VALIDATION_BLOCKS of
        equal size.
    """

    def __init__(self, matrix: ndarray, target: ndarray, bounds: Sequence[int] | None = None):
        self.nv, self.size = matrix.shape[1:]
        self.bounds = np.linspace(0, len(target), VALIDATION_BLOCKS + 1).astype(int).tolist() \
            if bounds is None else list(bounds)
        self._used = [np.append(np.flatnonzero(matrix[:, j].any(axis=0)), self.size)
                      for j in range(self.nv)]
        self._factors = [[triangle(np.column_stack([matrix[a:b, j, used[:-1]], target[a:b, j]]))
                          for j, used in enumerate(self._used)]
                         for a, b in zip(self.bounds, self.bounds[1:])]

    def joints(self, columns: ndarray | None = None, without: int | None = None
               ) -> list[ndarray]:
        """
        Return rows (k, p + 1) of each joint that stand for all of its samples.

        :param columns: (p,) indices of the parameters; None: all.
        :param without: block that is left out.
        """
        return [self._rows(j, [block[j] for k, block in enumerate(self._factors) if k != without],
                           columns) for j in range(self.nv)]

    def blocks(self, sigma: ndarray, columns: ndarray) -> list[ndarray]:
        """Return the triangular factor (p + 1, p + 1) of each block, joints divided by σ (nv,)."""
        return [triangle(np.vstack([self._rows(j, [block[j]], columns) / sigma[j]
                                    for j in range(self.nv)])) for block in self._factors]

    def whole(self, sigma: ndarray, without: int | None = None) -> ndarray:
        """Return the triangular factor (P + 1, P + 1) of all rows, joints divided by σ (nv,)."""
        return triangle(np.vstack([rows / s for rows, s in zip(
            self.joints(without=without), sigma)]))

    def squares(self, block: int, parameters: ndarray) -> ndarray:
        """Return the sums of squared errors (nv,) that parameters (P,) leave in a block."""
        extended = np.append(parameters, -1.0)
        return np.array([np.sum((factor @ extended[used])**2)
                         for factor, used in zip(self._factors[block], self._used)])

    def _rows(self, joint: int, factors: Sequence[ndarray], columns: ndarray | None) -> ndarray:
        stacked = np.vstack(factors)
        whole = np.zeros((len(stacked), self.size + 1))
        whole[:, self._used[joint]] = stacked
        return whole if columns is None else whole[:, np.append(columns, self.size)]


def triangle(rows: ndarray) -> ndarray:
    """Return the triangular factor (k, k) of the QR decomposition of rows (n, k)."""
    return np.asarray(np.linalg.qr(rows, mode='r'))


@dataclass(frozen=True, eq=False)
class Parameters:
    """
    Parameters φ of a robot, one for each column of a regression.

    :param model: the nominal robot.
    :param selection: parameters that are estimated besides the inertial ones.
    :param names: (P,) of the parameters: 'm link3', 'Coulomb joint2', 'armature joint1'.
    :param units: (P,) of the parameters.
    :param prior: (P,) nominal values; 0 for offsets.
    :param joint: (P,) index of the only joint that a column affects, -1 for inertial parameters.
    """

    model: RobotModel
    selection: ParameterSelection
    names: tuple[str, ...]
    units: tuple[str, ...]
    prior: ndarray
    joint: ndarray


@dataclass(frozen=True, eq=False)
class Regression(Parameters):
    """
    Linear model τ = matrix @ φ + known of each joint and sample.

    :param matrix: (N, nv, P).
    :param effort: (N, nv) [N·m | N] as measured.
    :param known: (N, nv) [N·m | N] efforts of parameters that are not estimated.
    :param segments: (begin, end) of samples that follow each other without a gap.
    :param counted: (N, nv) rows that are used; in the others matrix, effort and known are 0.
    """

    matrix: ndarray
    effort: ndarray
    known: ndarray
    segments: tuple[tuple[int, int], ...]
    counted: ndarray

    def __len__(self) -> int:
        return len(self.effort)

    @property
    def size(self) -> int:
        """Return the number of parameters P."""
        return len(self.names)

    @property
    def target(self) -> ndarray:
        """Measured less known efforts (N, nv) [N·m | N]."""
        return self.effort - self.known

    def predict(self, parameters: ndarray) -> ndarray:
        """Return the efforts (N, nv) [N·m | N] of parameters (P,)."""
        return self.matrix @ parameters + self.known

    @cached_property
    def compressed(self) -> Compressed:
        """All rows as triangular factors of joints and blocks, computed once."""
        return Compressed(self.matrix, self.target)


def regression(model: RobotModel, motion: Motion, selection: ParameterSelection = USUAL_PARAMETERS
               ) -> Regression:
    """
    Return the linear regression of a motion.

    Khalil and Dombre 2002, chapter 12; Siciliano et al. 2009, section 7.4. Columns pass the
    low-pass that the efforts of the motion have passed: Coulomb friction has steps where a
    velocity is zero, filtered efforts have none.

    :raises IdentificationError: the joints of motion and model differ.
    """
    if motion.joint_names != model.joint_names:
        raise IdentificationError(
            f'the motion is of joints {", ".join(motion.joint_names)}', name=model.name,
            value=motion.joint_names, remedy=f'bring its columns into the order of the model: '
                                             f'{", ".join(model.joint_names)}')
    like_efforts, thin = thinner(motion, selection, True), thinner(motion, selection, False)

    def filtered(compute: Callable[[], ndarray]) -> ndarray:
        return like_efforts(compute())

    columns = [(f'{what} {link}', unit, -1) for link in model.link_names
               for what, unit in zip(INERTIAL_PARAMETERS, INERTIAL_UNITS)]
    prior = [model.inertial_parameters]
    pieces = [inertial_columns(model, motion, selection)]
    slides = model.slides.astype(int)
    for name, units, value, key, compute in own_columns(model, motion, selection):
        columns += [(name.format(joint), units[slide], i)
                    for i, (joint, slide) in enumerate(zip(model.joint_names, slides))]
        prior.append(value)
        column = kept_columns(motion, selection.decimate, key, partial(filtered, compute))
        pieces.append(column[:, :, None] * np.eye(model.nv))
    for i, kind, units, nominal, column in coupled_columns(model, motion, selection):
        columns.append((f'coupled {kind} {model.joint_names[i]}', units[slides[i]], i))
        prior.append(np.array([nominal]))
        pieces.append(like_efforts(column)[:, :, None])
    known = known_efforts(model, motion, selection)
    names, each_unit, owner = zip(*columns)
    joint, values = np.array(owner), np.concatenate(prior)
    ends = np.cumsum([0, *(
        -(-(b - a) // selection.decimate) for a, b in motion.segments)]).tolist()
    counted = rows_that_count(motion, selection)
    if selection.moving is not None and not counted.any():
        raise IdentificationError(
            f'no joint is faster than {selection.moving:g} for long enough', name='moving',
            value=selection.moving, remedy='use a lower velocity, or none')
    matrix, known = np.concatenate(pieces, axis=2), like_efforts(known)
    for j, columns_held in held_columns(names, joint, selection):
        known[:, j] += matrix[:, j, columns_held] @ values[columns_held]
        matrix[:, j, columns_held] = 0.0
    matrix[~counted] = 0.0
    return Regression(model, selection, names, each_unit, values, joint,
                      matrix, thin(motion.effort) * counted, known * counted,
                      tuple(zip(ends, ends[1:])), counted)


def held_columns(names: Sequence[str], joint: ndarray, selection: ParameterSelection
                 ) -> Iterator[tuple[int, ndarray]]:
    """Yield joints, and which columns (P,) of their efforts keep the values of the model."""
    offset = np.array([name.startswith('offset ') for name in names])
    for j in selection.still:
        yield j, (joint == j) & ~offset
    for j in selection.unexplained:
        yield j, ~(offset & (joint == j))


def predicted(model: RobotModel, motion: Motion, selection: ParameterSelection,
              parameters: ndarray) -> ndarray:
    """
    Return the efforts (N, nv) [N·m | N] of parameters (P,), those of :func:`regression`.

    Every sample is predicted. Efforts pass the filter of the motion as a sum, which takes a small
    part of the time that columns would.
    """
    inertial = 10 * model.nb
    batch, at = Batch(model), inertial
    sums = [(batch.regressor(*(a[k:k + CHUNK_SAMPLES] for a in (
        motion.position, motion.velocity, motion.acceleration))) @ parameters[:inertial])
        for k in range(0, len(motion), CHUNK_SAMPLES)]
    total = np.concatenate(sums) + known_efforts(model, motion, selection)
    for *_, compute in own_columns(model, motion, selection):
        total += compute() * parameters[at:at + model.nv]
        at += model.nv
    for *_, column in coupled_columns(model, motion, selection):
        total += column * parameters[at]
        at += 1
    return thinner(motion, replace(selection, decimate=1), True)(total)


OwnColumn = tuple[str, tuple[str, str], ndarray, tuple[Any, ...], Callable[[], ndarray]]


def own_columns(model: RobotModel, motion: Motion, selection: ParameterSelection
                ) -> list[OwnColumn]:
    """
    Return name, units, nominal value (nv,), key and column of the parameters of single joints.

    The key decides the column of a motion, which a function returns (N, nv).
    """
    found: list[OwnColumn] = [
        (name, units, value, ('friction', friction_parameters(unit).tobytes(), *(
            () if load is None else (selection.load, *kinematics(model)))),
         partial(path_friction, unit, motion, load))
        for name, units, value, unit, load in friction_columns(
            presliding_model(model, selection), selection, motion)]
    if selection.offset:
        found.append(('offset {}', ('N·m', 'N'), np.zeros(model.nv), ('offset',),
                      lambda: np.ones_like(motion.position)))
    if selection.armature:
        found.append(('armature {}', ('kg·m²', 'kg'), model.armature, ('armature',),
                      lambda: motion.acceleration))
    return found


def coupled_columns(model: RobotModel, motion: Motion, selection: ParameterSelection
                    ) -> list[tuple[int, str, tuple[str, str], float, ndarray]]:
    """Return joint, kind, units, nominal value and column (N, nv) of coupled friction."""
    placed, found = presliding_model(model, selection), []
    for i, ratio in selection.coupling:
        for row, kind, units in ((1, 'viscous', ('N·m·s/rad', 'N·s/m')),
                                 (2, 'Coulomb', ('N·m', 'N'))):
            coupled = np.zeros((3, model.nv))
            coupled[[0, row], i] = ratio, 1.0
            unit = replace(with_friction(placed, *np.zeros((2, 3, model.nv))),
                           coupled_friction=coupled)
            found.append((i, kind, units, float(model.coupled_friction[row, i]),
                          path_friction(unit, motion)))
    return found


def known_efforts(model: RobotModel, motion: Motion, selection: ParameterSelection) -> ndarray:
    """Return the efforts (N, nv) [N·m | N] of parameters that are not estimated, not filtered."""
    known = path_friction(without(presliding_model(model, selection), selection), motion,
                          carried(model, motion, selection))
    return known if selection.armature else known + model.armature * motion.acceleration


def presliding_model(model: RobotModel, selection: ParameterSelection) -> RobotModel:
    """Return the model with the presliding distance of a selection, at rotary joints."""
    if selection.presliding is None:
        return model
    return replace(model, presliding_distance=np.where(model.slides, 0.0, selection.presliding))


def carried(model: RobotModel, motion: Motion, selection: ParameterSelection) -> ndarray | None:
    """Return the efforts of gravity (N, nv) that friction depends on, None where it does not."""
    if selection.load:
        return gravity_efforts(model, motion, selection.load)
    if not model.load_friction.any():
        return None
    return gravity_efforts(model, motion, tuple(model.inertial_parameters.tolist()))


FrictionColumn = tuple[str, tuple[str, str], ndarray, RobotModel, ndarray | None]


def friction_columns(model: RobotModel, selection: ParameterSelection, motion: Motion
                     ) -> list[FrictionColumn]:
    """
    Return name, units, nominal value, unit model and load of each friction coefficient.

    Friction is linear in its coefficients, so its formula stands in one place: a column is the
    friction of a model in which one coefficient is 1 and the others are 0.
    """
    ones, nothing = np.ones(model.nv), np.zeros((3, model.nv))
    forward = np.array([model.viscous_friction, model.coulomb_friction, model.static_friction])
    backward = model.backward_friction
    found: list[FrictionColumn] = []
    for row, chosen in enumerate((selection.viscous, selection.coulomb, selection.static)):
        if not chosen:
            continue
        unit = nothing.copy()
        unit[row] = ones
        if row == 1 and not selection.static:
            unit[2] = ones
        units = (('N·m·s/rad', 'N·s/m') if row == 0 else ('N·m', 'N'))
        if selection.directions:
            found += [(f'{FRICTION_TERMS[row]} {{}} forward', units, forward[row],
                       with_friction(model, unit, nothing), None),
                      (f'{FRICTION_TERMS[row]} {{}} backward', units, backward[row],
                       with_friction(model, nothing, unit), None)]
        else:
            found.append((f'{FRICTION_TERMS[row]} {{}}', units, (forward[row] + backward[row]) / 2,
                          with_friction(model, unit, unit), None))
    if selection.load:
        found.append((f'{LOAD_TERM} {{}}', ('', ''), model.load_friction, replace(
            with_friction(model, nothing, nothing), load_friction=ones),
            gravity_efforts(model, motion, selection.load)))
    return found


def with_friction(model: RobotModel, forward: ndarray, backward: ndarray) -> RobotModel:
    """
    Return the model with viscous, Coulomb and static friction (3, nv) of each direction.

    It has neither load-dependent nor coupled friction.
    """
    return replace(model, viscous_friction=forward[0].copy(), coulomb_friction=forward[1].copy(),
                   static_friction=forward[2].copy(), backward_friction=backward.copy(),
                   load_friction=np.zeros(model.nv), coupled_friction=np.zeros((3, model.nv)))


def without(model: RobotModel, selection: ParameterSelection) -> RobotModel:
    """Return the model without the friction that is estimated."""
    chosen = np.array([selection.viscous, selection.coulomb, selection.coulomb])[:, None]
    forward = np.array([model.viscous_friction, model.coulomb_friction, model.static_friction])
    return replace(
        with_friction(model, np.where(chosen, 0.0, forward),
                      np.where(chosen, 0.0, model.backward_friction)),
        load_friction=np.zeros(model.nv) if selection.load else model.load_friction,
        coupled_friction=np.where([i in dict(selection.coupling) for i in range(model.nv)], 0.0,
                                  model.coupled_friction))
