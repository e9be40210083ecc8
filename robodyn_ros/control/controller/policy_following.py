# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Method of :class:`~.controller.Controller` that concerns the policy of a planner."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy import ndarray

from .controller_status import ControllerStatus
from .history import History
from ..inputs.policy import checked, Policy
from ..inputs.velocity_check import VelocityCheck
from ..laws.law import POLICY
from ...errors import ArgumentError


class PolicyFollowing(ControllerStatus):
    """Policies of the law ``feedback_policy``."""

    history: History
    changed: Callable[[], None]
    _policy: Policy
    _policy_velocity: VelocityCheck

    def follow_policy(self, time: float, effort: ndarray, position: ndarray, velocity: ndarray,
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
        if self.settings.law_in_force.reference != POLICY:
            raise ArgumentError(f'{self.settings.mode} uses no policy', name='mode',
                                value=self.settings.mode, remedy='set mode to feedback_policy')
        serial = int(self._policy.header['serial'][0]) + 1
        new = checked(self.model, self._records.joints, effort, position, velocity, gain, time,
                      serial)
        # After a jump back of time, the policy in force is of the future
        newest = min(self._policy.header['time'][0], self.memory['time'][0])
        if new.header['time'][0] < newest:
            raise ArgumentError('the policy is older than the one in force', name='time',
                                value=time, remedy='send policies in order')
        limits = self._records.joints['effort_limit']
        self._policy_velocity.check(
            self.model.joint_names, new.position, new.velocity, time,
            (np.abs(new.gain[:, self.model.nv:]) / limits[:, None]).max(0))
        self.history.add(new)
        self._policy = new
        self.changed()
