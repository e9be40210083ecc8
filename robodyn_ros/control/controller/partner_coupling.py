# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Partner of a controller that couples two arms."""

from __future__ import annotations

from typing import Any, TYPE_CHECKING

import numpy as np
from numpy import ndarray

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

if TYPE_CHECKING:
    from .controller import Controller


class PartnerReference:
    """The state of the partner of an arm in the mode ``leader_follower``."""

    def __init__(self, controller: Controller, law_memory: ndarray):
        self._controller, self._law_memory = controller, law_memory
        self.begin()

    def begin(self) -> None:
        """Forget the partner."""
        self.newest = Partner.none(self._controller.model.nv)
        self._velocity, self._gains = VelocityCheck(jumps=False), LastingGains()

    def energy(self) -> ndarray:
        """
        Return the energy (nv,) [J] that each joint has given to the coupling since it began.

        The sum over both arms is the energy that the coupling stores and dissipates: it is passive
        as long as the sum is not negative.
        """
        kept: Any = registry.memory_fields(self._law(), self._law_memory)
        return np.array(kept.energy)

    def state(self) -> CouplingState:
        """
        Return the state for the partner, after the last step.

        :raises ArgumentError: the law in force couples no arms.
        """
        c, law = self._controller, self._law()
        joints, (q, qd) = joint_map(c.model, c.settings), c.joint_state
        status, n = self._status(), c.model.nv
        kept: Any = registry.memory_fields(law, self._law_memory)
        coupled = status >= COUPLED
        rows = np.array([q + kept.deviation if coupled else q,
                         kept.velocity if coupled else qd,
                         c.settings.gain_of(c.model, 'stiffness'),
                         c.settings.gain_of(c.model, 'damping'),
                         kept.energy if coupled else np.zeros(n)])
        return CouplingState(c.settings.coupling_role, status, joints.names,
                             joints.to_leader(rows))

    def follow(self, state: CouplingState, time: float) -> None:
        """
        Update the state of the partner.

        :param time: of its state [s], on the clock of :meth:`step`.
        :raises ArgumentError: the law in force couples no arms, or see :func:`.partner.checked`
            and :func:`.partner.check_continues`; the previous state stays in force, until it is
            older than ``coupling_timeout``.
        """
        self._law()
        c = self._controller
        role = c.settings.coupling_role
        rows = checked(joint_map(c.model, c.settings), role, c.model.nv, state)
        old = self.newest
        # After a jump back of time, the previous state is of the future
        if not np.isfinite(time) or time < min(old.header['time'][0], c.memory['time'][0]):
            raise ArgumentError('the state of the partner is older than the previous one',
                                name='time', value=time, remedy='send the states in order')
        stiffness, damping = (np.minimum(rows[k], c.settings.gain_of(c.model, name))
                              for k, name in ((STIFFNESS, 'stiffness'), (DAMPING, 'damping')))
        check_coupling(c.model.joint_names, stiffness, damping,
                       c.settings.gain_of(c.model, 'coupling_delay'))
        if c.memory['coupled'][0]:
            check_continues(c.model, old, rows, time)
            self._velocity.check(c.model.joint_names, rows[POSITION], rows[VELOCITY], time,
                                 0.5 * damping / c.records.joints['effort_limit'])
            self._gains.keep(old.rows, rows, time)
        header = np.zeros(1, HEADER)
        header[0] = time, old.header['serial'][0] + 1, state.status, role == 'follower'
        self.newest = Partner(header, rows)
        c.changed()

    def _law(self) -> Any:
        """Return the law in force, if it couples arms."""
        settings = self._controller.settings
        if settings.law_in_force.reference != PARTNER:
            raise ArgumentError(f'{settings.mode} couples no arms', name='mode',
                                value=settings.mode, remedy='set mode to leader_follower')
        return settings.law_in_force

    def _status(self) -> int:
        """Return AWAY, WAITING, COUPLED or ALIGNED."""
        m: Any = self._controller.memory[0]
        if m['phase'] != guard.RUNNING or registry.by_number(int(m['mode'])).reference != PARTNER:
            return AWAY
        kept: Any = registry.memory_fields(self._law(), self._law_memory)
        if not m['coupled'] or not (coupled := kept.coupled > 0.0).any():
            return WAITING
        return ALIGNED if not kept.deviation[coupled].any() and not kept.hold[
            coupled].any() and (kept.share[coupled] == 1.0).all() else COUPLED
