# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Policy of a planner that a controller applies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy import ndarray

from ..inputs.policy import checked, Policy
from ..inputs.velocity_check import VelocityCheck
from ..laws.law import POLICY
from ...errors import ArgumentError

if TYPE_CHECKING:
    from .controller import Controller


class PolicyReference:
    """The policy that a controller applies in the mode ``feedback_policy``."""

    def __init__(self, controller: Controller):
        self._controller = controller
        self.begin()

    def begin(self) -> None:
        """Forget the policy."""
        #: The newest policy; serial 0 before the first one.
        self.newest = Policy.none(self._controller.model.nv)
        self._velocity = VelocityCheck(jumps=True)

    def follow(self, time: float, effort: ndarray, position: ndarray, velocity: ndarray,
               gain: ndarray) -> None:
        """
        Put the policy of a planner in force, for the mode ``feedback_policy``.

        :param time: of the state that it was planned from [s], on the clock of :meth:`step`.
        :param effort: (nv,) u [N·m | N], with g(q).
        :param position, velocity: (nv,) x̂ [rad | m, per s].
        :param gain: (nv, 2 nv) K.
        :raises ArgumentError: the law in force uses no policy, or see :func:`.policy.checked` and
            :class:`.VelocityCheck`; the previous policy stays in force.
        """
        c = self._controller
        if c.settings.law_in_force.reference != POLICY:
            raise ArgumentError(f'{c.settings.mode} uses no policy', name='mode',
                                value=c.settings.mode, remedy='set mode to feedback_policy')
        serial = int(self.newest.header['serial'][0]) + 1
        new = checked(c.model, c.records.joints, effort, position, velocity, gain, time,
                      serial)
        # After a jump back of time, the policy in force is of the future
        newest = min(self.newest.header['time'][0], c.memory['time'][0])
        if new.header['time'][0] < newest:
            raise ArgumentError('the policy is older than the one in force', name='time',
                                value=time, remedy='send policies in order')
        self._velocity.check(
            c.model.joint_names, new.position, new.velocity, time,
            (np.abs(new.gain[:, c.model.nv:])
             / c.records.joints['effort_limit'][:, None]).max(0))
        c.history.add(new)
        self.newest = new
        c.changed()
