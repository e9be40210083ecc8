# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Checks of an estimate: prediction of the test part, precision and physical consistency."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

import numpy as np
from scipy.spatial import KDTree

from .data_issue import DataIssue, Severity
from ..estimation.estimate import Estimate
from ..motion import Motion
from ..result import Validation
from ...errors import Remedy

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
                       'run robodyn validate on another recording')
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
    return DataIssue(kind, joint, message, remedy, value, Severity.WARNING)
