# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Feedback policies as std_msgs/Float64MultiArray, for planners and for the controller.

``data`` begins with the time stamp [s] of the state that the policy was planned from
(``layout.data_offset`` is 1), followed by one row a joint: effort u with g(q), position and
velocity x̂, and the row of the gain K, of the position errors of all joints and then of their
velocity errors. ``layout.dim`` has the rows, labelled with the joint names separated by commas,
and the 3 + 2 nv columns.
"""

from collections.abc import Sequence

import numpy as np
from numpy import ndarray
from std_msgs.msg import Float64MultiArray, MultiArrayDimension

from ...errors import ArgumentError


def policy_message(joint_names: Sequence[str], stamp: float, effort: ndarray, position: ndarray,
                   velocity: ndarray, gain: ndarray) -> Float64MultiArray:
    """
    Return the message of a policy, τ = u + K (x̂ - x).

    :param joint_names: all joints of the model, in its order.
    :param stamp: time of the state that it was planned from [s], ROS time.
    :param effort: (nv,) u [N·m | N], with g(q); ``position``, ``velocity`` (nv,) x̂.
    :param gain: (nv, 2 nv) K.
    """
    rows = np.column_stack([effort, position, velocity, gain])
    message = Float64MultiArray(data=[stamp, *rows.ravel()])
    message.layout.data_offset = 1
    message.layout.dim = [
        MultiArrayDimension(label=','.join(joint_names), size=rows.shape[0], stride=rows.size),
        MultiArrayDimension(label='effort,position,velocity,gain', size=rows.shape[1],
                            stride=rows.shape[1])]
    return message


def policy_rows(message: Float64MultiArray, joint_names: Sequence[str]) -> tuple[float, ndarray]:
    """
    Return the time stamp [s] and the rows (nv, 3 + 2 nv) of a message.

    :param joint_names: of the model, in its order.
    :raises ArgumentError: it is not a message of :func:`policy_message` for these joints.
    """
    n, layout = len(joint_names), message.layout
    columns = 3 + 2 * n
    if layout.data_offset != 1 or [d.size for d in layout.dim] != [n, columns]:
        sizes = [d.size for d in layout.dim]
        raise ArgumentError(f'the policy has data_offset {layout.data_offset} and size {sizes}',
                            name='layout', remedy=f'give data_offset 1 and size {[n, columns]}')
    if layout.dim[0].label != ','.join(joint_names):
        raise ArgumentError(f'the rows of the policy are {layout.dim[0].label[:200]!r}',
                            name='layout', remedy=f'give {",".join(joint_names)!r}')
    if len(message.data) != 1 + n * columns:
        raise ArgumentError(f'the policy has {len(message.data)} numbers', name='data',
                            remedy=f'give {1 + n * columns}')
    data = np.array(message.data, float)
    return float(data[0]), data[1:].reshape(n, columns)
