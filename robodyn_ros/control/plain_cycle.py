# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Control cycle in plain Python, in which a debugger can stop: slow, and the same."""

from typing import Any

import numpy as np
from numpy import ndarray

from .cycle import CycleInputs
from .recorded_cycle import recorded_cycle


def cycle(inputs: CycleInputs, now: float, tau: ndarray) -> bool:
    """Do what the compiled :func:`.recorded_cycle.recorded_cycle` does."""
    return recorded_cycle(fields_readable(inputs), now, tau)


def fields_readable(inputs: CycleInputs) -> CycleInputs:
    """Return the inputs with fields that Python reads as compiled code does, and no kernels."""
    def fields(records: ndarray) -> Any:
        return records.view(np.recarray)
    robot, work, points, ring = inputs.robot, inputs.workspace, inputs.points, inputs.ring
    payload, loaded, task = inputs.payload, inputs.payload.robot, inputs.task
    return inputs._replace(
        robot=robot._replace(bodies=fields(robot.bodies),
                             addresses=np.zeros_like(robot.addresses)),
        payload=payload._replace(bodies=fields(payload.bodies), robot=loaded._replace(
            bodies=fields(loaded.bodies))),
        workspace=work._replace(bodies=fields(work.bodies), joints=fields(work.joints)),
        points=points._replace(header=fields(points.header)),
        task=task._replace(settings=fields(task.settings), frame=fields(task.frame)),
        poses=inputs.poses._replace(header=fields(inputs.poses.header)),
        policy=inputs.policy._replace(header=fields(inputs.policy.header)),
        ring=ring._replace(cycles=fields(ring.cycles)),
        joints=fields(inputs.joints), settings=fields(inputs.settings),
        cycle_input=fields(inputs.cycle_input), state=fields(inputs.state),
        controller_state=fields(inputs.controller_state))
