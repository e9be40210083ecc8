# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Control cycle in plain Python, in which a debugger can stop: slow, and the same."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy import ndarray

from .plain_records import Records
from .recorded_cycle import recorded_cycle
from ..steps.cycle_data import Cycle


def prepared(c: Cycle) -> Callable[[float, ndarray], bool]:
    """
    Return a function of ``now`` and ``tau``.

    It does what the compiled :func:`.recorded_cycle.recorded_cycle` does.
    """
    return partial(recorded_cycle, fields_readable(c))


def fields_readable(c: Cycle) -> Cycle:
    """Return the data with fields that Python reads as compiled code does, and no kernels."""
    fields: Any = Records
    robot, work, points, ring = c.robot, c.workspace, c.points, c.ring
    payload, loaded, task = c.payload, c.payload.robot, c.task
    return c._replace(
        robot=robot._replace(bodies=fields(robot.bodies),
                             addresses=np.zeros_like(robot.addresses)),
        payload=payload._replace(bodies=fields(payload.bodies), robot=loaded._replace(
            bodies=fields(loaded.bodies))),
        workspace=work._replace(bodies=fields(work.bodies), joints=fields(work.joints)),
        points=points._replace(header=fields(points.header)),
        task=task._replace(settings=fields(task.settings), frame=fields(task.frame),
                           kernel=np.zeros_like(task.kernel)),
        bounds=c.bounds._replace(tool=fields(c.bounds.tool),
                                      points=fields(c.bounds.points)),
        poses=c.poses._replace(header=fields(c.poses.header)),
        partner=c.partner._replace(header=fields(c.partner.header)),
        policy=c.policy._replace(header=fields(c.policy.header)),
        ring=ring._replace(cycles=fields(ring.cycles), inputs=fields(ring.inputs),
                           state=fields(ring.state), memory=fields(ring.memory)),
        law=c.law._replace(shown_joints=fields(c.law.shown_joints)),
        joints=fields(c.joints), settings=fields(c.settings)[0],
        cycle_input=fields(c.cycle_input)[0], state=fields(c.state),
        controller=fields(c.controller)[0])
