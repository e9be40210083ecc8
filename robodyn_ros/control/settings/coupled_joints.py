# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Joints that are coupled to those of a partner, from the settings."""

import numpy as np

from .settings import Settings
from ..inputs.partner import JointMap
from ...errors import ParameterError
from ...model.robot import RobotModel


def joint_map(model: RobotModel, settings: Settings) -> JointMap:
    """
    Return the joints that are coupled.

    :raises ParameterError: a leader has a map, names are too many or too few or twice the same, a
        scale is 0.
    """
    n = model.nv
    given = [name for name in ('coupling_joints', 'coupling_scale', 'coupling_offset')
             if getattr(settings, name)]
    if settings.coupling_role == 'leader':
        if given:
            raise ParameterError(f'{given[0]} is set on the leader', name=given[0],
                                 value=getattr(settings, given[0]),
                                 remedy='set it on the follower, whose joints are mapped to those '
                                 'of the leader')
        return JointMap(np.arange(n), tuple(model.joint_names), np.ones(n), np.zeros(n))
    names = ([name.strip() for name in settings.coupling_joints.split(',')]
             if settings.coupling_joints else [*model.joint_names])
    coupled = [name for name in names if name]
    if len(names) != n or len({*coupled}) < len(coupled) or not coupled:
        raise ParameterError(f'coupling_joints = {settings.coupling_joints!r} is refused',
                             name='coupling_joints', value=settings.coupling_joints,
                             remedy=f'give {n} different names, separated by commas: for each of '
                             f'{", ".join(model.joint_names)} the joint of the leader that it '
                             'follows, or nothing')
    scale = (settings.per_joint(model, 'coupling_scale') if settings.coupling_scale
             else np.ones(n))
    offset = (settings.per_joint(model, 'coupling_offset') if settings.coupling_offset
              else np.zeros(n))
    joints = np.array([i for i, name in enumerate(names) if name])
    if not (abs(scale[joints]) >= 1e-3).all():
        raise ParameterError('a joint of coupling_scale 0 follows nothing', name='coupling_scale',
                             value=scale.tolist(), remedy='give at least 0.001, or no name in '
                             'coupling_joints for this joint')
    return JointMap(joints, tuple(coupled), scale[joints], offset[joints])
