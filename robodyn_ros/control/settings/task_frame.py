# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Task of the settings: the frame that a law controls, and how far it can reach."""

import numpy as np
from numpy import ndarray

from .settings import Settings
from ..inputs.task import Task
from ..laws.law import POSE
from ...dynamics.model_data import frame_record, ModelData, no_frame
from ...dynamics.specialize import kernel_address
from ...errors import ParameterError, UnknownNameError
from ...model.robot import RobotModel


def task_of(settings: Settings, model: RobotModel, robot: ModelData) -> Task:
    """
    Return the task of the settings; of a law that follows no pose, one that is not used.

    :raises ParameterError: the law needs ``task_frame``, and the model has no such frame, or it
        does not move.
    """
    frame = no_frame()
    if settings.law_in_force.reference == POSE:
        name, known = settings.task_frame, ', '.join(
            key for key, value in model.frames.items() if value.body >= 0)
        try:
            body = model.frame(name).body if name else -1
        except UnknownNameError as error:
            raise ParameterError(f'task_frame = {name!r} is no link of {model.name}',
                                 name='task_frame', value=name,
                                 remedy=f'choose one of {known}') from error
        if body < 0:
            raise ParameterError(
                f'mode {settings.mode} needs a frame to control, and '
                + (f'{name} does not move' if name else 'task_frame is not set'),
                name='task_frame', value=name, remedy=f'choose one of {known}')
        frame = frame_record(model, robot, name)
    return Task.of(settings.task_record(), frame, model.nv)


class FrameKernel:
    """
    Compiled pose and Jacobian of ``task_frame`` of one robot, as a task has it.

    A controller makes it once, whatever the law: another one may be chosen later.
    """

    def __init__(self, settings: Settings, model: RobotModel, robot: ModelData):
        frame = model.frames.get(settings.task_frame)
        self._frame, self._code = b'', np.zeros(1, np.int64)
        if frame is not None and frame.body >= 0:
            record = frame_record(model, robot, settings.task_frame)
            self._frame = record.tobytes()
            self._code = np.array(
                [kernel_address('pose_and_jacobian', robot, {'frame': record})], np.int64)

    def given_to(self, task: Task) -> Task:
        """Return the task with the kernel, or as it is if its frame is another one."""
        return task._replace(kernel=self._code) if task.frame.tobytes() == self._frame else task


def reach(model: RobotModel, name: str) -> tuple[ndarray, float]:
    """
    Return a point of the base (3,) [m] from which the origin of a frame is never further than [m].

    It is the first joint of the chain; the distance, its stretched length, is a bound that limits
    of the joints may keep the arm far from.
    """
    frame = model.frame(name)
    length, i = float(np.linalg.norm(frame.origin)), frame.body
    while i >= 0:
        if model.body_slides[i]:
            k = model.driver[i]
            length += float(max(abs(model.ratio[i] * limit + model.shift[i]) for limit in (
                model.position_lower[k], model.position_upper[k])))
        if model.parent[i] < 0:
            return model.joint_origin[i], length
        length += float(np.linalg.norm(model.joint_origin[i]))
        i = int(model.parent[i])
    return np.zeros(3), length
