# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Messages between coupled arms, as std_msgs/Float64MultiArray.

``data`` begins with the time stamp [s] of the joint state, the index of the role (leader,
follower) and the status (``layout.data_offset`` is 3), followed by the rows of
:data:`..control.partner.QUANTITIES`. ``layout.dim`` has the rows, labelled with these names, and
the columns, labelled with the names that the leader has for the joints, separated by commas.
"""

import numpy as np
from std_msgs.msg import Float64MultiArray, MultiArrayDimension

from ...control.inputs.partner import ALIGNED, AWAY, COUPLING_ROLE, CouplingState, QUANTITIES
from ...errors import ArgumentError

LABEL = ','.join(QUANTITIES)
HEADER_NUMBERS = 3    # before the rows


def coupling_message(state: CouplingState, stamp: float) -> Float64MultiArray:
    """Return the message of a state; ``stamp`` is its ROS time [s]."""
    rows, columns = state.rows.shape
    message = Float64MultiArray(data=[stamp, float(COUPLING_ROLE.index(state.role)),
                                      float(state.status), *state.rows.ravel()])
    message.layout.data_offset = HEADER_NUMBERS
    message.layout.dim = [
        MultiArrayDimension(label=LABEL, size=rows, stride=rows * columns),
        MultiArrayDimension(label=','.join(state.joint_names), size=columns, stride=columns)]
    return message


def coupling_state(message: Float64MultiArray) -> tuple[CouplingState, float]:
    """
    Return the state and the time stamp [s] of a message.

    :raises ArgumentError: it is not a message of :func:`coupling_message`.
    """
    layout = message.layout
    sizes, labels = [d.size for d in layout.dim], [d.label for d in layout.dim]
    names = tuple(labels[-1].split(',')) if labels else ()
    if (layout.data_offset != HEADER_NUMBERS or labels[:-1] != [LABEL]
            or sizes != [len(QUANTITIES), len(names)]
            or len(message.data) != HEADER_NUMBERS + sizes[0] * sizes[1]):
        raise ArgumentError(f'the message has data_offset {layout.data_offset}, size {sizes} and '
                            f'{len(message.data)} numbers', name='layout',
                            remedy='remap ~/partner to ~/coupling of the other controller')
    data = np.array(message.data, float)
    role, status = data[1:HEADER_NUMBERS]
    if role not in (0.0, 1.0) or status not in range(AWAY, ALIGNED + 1):
        raise ArgumentError(f'role {role:g} and status {status:g} have no meaning', name='status',
                            value=float(status), remedy='use the same version of this package on '
                            'both sides')
    return CouplingState(COUPLING_ROLE[int(role)], int(status), names,
                         data[HEADER_NUMBERS:].reshape(sizes)), float(data[0])
