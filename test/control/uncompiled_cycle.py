# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The control cycle in plain Python: slow, and the same; it stands in for control/compile.py."""

import sys
from types import ModuleType

import numpy as np

from robodyn_ros.control.cycle import CycleInputs, recorded_cycle

code = __name__


def compiled() -> ModuleType:
    """Return the module whose ``cycle`` is the control cycle."""
    return sys.modules[__name__]


def cycle(inputs, now, tau):
    """Do what the compiled cycle does."""
    return recorded_cycle(fields_readable(inputs), now, tau)


def fields_readable(inputs: CycleInputs) -> CycleInputs:
    """Return the inputs with fields that Python reads as compiled code does, and no kernels."""
    def fields(records):
        return records.view(np.recarray)
    robot, work, points, ring = inputs.robot, inputs.workspace, inputs.points, inputs.ring
    return inputs._replace(
        robot=robot._replace(bodies=fields(robot.bodies),
                             addresses=np.zeros_like(robot.addresses)),
        workspace=work._replace(bodies=fields(work.bodies), joints=fields(work.joints)),
        points=points._replace(header=fields(points.header)),
        ring=ring._replace(cycles=fields(ring.cycles)),
        **{name: fields(getattr(inputs, name)) for name in (
            'joints', 'settings', 'cycle_input', 'state', 'controller_state')})
