# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Partner and policy of a controller, with the checks of what they send.

Positions of both are compared with what came before, velocities act through damping: their noise
would become an oscillating effort.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TYPE_CHECKING

import numpy as np
from numpy import ndarray

from ..inputs.partner import (
    ALIGNED, AWAY, check_continues, check_coupling, checked, checked_policy, COUPLED,
    CouplingState, DAMPING, HEADER, JointMap, LastingGains, Partner, Policy, POSITION, STIFFNESS,
    VELOCITY, WAITING)
from ..laws import registry
from ..laws.law import PARTNER, POLICY
from ..settings.settings import Settings
from ..steps import guard
from ...errors import ArgumentError, ParameterError
from ...model.robot import RobotModel

if TYPE_CHECKING:
    from .controller import Controller

MAX_ERROR = 3.0    # MAX_EXCESS, of one message: a single one is not enough
RISE_TIME, FALL_TIME = 0.02, 0.2    # s, of the mean
MAX_INTERVAL = 0.1    # s between two messages of one motion
MAX_EXCESS = 0.03    # effort limits; from 0.05 on a reversal is one of guard.EFFORT_OSCILLATES


class VelocityCheck:
    """
    Mean error of velocities, joint by joint.

    It is their difference from what the positions show between two messages, and from a steady
    change over three.

    :param jumps: whether positions may jump, as those of plans do: then velocities may be smaller.
    """

    def __init__(self, *, jumps: bool):
        self._jumps, self._time = jumps, -np.inf
        self._seen = self._excess = np.zeros(0)

    def check(self, joint_names: Sequence[str], position: ndarray, velocity: ndarray,
              time: float, damping: ndarray) -> None:
        """
        Refuse a message if the velocities of the recent ones contradict their positions.

        :param position, velocity: (nv,) [rad | m, per s] of ``time`` [s].
        :param damping: (nv,) effort limits that a unit of velocity causes.
        :raises ArgumentError: they do, by more than MAX_EXCESS; it names the joint.
        """
        elapsed, seen = time - self._time, self._seen
        known = 0.0 < elapsed <= MAX_INTERVAL and len(seen) > 0
        self._time = time
        self._seen = np.array([position, velocity, seen[1] if known else velocity])
        if not known:
            self._excess = np.zeros(len(velocity))
            return
        mean, shown = 0.5 * (seen[1] + velocity), (position - seen[0]) / elapsed
        if self._jumps:
            shown = np.clip(mean, np.minimum(shown, 0.0), np.maximum(shown, 0.0))
        error = np.maximum(abs(mean - shown), 0.25 * abs(velocity - 2.0 * seen[1] + seen[2]))
        change = np.minimum(damping * error, MAX_ERROR * MAX_EXCESS) - self._excess
        self._excess += change * (1.0 - np.exp(-elapsed / np.where(change > 0.0, RISE_TIME,
                                                                   FALL_TIME)))
        i = int(self._excess.argmax())
        if self._excess[i] > MAX_EXCESS:
            raise ArgumentError(
                f'velocity {velocity[i]:.3g} of {joint_names[i]} contradicts the positions',
                name=joint_names[i], value=float(velocity[i]), remedy='send the velocity of the '
                'positions, without noise; what came before stays in force, until it is too old')


class PartnerReference:
    """The state of the partner of an arm in the mode ``leader_follower``."""

    def __init__(self, controller: Controller, law_memory: ndarray):
        self._controller, self._law_memory = controller, law_memory
        self.begin()

    def begin(self) -> None:
        """Forget the partner."""
        self.newest = Partner.none(self._controller.model.nv)
        self._velocity, self._gains = VelocityCheck(jumps=False), LastingGains()
        self._turns = np.zeros(self._controller.model.nv)       # from the leader [rad]

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
        rows = np.array([q + kept.deviation - self._turns if coupled else q,
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
        old, follows = self.newest, role == 'follower'
        # After a jump back of time, the previous state is of the future
        if not np.isfinite(time) or time < min(old.header['time'][0], c.memory['time'][0]):
            raise ArgumentError('the state of the partner is older than the previous one',
                                name='time', value=time, remedy='send the states in order')
        stiffness, damping = (np.minimum(rows[k], c.settings.gain_of(c.model, name))
                              for k, name in ((STIFFNESS, 'stiffness'), (DAMPING, 'damping')))
        check_coupling(c.model.joint_names, stiffness, damping,
                       c.settings.gain_of(c.model, 'coupling_delay'))
        if follows and not c.memory['coupled'][0]:      # continuous joints align the shortest way
            self._turns = c.model.nearest_turn(rows[POSITION], c.joint_state[0]) - rows[POSITION]
        rows[POSITION] += self._turns
        if c.memory['coupled'][0]:
            check_continues(c.model, old, rows, time)
            self._velocity.check(c.model.joint_names, rows[POSITION], rows[VELOCITY], time,
                                 0.5 * damping / c.records.joints['effort_limit'])
            self._gains.keep(old.rows, rows, time)
        header = np.zeros(1, HEADER)
        header[0] = time, old.header['serial'][0] + 1, state.status, follows
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
        :raises ArgumentError: the law in force uses no policy, or see :func:`.checked_policy` and
            :class:`.VelocityCheck`; the previous policy stays in force.
        """
        c = self._controller
        if c.settings.law_in_force.reference != POLICY:
            raise ArgumentError(f'{c.settings.mode} uses no policy', name='mode',
                                value=c.settings.mode, remedy='set mode to feedback_policy')
        serial = int(self.newest.header['serial'][0]) + 1
        new = checked_policy(c.model, c.records.joints, effort, position, velocity, gain, time,
                             serial)
        # After a jump back of time, the policy in force is of the future
        newest = min(self.newest.header['time'][0], c.memory['time'][0])
        if new.header['time'][0] < newest:
            raise ArgumentError('the policy is older than the one in force', name='time',
                                value=time, remedy='send policies in order')
        new.position[:] = c.model.nearest_turn(new.position, c.joint_state[0])
        self._velocity.check(
            c.model.joint_names, new.position, new.velocity, time,
            (np.abs(new.gain[:, c.model.nv:])
             / c.records.joints['effort_limit'][:, None]).max(0))
        c.history.add(new)
        self.newest = new
        c.changed()


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
                             remedy=f'use {n} different names, separated by commas: for each of '
                             f'{", ".join(model.joint_names)} the joint of the leader that it '
                             'follows, or nothing')
    scale = (settings.per_joint(model, 'coupling_scale') if settings.coupling_scale
             else np.ones(n))
    offset = (settings.per_joint(model, 'coupling_offset') if settings.coupling_offset
              else np.zeros(n))
    joints = np.array([i for i, name in enumerate(names) if name])
    if not (abs(scale[joints]) >= 1e-3).all():
        raise ParameterError('a joint of coupling_scale 0 follows nothing', name='coupling_scale',
                             value=scale.tolist(), remedy='use at least 0.001, or no name in '
                             'coupling_joints for this joint')
    return JointMap(joints, tuple(coupled), scale[joints], offset[joints])
