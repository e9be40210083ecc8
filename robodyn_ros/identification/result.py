# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Result of the identification pipeline, its validation and the band of its predictions."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray
from scipy.spatial import KDTree

from .estimation.estimate import Estimate
from .estimation.filtered_columns import rows_that_count
from .estimation.regression import predicted, regression
from .estimation.search import Mounting
from .motion import Motion
from .options import by_kind, DataIssue, INERTIAL_ONLY, ParameterSelection
from ..errors import Argument, IdentificationError, Remedy
from ..model.robot import MAX_LIMIT, RobotModel

MAX_LAGS = 50           # of the autocorrelation that are looked at, and a quarter of the samples
WHITE_BAND = 1.96    # standard deviations: 95 % of the autocorrelations of white noise
RANDOM_STATES, SEED = 400, 0
BAND_WIDTH = 1.96    # standard errors: 95 %
# Names of models in the validations and in the files
NOMINAL, ORDINARY, WEIGHTED = ('URDF as it is', 'ordinary least squares',
                               'weighted least squares')
UNCONSTRAINED_TERMS = 'terms of the estimate, unconstrained'    # its weighted least squares
TERMS_TITLE = ('Terms of the exported model, by cross-validation on the fitted part '
               '(mean relative RMS)')


@dataclass(frozen=True, eq=False)
class Validation:
    """
    Measured and predicted efforts, and measures of their difference for each joint.

    :param motion: with the measured efforts.
    :param predicted: (N, nv) [N·m | N].
    :param rms: (nv,) root mean square of the errors [N·m | N].
    :param relative: (nv,) ``rms`` over the standard deviation of the efforts.
    :param whiteness: (nv,) share of the autocorrelations of the errors, from lag 1 on, outside the
        95 % band of white noise: 0.05 is white. Computed from samples half a period of the
        filter's cutoff apart, since the filter correlates neighbours.
    """

    motion: Motion
    predicted: ndarray
    rms: ndarray
    relative: ndarray
    whiteness: ndarray

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Return the names (nv,) of the joints."""
        return self.motion.joint_names

    @property
    def determination(self) -> ndarray:
        """Return the coefficients of determination (nv,)."""
        return 1.0 - self.relative**2

    @property
    def error(self) -> ndarray:
        """Measured less predicted efforts (N, nv) [N·m | N]."""
        return self.motion.effort - self.predicted


def validate(motion: Motion, predicted: ndarray, moving: float | None = None) -> Validation:
    """
    Return the measures of a prediction.

    :param predicted: (N, nv), of every sample of the motion.
    :param moving: velocity [rad/s | m/s] below which samples of a joint do not count, see
        :class:`~.options.ParameterSelection`; None: all count.
    :raises IdentificationError: a joint is never that fast.
    """
    counted = rows_that_count(motion, ParameterSelection(moving=moving))
    if not counted.any(0).all():
        joint = motion.joint_names[int(np.flatnonzero(~counted.any(0))[0])]
        raise IdentificationError(
            f'{joint} is faster than {moving:g} for too short a time', name=joint, value=moving,
            remedy=('use a lower velocity, or none: ', Argument('moving', 0.01)))
    error = np.where(counted, motion.effort - predicted, 0.0)
    rms = np.sqrt((error**2).mean(0, where=counted))
    spread = motion.effort.std(0, where=counted)
    with np.errstate(divide='ignore', invalid='ignore'):
        relative = rms / spread
    return Validation(motion, predicted, rms, relative, whiteness(error, motion))


def of_estimate(estimate: Estimate, motion: Motion) -> Validation:
    """Validate an estimate, its offsets included."""
    return validate(motion, estimate.predict(motion))


def of_model(model: RobotModel, motion: Motion, offset: ndarray | float = 0.0,
             moving: float | None = None) -> Validation:
    """
    Validate a model with its friction and armature.

    :param offset: (nv,) constant efforts in addition [N·m | N].
    :param moving: see :func:`validate`.
    """
    return validate(motion, efforts_of(model, motion) + offset, moving)


def efforts_of(model: RobotModel, motion: Motion) -> ndarray:
    """Return the efforts (N, nv) of a model, which pass the filter of the motion."""
    return predicted(model, motion, INERTIAL_ONLY, model.inertial_parameters)


def whiteness(error: ndarray, motion: Motion) -> ndarray:
    """Return the share of autocorrelations outside the band of white noise (nv,)."""
    step = max(1, round(motion.rate / (2 * motion.cutoff)))
    pieces = [error[a:b:step] - error.mean(0) for a, b in motion.segments]
    count = sum(len(piece) for piece in pieces)
    lags = min(MAX_LAGS, count // 4)
    power = sum((piece**2).sum(0) for piece in pieces)
    if lags < 1:
        return np.full(error.shape[1], np.nan)
    outside = np.zeros(error.shape[1])
    for lag in range(1, lags + 1):
        product = sum((piece[lag:] * piece[:-lag]).sum(0) for piece in pieces)
        with np.errstate(divide='ignore', invalid='ignore'):
            outside += np.abs(product / power) > WHITE_BAND / np.sqrt(count)
    return outside / lags


class PredictionBand(NamedTuple):
    """
    Half widths of the 95 % band of the predicted efforts, at random states.

    The band covers the uncertainty of the parameters, not the residual efforts, whose standard
    deviation is the σ of the estimate. Base parameters that the motion does not determine are left
    out: they stay as in the nominal model.

    :param median: (nv,) over the states [N·m | N]; ``largest``: at the worst state. Both are
        infinite at joints that are not identified.
    :param worst: (nv, nv) [rad | m] position of the worst state of each joint.
    :param parameters: (nv,) base parameter that contributes most to the band of each joint.
    """

    joint_names: tuple[str, ...]
    median: ndarray
    largest: ndarray
    worst: ndarray
    parameters: tuple[str, ...]

    def plain(self) -> dict[str, Any]:
        """Return the numbers as they are written to parameters.yaml."""
        return {name: {'median': float(self.median[j]), 'largest': float(self.largest[j]),
                       'at': self.worst[j].tolist(), 'due_to': self.parameters[j]}
                for j, name in enumerate(self.joint_names) if np.isfinite(self.median[j])}


def prediction_band(estimate: Estimate, motion: Motion) -> PredictionBand:
    """
    Return the band of an estimate's predictions over the workspace.

    States are drawn uniformly within the position limits, at velocities and accelerations up to
    the largest of each joint in the motion that was fitted.

    :param motion: that the estimate was fitted to.
    """
    model, rng = estimate.model, np.random.default_rng(SEED)
    lower, upper = (np.clip(limit, -MAX_LIMIT, MAX_LIMIT) for limit in (model.position_lower,
                                                            model.position_upper))
    shape = RANDOM_STATES, model.nv
    speed, acceleration = (abs(a).max(0) for a in (motion.velocity, motion.acceleration))
    states = Motion(model.joint_names, np.arange(RANDOM_STATES, dtype=float),
                    rng.uniform(lower, upper, shape), rng.uniform(-speed, speed, shape),
                    rng.uniform(-acceleration, acceleration, shape), np.zeros(shape), 1.0,
                    ((0, RANDOM_STATES),))
    given = regression(model, states, estimate.every_sample)
    determined = np.isfinite(np.diag(estimate.covariance))
    rows = given.matrix[:, :, estimate.base.independent[determined]]
    values, vectors = np.linalg.eigh(estimate.covariance[np.ix_(determined, determined)])
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    width = BAND_WIDTH * np.linalg.norm(rows @ root, axis=2)
    width[:, list(estimate.selection.unexplained)] = np.inf
    at = width.argmax(0)
    names = np.array(estimate.base.base_names)[determined]
    alone = abs(rows) * np.sqrt(np.diag(estimate.covariance)[determined])
    most = [str(names[alone[k, j].argmax()]) for j, k in enumerate(at)]
    return PredictionBand(model.joint_names, np.median(width, axis=0), width.max(0),
                          states.position[at], tuple(most))


@dataclass(frozen=True, eq=False)
class Identification:
    """
    Estimated parameters, their validation, and how they came about.

    :param nominal: the robot as its URDF has it.
    :param train: the part of the motion that the parameters were fitted to; ``test``: the other.
    :param estimate: the delivered model.
    :param validations: on the test part, by name: URDF, estimates for comparison, the estimate.
    :param notes: interpretations and decisions, one line each.
    :param issues: of the data, then of the result.
    :param absent: reasons why a model for comparison is missing, by its name.
    :param terms: which terms the exported model has and why, one line each.
    :param band: confidence band of the predictions over the workspace.
    """

    nominal: RobotModel
    train: Motion
    test: Motion
    mounting: Mounting
    estimate: Estimate
    validations: dict[str, Validation]
    notes: tuple[str, ...]
    issues: tuple[DataIssue, ...]
    absent: dict[str, str]
    terms: tuple[str, ...]
    band: PredictionBand

    @property
    def unidentified(self) -> tuple[str, ...]:
        """Return the joints whose friction the recording does not tell: they are without any."""
        selection = self.estimate.selection
        return tuple(name for j, name in enumerate(self.nominal.joint_names)
                     if j in selection.still or j in selection.unexplained)

    @property
    def unidentified_line(self) -> str:
        """Return the sentence that names them, or nothing."""
        names = ', '.join(self.unidentified)
        return names and f'unidentified, without friction: {names}'

    @property
    def validation(self) -> Validation:
        """Return the validation of the exported estimate."""
        return self.validations[self.estimate.method]

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return the issues, one line for each kind."""
        return self.rendered_issues()

    def rendered_issues(self, write: Callable[[Argument], str] = str) -> tuple[str, ...]:
        """Return one line for each kind of issue, see :meth:`~.DataIssue.render`."""
        return tuple(issue.render(write) for issue in by_kind(self.issues))


MAX_UNEXPLAINED = 0.3   # relative RMS above which a joint is reported
MAX_DEVIATION = 30.0    # % standard error of a base parameter above which it is counted
COMPARED_STATES = 2000
MIN_IMPROVEMENT = 0.1   # of the error, by which least squares has to be better to be reported
MAX_USUAL_DELAY = 0.01    # [s] of efforts, with usual drivers
SAME_STATE_DISTANCE = 0.05    # standard deviations within which states are the same


def result_issues(estimate: Estimate, validation: Validation, nominal: Validation, train: Motion,
                  test: Motion, plain: Mapping[str, Validation] = MappingProxyType({}),
                  delay: float = 0.0) -> Iterator[DataIssue]:
    """
    Yield findings that make a result less trustworthy, all of them warnings.

    :param validation: of the estimate on the test part; ``nominal``: of the URDF.
    :param train: motion that was fitted; ``test``: the one that is predicted.
    :param plain: validations of plain least squares, by name.
    :param delay: of the efforts [s] that was found.
    """
    if abs(delay) > MAX_USUAL_DELAY:
        order = 'later' if delay > 0.0 else 'earlier'
        yield _warning('delay', 'effort', f'efforts are {1e3 * abs(delay):.3g} ms {order} than '
                       'positions, which is compensated only approximately',
                       'record positions and efforts of the same cycle, with the stamps of the '
                       'robot', delay)
    lost = [validation.joint_names[j] for j in estimate.selection.unexplained]
    if lost:
        yield _warning('not identified', lost[0], f'the efforts of {", ".join(lost)} are '
                       'predicted no better than by a constant: they have no friction, and '
                       'these efforts are not used for the inertias',
                       'move these joints more, or look for effects that the model does not have')
    yield from _prediction_issues(validation, nominal, estimate.selection.unexplained)
    error = float(validation.relative.mean())
    for name, other in plain.items():
        if (least := float(other.relative.mean())) < (1.0 - MIN_IMPROVEMENT) * error:
            yield _warning('least squares', name, f'{name} predicts the test part better, '
                           f'{100 * least:.2f} % against {100 * error:.2f} % as exported, with '
                           'physically inconsistent parameters or by chance: the notes compare '
                           'both on the fitted part', 'record a longer motion, or look for '
                           'effects that the model does not have', error)
    if repeats(train, test):
        yield _warning('test data', 'motion', 'the test part repeats the states of the training '
                       'part, as periods of one motion do: it tests noise, not generalization',
                       'run `robodyn identify --validate` on another recording')
    if estimate.undetermined:
        yield _warning('excitation', estimate.undetermined[0], 'this motion does not determine '
                       f'{", ".join(estimate.undetermined)}: they stay near the URDF',
                       'move the joints that carry them through more poses, speeds and '
                       'accelerations, or leave them as they are')
    deviations = dict(zip(estimate.base.base_names, estimate.relative_deviations))
    weak = [name for name, deviation in deviations.items() if MAX_DEVIATION < deviation < np.inf]
    if weak:
        yield _warning('precision', weak[0], f'{len(weak)} of {estimate.base.rank} base '
                       f'parameters have a standard error above {MAX_DEVIATION:.0f} %',
                       'record more motion, or one that robodyn excite has optimized for them',
                       float(deviations[weak[0]]))


def _prediction_issues(valid: Validation, nominal: Validation, lost: Sequence[int]
                       ) -> Iterator[DataIssue]:
    for j, name in enumerate(valid.joint_names):
        if j in lost:
            continue
        if valid.rms[j] > nominal.rms[j]:
            yield _warning('prediction', name, f'the unchanged URDF predicts the test part of '
                           f'{name} better (RMS {nominal.rms[j]:.3g}, estimate '
                           f'{valid.rms[j]:.3g})', 'look for effects that the model does not have',
                           float(valid.rms[j]))
        elif valid.relative[j] > MAX_UNEXPLAINED:
            yield _warning('unexplained effort', name, f'{100 * valid.relative[j]:.0f} % of the '
                           f'effort of {name} are not predicted', 'move the joint more, or look '
                           'for effects that the model does not have', float(valid.relative[j]))


def repeats(train: Motion, test: Motion) -> bool:
    """Return whether most states of the test part are nearly those of the training part."""
    one, other = (np.hstack([m.position, m.velocity])[::max(1, len(m) // COMPARED_STATES)]
                  for m in (train, test))
    size = one.std(0)
    size[size == 0] = 1.0
    away = KDTree(one / size).query(other / size)[0] / np.sqrt(one.shape[1])
    return bool(np.median(away) < SAME_STATE_DISTANCE)


def _warning(kind: str, joint: str, message: str, remedy: Remedy,
             value: float = float('nan')) -> DataIssue:
    return DataIssue(kind, joint, message, remedy, value, fatal=False)
