# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Options of the identification pipeline."""

from dataclasses import dataclass, field

from .estimation.parameter_selection import ParameterSelection
from .preparation.options import PreparationOptions
from ..errors import ArgumentError


@dataclass(frozen=True)
class PipelineOptions:
    """
    Options of the identification pipeline; None applies a rule, which uses the training part only.

    :param selection: parameters that are estimated besides the inertial ones. ``armature`` and
        ``presliding`` of it are replaced by the options below; its ``decimate`` of 1 stands for
        the rule, see :func:`~.estimation.model_selection.decimated`.
    :param armature: whether rotor inertias are estimated; None: where they are significantly
        positive at some joint.
    :param split: share of the samples, from the first, that is used for training; the others are
        predicted.
    :param delay: of the efforts after the positions [s]; None: estimated.
    :param tilt: whether a tilt of the base is estimated.
    :param presliding: distance after a reversal over which friction changes its sign [rad], 0 for
        none; None: estimated.
    :param coupled: pairs of names of joints that share a motor; empty: neighbours are tried.
    :param preparation: filter, rate, and kinds of issues that are accepted.
    :param force: whether files are written where the estimate predicts worse than a constant.
    :raises ArgumentError: the split leaves too little to fit or to predict.
    """

    selection: ParameterSelection = field(default_factory=ParameterSelection)
    armature: bool | None = None
    split: float = 0.7
    delay: float | None = None
    tilt: bool = True
    presliding: float | None = None
    preparation: PreparationOptions = field(default_factory=PreparationOptions)
    force: bool = False
    coupled: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        if not 0.1 <= self.split <= 0.9:
            raise ArgumentError(f'the split is {self.split!r}', name='split', value=self.split,
                                remedy='give a share from 0.1 to 0.9: the rest is not fitted, '
                                       'but predicted')
