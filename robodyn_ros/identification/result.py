# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Result of the identification pipeline."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from .data_checks.data_issue import by_kind, DataIssue
from .estimation.estimate import Estimate
from .estimation.search import Mounting
from .motion import Motion
from .prediction_band import PredictionBand
from .validation import Validation
from ..errors import Argument
from ..model.robot import RobotModel

# Names of models in the validations and in the files
NOMINAL, ORDINARY, WEIGHTED = ('URDF as it is', 'ordinary least squares',
                               'weighted least squares')
UNCONSTRAINED_TERMS = 'terms of the estimate, unconstrained'    # its weighted least squares
TERMS_TITLE = ('Terms of the exported model, by cross-validation on the fitted part '
               '(mean relative RMS)')


@dataclass(frozen=True, eq=False)
class Identification:
    """
    Estimated parameters, their validation, and how they came about.

    :param nominal: the robot as its URDF has it.
    :param train: the part of the motion that the parameters were fitted to; ``test``: the other.
    :param estimate: the delivered model.
    :param others: estimates for comparison, by name.
    :param validations: on the test part, by name: URDF, others, the estimate.
    :param notes: interpretations and decisions, one line each.
    :param issues: of the data, then of the result.
    :param absent: reasons why a model for comparison is missing, by its name.
    :param band: confidence band of the predictions over the workspace.
    :param terms: which terms the exported model has and why, one line each.
    """

    nominal: RobotModel
    train: Motion
    test: Motion
    mounting: Mounting
    estimate: Estimate
    others: dict[str, Estimate]
    validations: dict[str, Validation]
    notes: tuple[str, ...]
    issues: tuple[DataIssue, ...]
    absent: Mapping[str, str] = field(default_factory=dict)
    terms: tuple[str, ...] = ()
    band: PredictionBand | None = None

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
