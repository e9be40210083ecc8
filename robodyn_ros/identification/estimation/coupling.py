# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Coupled transmissions: friction of a motor that turns with two joints."""

from collections.abc import Sequence
from dataclasses import replace

from .least_squares import Likelihood
from .parameter_selection import ParameterSelection
from .regression import regression
from ..motion import Motion
from ...model.robot import RobotModel

SIGNIFICANCE = 1e-3     # level of the likelihood-ratio test
MOTION_SIGNS = (1.0, -1.0)    # of the second joint, as the motor feels it


def most_likely_coupling(model: RobotModel, motion: Motion, selection: ParameterSelection,
                         pairs: Sequence[tuple[str, str]] = ()) -> tuple[int, float] | None:
    """
    Return the pair of neighbouring joints whose common friction explains most.

    In a wrist, the motor of the last joint often turns with q_i ± q_j, since its gear is carried
    by the joint before it, and its friction acts on both. Of all neighbours, the pair of the
    greatest likelihood is returned (:class:`~.least_squares.Likelihood`).

    :param pairs: names of joints that a URDF says are coupled, among which only is chosen; empty:
        all neighbours.
    :return: index of the first joint, and the ratio of the other one's motion; None where no pair
        is significant.
    """
    names = model.joint_names
    said = [tuple(sorted(map(names.index, pair))) for pair in pairs if set(pair) <= set(names)]
    tried = [i for i in range(model.nv - 1) if (i, i + 1) in said] if said else range(model.nv - 1)
    likelihood = Likelihood(regression(model, motion, selection))
    found = {}
    for i in tried:
        if model.slides[i] != model.slides[i + 1]:
            continue
        for sign in MOTION_SIGNS:
            other = replace(selection, coupling=((i, sign),))
            found[i, sign] = likelihood.misfit(regression(model, motion, other))
    if not found:
        return None
    best = min(found, key=found.__getitem__)
    return best if likelihood.explains(found[best], 2, SIGNIFICANCE) else None
