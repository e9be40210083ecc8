# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameter estimation in one call."""

from .cross_validation import Candidate, choose_weight, Trial
from .estimate import Estimate
from .least_squares import least_squares
from .least_squares import METHODS as UNCONSTRAINED
from .parameter_selection import ParameterSelection, USUAL_PARAMETERS
from .physical_consistency import consistent
from .regression import regression
from .search import AS_RECORDED
from ..motion import Motion
from ...errors import IdentificationError
from ...model.robot import RobotModel

METHODS = ('consistent', *UNCONSTRAINED)


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
    if method not in METHODS:
        raise IdentificationError(f'no method {method!r}', name='method', value=method,
                                  remedy=f'choose one of {", ".join(METHODS)}')
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
