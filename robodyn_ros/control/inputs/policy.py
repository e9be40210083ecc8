# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Feedback policy of a slower planner: an effort, a state, and the feedback gain about that state.

A planner such as model predictive control solves for all three at 10 to 100 Hz; the control cycle
evaluates τ = u + K (x̂ - x) with the newest state x at its own rate (Dantec, Taïx and Mansard,
"First order approximation of model predictive control solutions for high frequency feedback",
IEEE Robotics and Automation Letters 7(2), 2022, equation 7).
"""

from typing import NamedTuple

import numpy as np
from numpy import ndarray

from ...errors import ArgumentError
from ...model.robot import RobotModel

HEADER = np.dtype([('time', float), ('serial', np.int64)])
# Highest position gain, in effort limits per rad or m, and velocity gain, in effort limits per
# velocity limit: not what is stable, but what no planner means
MAX_POLICY_GAIN = 1e4


class Policy(NamedTuple):
    """
    Policy of one moment.

    ``header`` (1,) ``HEADER``: time [s] on the clock of the cycle of the state that it was planned
    from, and a serial number that is new for each policy, 0 for none; ``effort`` (nv,) u
    [N·m | N], with g(q); ``position`` and ``velocity`` (nv,) x̂ [rad | m, per s]; ``gain``
    (nv, 2 nv) K, of the position error and of the velocity error.
    """

    header: ndarray
    effort: ndarray
    position: ndarray
    velocity: ndarray
    gain: ndarray

    @classmethod
    def none(cls, nv: int) -> 'Policy':
        """Return the policy before the first one comes, which is never fresh."""
        header = np.zeros(1, HEADER)
        header['time'] = -np.inf
        return cls(header, np.zeros(nv), np.zeros(nv), np.zeros(nv), np.zeros((nv, 2 * nv)))


def checked(model: RobotModel, limits: ndarray, effort: ndarray, position: ndarray,
            velocity: ndarray, gain: ndarray, time: float, serial: int) -> Policy:
    """
    Return a policy of its own arrays.

    :param limits: (nv,) ``JOINT``.
    :raises ArgumentError: a shape is wrong, a number is not finite, an effort is above the effort
        limit, or a gain above MAX_POLICY_GAIN; it names the joint.
    """
    n = model.nv
    given = {'effort': (effort, (n,)), 'position': (position, (n,)), 'velocity': (velocity, (n,)),
             'gain': (gain, (n, 2 * n))}
    arrays = {name: np.array(array, float, order='C')
              for name, (array, _) in given.items()}
    for name, (_, shape) in given.items():
        if arrays[name].shape != shape:
            raise ArgumentError(f'{name} of the policy has shape {arrays[name].shape}', name=name,
                                remedy=f'give {shape}')
        if not (good := np.isfinite(arrays[name]).reshape(n, -1).all(1)).all():
            joint = model.joint_names[int(np.argmin(good))]
            raise ArgumentError(f'{name} of the policy is not finite for {joint}', name=name,
                                remedy='give finite numbers')
    if not np.isfinite(time):
        raise ArgumentError('the time of the policy is not finite', name='time', value=time,
                            remedy='give the time of the state that it was planned from')
    most = limits['effort_limit']
    if (above := np.abs(arrays['effort']) > most).any():
        i = int(np.argmax(above))
        raise ArgumentError(
            f'the policy asks for {arrays["effort"][i]:.6g} at {model.joint_names[i]}, whose '
            f'effort limit is {most[i]:.6g}', name='effort', value=float(arrays['effort'][i]),
            remedy='plan within the effort limits')
    speed = np.where(np.isfinite(limits['velocity_limit']), limits['velocity_limit'], 1.0)
    scale = np.concatenate([np.ones(n), speed])
    if (above := np.abs(arrays['gain']) * scale > MAX_POLICY_GAIN * most[:, None]).any():
        i = int(np.argwhere(above)[0, 0])
        raise ArgumentError(f'a gain of the policy of {model.joint_names[i]} is above '
                            f'{MAX_POLICY_GAIN:g} effort limits per rad or m', name='gain',
                            remedy='give lower gains')
    header = np.zeros(1, HEADER)
    header[0] = time, serial
    return Policy(header, **arrays)
