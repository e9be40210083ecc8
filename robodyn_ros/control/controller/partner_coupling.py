# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Methods of :class:`~.controller.Controller` that concern the partner of a coupled arm."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from .controller_status import ControllerStatus
from ..inputs.partner import (
    ALIGNED,
    AWAY,
    check_continues,
    check_coupling,
    checked,
    COUPLED,
    CouplingState,
    DAMPING,
    HEADER,
    LastingGains,
    Partner,
    POSITION,
    STIFFNESS,
    VELOCITY,
    WAITING,
)
from ..inputs.velocity_check import VelocityCheck
from ..laws import registry
from ..laws.law import PARTNER
from ..settings.coupled_joints import joint_map
from ..steps import guard
from ...errors import ArgumentError


class PartnerCoupling(ControllerStatus):
    """State that two controllers in the mode ``leader_follower`` exchange."""

    changed: Callable[[], None]
    _law_memory: ndarray
    _partner: Partner
    _partner_velocity: VelocityCheck
    _partner_gains: LastingGains

    @property
    def couples(self) -> bool:
        """Whether the law in force is one that couples the arm to a partner."""
        return self.settings.law_in_force.reference == PARTNER

    @property
    def coupling_energy(self) -> ndarray:
        """
        Energy (nv,) [J] that each joint has given to the coupling since it began.

        The sum over both arms is the energy that the coupling stores and dissipates: it is passive
        as long as the sum is not negative.
        """
        law = self._coupling_law()
        kept: Any = registry.memory_fields(law, self._law_memory)
        return np.array(kept.energy)

    def coupling_state(self) -> CouplingState:
        """
        Return the state for the partner, after the last step.

        :raises ArgumentError: the law in force couples no arms.
        """
        law, joints = self._coupling_law(), joint_map(self.model, self.settings)
        (q, qd), status, n = self.joint_state, self._coupling_status(), self.model.nv
        kept: Any = registry.memory_fields(law, self._law_memory)
        coupled = status >= COUPLED
        rows = np.array([q + kept.deviation if coupled else q,
                         kept.velocity if coupled else qd,
                         self.settings.gain_of(self.model, 'stiffness'),
                         self.settings.gain_of(self.model, 'damping'),
                         kept.energy if coupled else np.zeros(n)])
        return CouplingState(self.settings.coupling_role, status, joints.names,
                             joints.to_leader(rows))

    def follow_partner(self, state: CouplingState, time: float) -> None:
        """
        Update the state of the partner.

        :param time: of its state [s], on the clock of :meth:`step`.
        :raises ArgumentError: the law in force couples no arms, or see :func:`.partner.checked`
            and :func:`.partner.check_continues`; the previous state stays in force, until it is
            older than ``coupling_timeout``.
        """
        self._coupling_law()
        role = self.settings.coupling_role
        rows = checked(joint_map(self.model, self.settings), role, self.model.nv, state)
        old = self._partner
        # After a jump back of time, the previous state is of the future
        if not np.isfinite(time) or time < min(old.header['time'][0], self.memory['time'][0]):
            raise ArgumentError('the state of the partner is older than the previous one',
                                name='time', value=time, remedy='send the states in order')
        stiffness, damping = (np.minimum(rows[k], self.settings.gain_of(self.model, name))
                              for k, name in ((STIFFNESS, 'stiffness'), (DAMPING, 'damping')))
        check_coupling(self.model.joint_names, stiffness, damping,
                       self.settings.gain_of(self.model, 'coupling_delay'))
        if self.memory['coupled'][0]:
            check_continues(self.model, old, rows, time)
            self._partner_velocity.check(
                self.model.joint_names, rows[POSITION], rows[VELOCITY], time,
                0.5 * damping / self._records.joints['effort_limit'])
            self._partner_gains.keep(old.rows, rows, time)
        header = np.zeros(1, HEADER)
        header[0] = time, old.header['serial'][0] + 1, state.status, role == 'follower'
        self._partner = Partner(header, rows)
        self.changed()

    def _coupling_law(self) -> Any:
        """Return the law in force, if it couples arms."""
        if not self.couples:
            raise ArgumentError(f'{self.settings.mode} couples no arms', name='mode',
                                value=self.settings.mode, remedy='set mode to leader_follower')
        return self.settings.law_in_force

    def _coupling_status(self) -> int:
        """Return AWAY, WAITING, COUPLED or ALIGNED."""
        m: Any = self.memory[0]
        if m['phase'] != guard.RUNNING or registry.by_number(int(m['mode'])).reference != PARTNER:
            return AWAY
        kept: Any = registry.memory_fields(self.settings.law_in_force, self._law_memory)
        if not m['coupled'] or not (coupled := kept.coupled > 0.0).any():
            return WAITING
        return ALIGNED if not kept.deviation[coupled].any() and not kept.hold[
            coupled].any() and (kept.share[coupled] == 1.0).all() else COUPLED
