# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Report of the motion scene."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import RenderableType

from .results import Results
from ..model.robot import RobotModel
from ..report.document import Report
from ..report.scene import moving_robot
from ..report.units import units


def page(model: RobotModel, urdf: Path, results: Results, tables: list[RenderableType],
         parameters: Mapping[str, Mapping[str, Any]]) -> Report:
    """
    Return the report of a run.

    :param urdf: file with the shapes of the robot; ``parameters`` of each node by name.
    """
    unit, effort_unit = units(model, 'm')
    report = Report(f'Demo: {model.name}', 'Free fall, gravity compensation, a push, and one '
                    'trajectory under three control laws of equal stiffness.')
    for table in tables:
        report.rich('', table)
    best = min(results.trackings, key=lambda tracking: tracking.rms)
    if scene := moving_robot(model, urdf, best.time, best.position):
        report.page(f'The motion, under {best.mode}', scene)
    report.plot('Tracking error, RMS of all joints', best.time, {
        one.mode: 1e3 * np.sqrt(np.mean(one.error**2, axis=1)) for one in results.trackings},
        'time [s]', f'[{unit}]', logarithmic=True)
    for one in results.trackings:
        for name, values, of in (('error', 1e3 * one.error, unit),
                                 ('effort', one.effort, effort_unit)):
            report.plot(f'{one.mode}: {name} of each joint', one.time,
                        dict(zip(model.joint_names, values.T)), 'time [s]', f'[{of}]')
    for node, given in parameters.items():
        report.parameters(f'Parameters of the {node}', given)
    return report
