# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
What other machines send in each cycle: the partner of a coupled arm, the policy of a planner.

The partner is the state that two arms of :mod:`.laws.leader_follower` exchange. All of it is in
the joints of the leader. The follower alone has the map between its joints and those of the
leader, q_f = s q_l + o, so that no two maps can contradict each other. It conserves power:
velocities are scaled by s, efforts by 1/s, stiffness and damping by 1/s².

A policy is an effort, a state, and the feedback gain about that state. A planner such as model
predictive control solves for all three at 10 to 100 Hz; the control cycle evaluates τ = u + K (x̂
- x) with the newest state x at its own rate (Dantec, Taïx and Mansard, "First order approximation
of model predictive control solutions for high frequency feedback", IEEE Robotics and Automation
Letters 7(2), 2022, equation 7).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy import ndarray, record

from ..declare import choice, number, numbers, PerJoint, SETTINGS_RECORD, text
from ...errors import ArgumentError, ParameterError
from ...model.robot import RobotModel

HEADER = np.dtype([('time', float), ('serial', np.int64), ('status', np.int64),
                   ('follows', np.int64)])
#: What a partner does: it is not in the coupling, ready for it, coupled, coupled and aligned.
AWAY, WAITING, COUPLED, ALIGNED = range(4)
#: Rows of a partner: position, velocity, stiffness, damping, energy given to the coupling.
POSITION, VELOCITY, STIFFNESS, DAMPING, ENERGY = range(5)
QUANTITIES = 'position', 'velocity', 'stiffness', 'damping', 'energy'
# rad or m, between a position and its prediction by the velocities of two messages
MAX_POSITION_JUMP = 0.1
GAIN_TIME = 0.05    # s for which other gains must last: gains that alternate shake the arms
#: Roles of a coupled arm.
COUPLING_ROLE = ('leader', 'follower')
#: Fields of the controller state.
STATE = [
    ('coupled', np.int64),          # 1: coupled to a partner
]


@dataclass(frozen=True)
class Parameters:
    """Role of an arm in leader_follower, and its joints in those of the leader."""

    coupling_role: str = choice(
        COUPLING_ROLE, 'Role in leader_follower: the follower moves to the leader at the start.',
        live=False)
    coupling_joints: str = text(
        "Follower: the leader's joint for each own joint, comma-separated. Empty: the same names.",
        live=False)
    coupling_scale: PerJoint = numbers(
        '', -100.0, 100.0, 'Follower: scale s of each joint, q = s q_leader + `coupling_offset`. '
        'Empty: 1.', live=False)
    coupling_offset: PerJoint = numbers(
        'rad or m', -1e3, 1e3, 'Follower: position of each joint where that of the leader is 0. '
        'Empty: 0.', live=False)
    coupling_timeout: float = number(
        0.1, 's', 0.001, 1.0, 'Silence of the partner that is a fault.', record=SETTINGS_RECORD)


class LastingGains:
    """Gains of a partner, which change once others have lasted for GAIN_TIME."""

    def __init__(self) -> None:
        self._offered, self._since = np.zeros(0), np.inf

    def keep(self, old: ndarray, rows: ndarray, time: float) -> None:
        """Replace gains of new rows (5, nv) of ``time`` [s] by the old ones until they last."""
        gains = rows[STIFFNESS:ENERGY]
        if not np.array_equal(gains, self._offered):
            self._offered, self._since = gains.copy(), time
        if time - self._since < GAIN_TIME:
            gains[:] = old[STIFFNESS:ENERGY]


class Partner(NamedTuple):
    """
    The partner at one moment, in the joints of the arm that reads it.

    ``header`` (1,) ``HEADER``: time [s] of its state on the clock of the cycle, a serial number, 0
    for none, its status, and 1 where the arm that reads it is the follower; ``rows`` (5, nv) in
    the order of :data:`QUANTITIES`, all 0 for a joint that is not coupled.
    """

    header: ndarray
    rows: ndarray

    @classmethod
    def none(cls, nv: int) -> 'Partner':
        """Return the partner before its first state."""
        header = np.zeros(1, HEADER)
        header['time'] = -np.inf
        return cls(header, np.zeros((len(QUANTITIES), nv)))


class CouplingState(NamedTuple):
    """
    State of an arm for its partner, in the joints of the leader.

    :param role: of the sending arm, ``'leader'`` or ``'follower'``.
    :param status: AWAY, WAITING, COUPLED or ALIGNED.
    :param joint_names: (K,) the coupled joints, by the names that the leader has for them.
    :param rows: (5, K) in the order of :data:`QUANTITIES`: position [rad | m], the follower's with
        its remaining deviation from the leader; velocity; stiffness K and damping D of the arm;
        energy [J] that it has given to the coupling.
    """

    role: str
    status: int
    joint_names: tuple[str, ...]
    rows: ndarray


class JointMap(NamedTuple):
    """Coupled joints of an arm: their indices (K,), and q = scale q_l + offset, (K,) each."""

    joints: ndarray
    names: tuple[str, ...]      # that the leader has for them
    scale: ndarray
    offset: ndarray

    def to_leader(self, rows: ndarray) -> ndarray:
        """Return rows (5, nv) of the arm as rows (5, K) in the joints of the leader."""
        position, velocity, stiffness, damping, energy = rows[:, self.joints]
        return np.array([(position - self.offset) / self.scale, velocity / self.scale,
                         self.scale**2 * stiffness, self.scale**2 * damping, energy])

    def from_leader(self, rows: ndarray, which: ndarray, nv: int) -> ndarray:
        """Return rows (5, K) in joints of the leader as rows (5, nv) of the joints ``which``."""
        scale, offset = self.scale[which], self.offset[which]
        position, velocity, stiffness, damping, energy = rows
        out = np.zeros((len(QUANTITIES), nv))
        out[:, self.joints[which]] = (scale * position + offset, scale * velocity,
                                      stiffness / scale**2, damping / scale**2, energy)
        return out


def checked(joints: JointMap, role: str, nv: int, state: CouplingState) -> ndarray:
    """
    Return the rows (5, nv) of a partner in the joints of the arm that reads it.

    :param joints: map of that arm, whose role is ``role`` and which has ``nv`` joints.
    :raises ArgumentError: both have the same role, a coupled joint is missing or unknown, a number
        is not finite, or a stiffness or a damping negative; it names the joint.
    """
    if state.role == role or state.role not in COUPLING_ROLE:
        raise ArgumentError(f'both arms are the {role}' if state.role == role else
                            f'the partner is {state.role!r}', name='coupling_role',
                            value=state.role, remedy='set coupling_role of one of them to leader, '
                            'of the other one to follower')
    names, rows = list(state.joint_names), np.array(state.rows, float)
    if rows.shape != (len(QUANTITIES), len(names)) or len({*names}) < len(names):
        raise ArgumentError(f'{len(names)} joints and numbers of shape {rows.shape}', name='rows',
                            remedy=f'use {len(QUANTITIES)} numbers per joint')
    wanted = [name for name in joints.names if name in names]
    if role == 'follower' and len(wanted) < len(joints.names):
        missing = next(name for name in joints.names if name not in names)
        raise ArgumentError(f'the leader has no joint {missing}', name=missing,
                            remedy='correct coupling_joints; the leader has '
                            f'{", ".join(names)[:200]}')
    if role == 'leader' and len(wanted) < len(names):
        unknown = next(name for name in names if name not in joints.names)
        raise ArgumentError(f'there is no joint {unknown} to be followed', name=unknown,
                            remedy='correct coupling_joints of the follower; this arm has '
                            f'{", ".join(joints.names)[:200]}')
    rows = rows[:, [names.index(name) for name in wanted]]
    bad = ~np.isfinite(rows).all(0) | (rows[STIFFNESS:ENERGY] < 0.0).any(0) | (
        rows[STIFFNESS:ENERGY] > 1e6).any(0) | (abs(rows) > 1e9).any(0)
    if bad.any():
        raise ArgumentError(f'numbers of {wanted[int(bad.argmax())]} are not finite, or no gains',
                            name=wanted[int(bad.argmax())], remedy='use what the joint has')
    return joints.from_leader(rows, np.array([joints.names.index(name) for name in wanted]), nv)


def check_continues(model: 'RobotModel', old: Partner, rows: ndarray, time: float) -> None:
    """
    Refuse a position that the velocities since the last message do not explain.

    :param rows: (5, nv) of the new message, of ``time`` [s].
    :raises ArgumentError: it is further than MAX_POSITION_JUMP from there; it names the joint.
    """
    mean = 0.5 * (old.rows[VELOCITY] + rows[VELOCITY])
    off = abs(rows[POSITION] - old.rows[POSITION] - mean * (time - float(old.header['time'][0])))
    if off.max() > MAX_POSITION_JUMP:
        i = int(off.argmax())
        raise ArgumentError(f'the partner of {model.joint_names[i]} jumps by {off[i]:.3g} rad or '
                            'm', name=model.joint_names[i], value=float(off[i]),
                            remedy='one message is left out; if it lasts the coupling ends')


def check_coupling(joint_names: Sequence[str], stiffness: ndarray, damping: ndarray,
                   delay: ndarray) -> None:
    """
    Refuse gains whose damping does not suffice for passivity with the delay, b = K T/4 <= D/2.

    :param stiffness, damping, delay: (nv,) K, D and T of :mod:`.laws.leader_follower`.
    :raises ParameterError: of the first joint where T > 2 D / K.
    """
    if (wrong := delay * stiffness > 2.0 * damping).any():
        i = int(wrong.argmax())
        raise ParameterError(
            f'with coupling_delay {delay[i]:.4g} s the stiffness {stiffness[i]:.4g} of '
            f'{joint_names[i]} needs more damping than {damping[i]:.4g}', name='coupling_delay',
            value=float(delay[i]), remedy=f'use at most {2.0 * damping[i] / stiffness[i]:.3g} s, '
            'or less stiffness')


POLICY_HEADER = np.dtype([('time', float), ('serial', np.int64)])
# Highest position gain [effort limits per rad or m] and velocity gain [effort limits per velocity
# limit]: a sanity bound, not a stability bound
MAX_POLICY_GAIN = 1e4


class Policy(NamedTuple):
    """
    Policy of one moment.

    ``header`` (1,) ``POLICY_HEADER``: time [s] on the clock of the cycle of the state that it was
    planned from, and a serial number that is new for each policy, 0 for none; ``effort`` (nv,) u
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
        """Return the policy before the first one, which is never fresh."""
        header = np.zeros(1, POLICY_HEADER)
        header['time'] = -np.inf
        return cls(header, np.zeros(nv), np.zeros(nv), np.zeros(nv), np.zeros((nv, 2 * nv)))


def checked_policy(model: RobotModel, limits: ndarray, effort: ndarray, position: ndarray,
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
                                remedy=f'use {shape}')
        if not (good := np.isfinite(arrays[name]).reshape(n, -1).all(1)).all():
            joint = model.joint_names[int(np.argmin(good))]
            raise ArgumentError(f'{name} of the policy is not finite for {joint}', name=name,
                                remedy='use finite numbers')
    if not np.isfinite(time):
        raise ArgumentError('the time of the policy is not finite', name='time', value=time,
                            remedy='use the time of the state that it was planned from')
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
                            remedy='lower the gains')
    header = np.zeros(1, POLICY_HEADER)
    header[0] = time, serial
    return Policy(header, **arrays)


def lost(s: record, m: record, header: record, now: float) -> bool:
    """
    Begin the coupling of a RUNNING arm when its partner is ready; return whether it is lost.

    The follower begins when the leader is ready, the leader when the follower has begun, which has
    then set its deviation from the leader off. From then on the partner must not be older than
    ``coupling_timeout``, nor leave the coupling: then both arms float.

    :param header: record ``HEADER`` of the partner.
    """
    if s.couples == 0:
        m.coupled = 0
        return False
    age = now - header.time
    ready = header.status >= (WAITING if header.follows == 1 else COUPLED)
    if ready and -s.coupling_timeout <= age <= s.coupling_timeout:
        m.coupled = 1
        return False
    return bool(m.coupled == 1)
