# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Serialized trajectories of any size, made by numpy: a million message objects take minutes."""

import struct

import numpy as np
from robodyn_ros.wire.cdr import Writer


def head(names, number, stamp, frame_id):
    """Everything before the waypoints."""
    out = Writer()
    out.buffer += struct.pack('<iI', *stamp)
    out.string(frame_id)
    out.pack('I', len(names))
    for name in names:
        out.string(name)
    out.pack('I', number)
    return bytes(out.buffer)


def trajectory_bytes(names, times, *fields, stamp=(0, 0)):
    """
    Bytes of a JointTrajectory message.

    :param times: (W,) [s].
    :param fields: positions (W, n), then velocities and so on, as many as there shall be.
    :param stamp: seconds and nanoseconds.
    """
    # Here the first waypoint is padded as the others are: a frame id brings it to their alignment
    odd = len(fields) % 2
    begin = next(b for b in (head(names, len(times), stamp, frame) for frame in ('', 'base'))
                 if len(b) % 8 == (0 if odd else 4))
    row = []
    for k in range(len(fields)):
        row.append((f'size{k}', '<u4', (1 if odd and k == 0 else 2,)))      # and padding
        row.append((f'field{k}', '<f8', (len(names),)))
    points = np.zeros(len(times), [*row, ('empty', '<u4', (4 - len(fields),)), ('sec', '<i4'),
                                   ('nanosec', '<u4')])
    for k, field in enumerate(fields):
        points[f'size{k}'][:, 0], points[f'field{k}'] = len(names), field
    points['sec'] = np.floor(times)
    points['nanosec'] = np.round(1e9 * (np.asarray(times) - points['sec']))
    return begin + points.tobytes()
