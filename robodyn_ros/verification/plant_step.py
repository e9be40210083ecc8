# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Motion of a simulated arm during one tick: commands under way, drives, brakes, a guiding hand.

``w`` is the :class:`~.plant.WorldData`, of which ``m`` are the numbers and ``p`` the vectors
of the plant. All functions are compiled, see :func:`.plant.run`.
"""

from math import cos, sin
from typing import Any, NamedTuple

from numpy import ndarray

from ..dynamics.entry_points import forward_dynamics, friction, gravity, mass_matrix, solve

TICK = 1e-3    # s of one tick of the world
START = 100.0    # s, time when a world begins: zero would be no time on simulation time
WRECKED = 100.0    # velocity limits at which the arm is broken, and the run over
COMMANDS = 512    # commands that may be under way
HAND_BANDWIDTH = 8.0    # 1/s, of a hand
HAND_EFFORT_SHARE = 0.15    # of the effort limit: effort of a hand, at most

NUMBERS = [
    ('lag', float),                 # s, time constant of the drives; 0: none
    ('compensates', int),           # 1: the drives add g(q)
    ('steps', int),                 # integration steps in a tick
    ('blocked', int),               # index of a joint that does not move, or -1
    ('delay', float),               # s from a command to its effect
    ('silence', float),             # s without commands after which brakes engage
    ('command_time', float),        # s, of the command in effect
    ('commands', int),              # number of commands under way, and place of the first one
    ('first_command', int),
    ('speed', float),               # of the fastest joint, in velocity limits
    ('wrecked', int),
    ('at_stop', int),               # 1: a joint has reached its stop
    ('hand_since', float),          # s, since when a hand guides the arm, and until when
    ('hand_until', float)]


class PlantVectors(NamedTuple):
    """State of the arm and of its drives, (nv,) each; efforts in N·m | N."""

    q: ndarray
    qd: ndarray
    qdd: ndarray
    command: ndarray        # effort that is commanded
    actual: ndarray         # that after the lag of the drives
    applied: ndarray        # that which moves the joints
    unit: ndarray           # memory
    weight: ndarray         # g(q), where the drives add it
    gain: ndarray           # factor of the effort
    saturation: ndarray     # largest effort
    dead_zone: ndarray      # effort below which nothing acts
    stuck: ndarray          # effort that a motor keeps, NaN: none
    external: ndarray       # effort of hands, in this tick
    motor: ndarray          # factor of a faulty motor
    stop_lower: ndarray     # joint stops: positions, and their stiffness and damping
    stop_upper: ndarray
    stop_stiffness: ndarray
    stop_damping: ndarray
    velocity_limit: ndarray
    effort_limit: ndarray
    centre: ndarray         # of the motion by which a hand guides the arm: pose, amplitude, 1/s
    amplitude: ndarray
    pace: ndarray


def queue_command(w: Any, time: float, tau: ndarray) -> bool:
    """Let a command act after the delay; return False if too many are under way."""
    m = w.numbers
    if m.commands == COMMANDS:
        return False
    place = (m.first_command + m.commands) % COMMANDS
    m.commands += 1
    w.command_times[place] = time + m.delay
    for i in range(tau.shape[0]):
        w.commands[place, i] = tau[i]
    return True


def braked(w: Any, time: float) -> bool:
    """Return whether the brakes are engaged."""
    return time - w.numbers.command_time > w.numbers.silence


def advance_plant(w: Any, time: float) -> None:
    """Advance q and q̇ by semi-implicit Euler steps during one tick."""
    m, p = w.numbers, w.plant
    while m.commands > 0 and w.command_times[m.first_command] <= time + 1e-9:
        m.command_time = w.command_times[m.first_command]
        for i in range(p.q.shape[0]):
            p.command[i] = w.commands[m.first_command, i]
        m.first_command = (m.first_command + 1) % COMMANDS
        m.commands -= 1
    m.speed = 0.0
    if braked(w, time):
        for i in range(p.q.shape[0]):
            p.qd[i] = 0.0
        return
    timestep = TICK / m.steps
    for _ in range(m.steps):
        move(w, timestep)
    for i in range(p.q.shape[0]):
        ratio = abs(p.qd[i]) / p.velocity_limit[i]
        if not ratio <= m.speed:        # NaN neither
            m.speed = ratio if ratio < 1e300 else 1e300
    if m.speed >= WRECKED:
        m.wrecked = 1


def move(w: Any, timestep: float) -> None:
    """Advance q and q̇ by one step [s]."""
    m, p, robot, work = w.numbers, w.plant, w.robot, w.workspace
    if m.compensates:
        gravity(robot, p.q, work, p.weight)
    friction(robot, p.qd, work, p.unit)
    for i in range(p.q.shape[0]):
        p.actual[i] += (p.command[w.wired[i]] - p.actual[i]) * (timestep / (m.lag + timestep))
        effort = p.actual[i] if p.stuck[i] != p.stuck[i] else p.stuck[i]
        if abs(effort) < p.dead_zone[i]:
            effort = 0.0
        effort = p.gain[i] * p.motor[i] * min(max(effort, -p.saturation[i]), p.saturation[i])
        p.applied[i] = effort + p.external[i] - p.unit[i]
        if m.compensates:
            p.applied[i] += p.weight[i]
        if not p.stop_lower[i] <= p.q[i] <= p.stop_upper[i]:
            m.at_stop = 1
        if p.q[i] > p.stop_upper[i]:        # a stop pushes, and does not pull
            p.applied[i] -= max(0.0, p.stop_stiffness[i] * (p.q[i] - p.stop_upper[i])
                                + p.stop_damping[i] * p.qd[i])
        elif p.q[i] < p.stop_lower[i]:
            p.applied[i] += max(0.0, p.stop_stiffness[i] * (p.stop_lower[i] - p.q[i])
                                - p.stop_damping[i] * p.qd[i])
    forward_dynamics(robot, p.q, p.qd, p.applied, work, p.qdd)
    if m.blocked >= 0:                  # the constraint force that stops it
        for i in range(p.q.shape[0]):
            p.unit[i] = 0.0
        p.unit[m.blocked] = 1.0
        solve(robot, work, p.unit)
        force = (-p.qd[m.blocked] / timestep - p.qdd[m.blocked]) / p.unit[m.blocked]
        for i in range(p.q.shape[0]):
            p.qdd[i] += force * p.unit[i]
    for i in range(p.q.shape[0]):
        p.qd[i] += timestep * p.qdd[i]
        p.q[i] += timestep * p.qd[i]


def guide_by_hand(w: Any, time: float) -> None:
    """Add the efforts of a hand that guides every joint along a sine."""
    m, p, n = w.numbers, w.plant, w.plant.q.shape[0]
    if not m.hand_since <= time < m.hand_until:
        return
    mass_matrix(w.robot, p.q, w.workspace, w.mass)
    for i in range(n):
        wave = p.pace[i] * (time - m.hand_since)
        gap = p.centre[i] + p.amplitude[i] * sin(wave) - p.q[i]
        rate = p.amplitude[i] * p.pace[i] * cos(wave) - p.qd[i]
        p.unit[i] = HAND_BANDWIDTH**2 * gap + 2.0 * HAND_BANDWIDTH * rate
    most = 1.0
    for i in range(n):
        effort = 0.0
        for j in range(n):
            effort += w.mass[i, j] * p.unit[j]
        p.applied[i] = effort
        most = max(most, abs(effort) / (HAND_EFFORT_SHARE * p.effort_limit[i]))
    for i in range(n):
        p.external[i] += p.applied[i] / most
