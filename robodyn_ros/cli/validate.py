# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Errors of the efforts that a model predicts, for `robodyn identify --validate`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy import ndarray
from rich.console import Console

from .recording_options import show

if TYPE_CHECKING:
    from ..catalog.robots import CatalogRobot
    from ..identification.estimation.payload import ModelErrors
    from ..identification.motion import Motion
    from ..identification.options import PreparationOptions
    from ..identification.recordings.recording import Recording
    from ..identification.result import Validation
    from ..model.robot import RobotModel


def validate(robot: CatalogRobot, recording: Recording, friction: Path | None,
             delay: float | None, moving: float | None, options: PreparationOptions, out: Console
             ) -> Validation:
    """
    Print and return how well a model predicts a recording.

    :param delay: of the efforts [s]; None: that of the identification.
    :param moving: samples above this velocity are compared [rad/s | m/s]; None: all.
    """
    from .identification_report import measures
    from ..identification.result import of_model

    options, delay, _ = identified_conditions(recording, friction, delay, options, out)
    motion = _checked(recording, robot, options, out)
    model, offset = with_friction(robot.model, friction)
    motion = motion.later(delay) if delay else motion
    valid = of_model(model, motion, offset, moving)
    out.print(measures(valid, f'{robot.source}' + (f', {friction}' if friction else '')))
    out.print(f'mean relative RMS {100 * valid.relative.mean():.2f} %')
    return valid


def identified_conditions(recording: Recording, friction: Path | None, delay: float | None,
                          options: PreparationOptions, out: Console
                          ) -> tuple[PreparationOptions, float, ModelErrors | None]:
    """Return options and delay, those that are not given as identified, and errors."""
    from ..identification.result_files import conditions_of

    found = None if friction is None else conditions_of(friction)
    if found is None:
        return options, delay or 0.0, None
    rate = 1.0 / float(np.median(np.diff(recording.time)))
    if options.cutoff is None and found.cutoff < rate / 2.0:
        options = replace(options, cutoff=found.cutoff)
    delay = found.delay if delay is None else delay
    show([f'delay of the efforts {1e3 * delay:.4g} ms, cut-off as identified'
          if options.cutoff == found.cutoff else
          f'delay of the efforts {1e3 * delay:.4g} ms'], out)
    return options, delay, found.errors


def _checked(recording: Recording, robot: CatalogRobot, options: PreparationOptions, out: Console
             ) -> Motion:
    """Return the checked motion, and print notes and issues."""
    from ..identification.options import by_kind
    from ..identification.recorded_motion import checked_motion

    motion, notes, issues = checked_motion(recording, robot.model, options)
    show([*notes[len(recording.notes):], *by_kind(issues)], out)
    return motion


def with_friction(model: RobotModel, file: Path | None) -> tuple[RobotModel, ndarray]:
    """Return the model with the friction of a file, if any, and offsets (nv,) [N·m | N]."""
    from ..model.friction_file import read_friction

    return (model, np.zeros(model.nv)) if file is None else read_friction(file, model)
