# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Control cycle in plain Python, in which a debugger can stop: slow, and the same."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy import ndarray

from .cycle import CycleInputs
from .plain_records import Records
from .recorded_cycle import recorded_cycle


def prepared(inputs: CycleInputs) -> Callable[[float, ndarray], bool]:
    """
    Return a function of ``now`` and ``tau``.

    It does what the compiled :func:`.recorded_cycle.recorded_cycle` does.
    """
    return partial(recorded_cycle, fields_readable(inputs))


def fields_readable(inputs: CycleInputs) -> CycleInputs:
    """Return the inputs with fields that Python reads as compiled code does, and no kernels."""
    fields: Any = Records
    robot, work, points, ring = inputs.robot, inputs.workspace, inputs.points, inputs.ring
    payload, loaded, task = inputs.payload, inputs.payload.robot, inputs.task
    return inputs._replace(
        robot=robot._replace(bodies=fields(robot.bodies),
                             addresses=np.zeros_like(robot.addresses)),
        payload=payload._replace(bodies=fields(payload.bodies), robot=loaded._replace(
            bodies=fields(loaded.bodies))),
        workspace=work._replace(bodies=fields(work.bodies), joints=fields(work.joints)),
        points=points._replace(header=fields(points.header)),
        task=task._replace(settings=fields(task.settings), frame=fields(task.frame),
                           kernel=np.zeros_like(task.kernel)),
        bounds=inputs.bounds._replace(tool=fields(inputs.bounds.tool),
                                      points=fields(inputs.bounds.points)),
        poses=inputs.poses._replace(header=fields(inputs.poses.header)),
        partner=inputs.partner._replace(header=fields(inputs.partner.header)),
        policy=inputs.policy._replace(header=fields(inputs.policy.header)),
        ring=ring._replace(cycles=fields(ring.cycles), state=fields(ring.state),
                           memory=fields(ring.memory)),
        law=inputs.law._replace(shown_joints=fields(inputs.law.shown_joints)),
        joints=fields(inputs.joints), settings=fields(inputs.settings),
        cycle_input=fields(inputs.cycle_input), state=fields(inputs.state),
        controller_state=fields(inputs.controller_state))
