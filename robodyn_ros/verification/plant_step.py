# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Motion of a simulated arm during one tick: commands under way, drives, brakes, a guiding hand.

Dry friction is an impulse that stops a joint, or opposes its motion: joints stick. ``w`` is the
:class:`~.plant.WorldData`, of which ``m`` are the numbers, ``p`` the vectors of the joints and
``x`` those of the equation of motion. All functions are compiled, see :func:`.plant.run`.
"""

from math import cos, exp, pi, sin
from typing import Any, NamedTuple

from numpy import ndarray

from ..dynamics.entry_points import forward_dynamics, gravity, mass_matrix, solve
from ..dynamics.friction import add_coupled_friction

TICK = 1e-3    # s of one tick of the world
START = 100.0    # s, time when a world begins: zero would be no time on simulation time
WRECKED = 100.0    # velocity limits at which the arm is broken, and the run over
COMMANDS = 512    # commands that may be under way
HAND_BANDWIDTH = 8.0    # 1/s, of a hand
HAND_EFFORT_SHARE = 0.15    # of the effort limit: effort of a hand, at most
# Iterations for the friction of all joints at once, at most; change of a velocity [rad/s | m/s]
# below which they end
SWEEPS, SETTLED_CHANGE = 30, 1e-10
BLOCKING = 1e9    # N·m·s: impulse that stops a blocked joint

NUMBERS = [
    ('lag', float),                 # s, time constant of the drives; 0: none
    ('compensates', int),           # 1: the drives add g(q)
    ('steps', int),                 # integration steps in a tick
    ('base', int),                  # joints of a soft base, which come before those of the arm
    ('base_stiffness', float),
    ('base_damping', float),
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

    q: ndarray              # of the joints, and of the motors: equal without a transmission
    qd: ndarray
    motor_q: ndarray
    motor_qd: ndarray
    command: ndarray        # effort that is commanded
    actual: ndarray         # that after the lag of the drives
    friction: ndarray       # that of friction
    unit: ndarray           # memory
    transmission: ndarray   # stiffness between motor and joint, 0: rigid; damping, play, and
    transmission_damping: ndarray
    play: ndarray
    rotor: ndarray          # rotor inertia behind it
    ripple: ndarray         # amplitude of the ripple of the effort, its period and phase
    ripple_period: ndarray
    ripple_phase: ndarray
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


class MotionVectors(NamedTuple):
    """State of the equation of motion: that of a soft base, and of the arm."""

    q: ndarray
    qd: ndarray
    qdd: ndarray            # in the last step
    half: ndarray           # position in the middle of a step; velocity there, and after it
    velocity: ndarray
    applied: ndarray        # efforts besides dry friction
    weight: ndarray         # g(q)
    dry: ndarray            # impulse of dry friction, and its bounds
    forward: ndarray
    backward: ndarray


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
    """Advance q and q̇ during one tick."""
    m, p = w.numbers, w.plant
    while m.commands > 0 and w.command_times[m.first_command] <= time + 1e-9:
        m.command_time = w.command_times[m.first_command]
        for i in range(p.q.shape[0]):
            p.command[i] = w.commands[m.first_command, i]
        m.first_command = (m.first_command + 1) % COMMANDS
        m.commands -= 1
    m.speed = 0.0
    if braked(w, time):
        w.motion.qd[:], w.motion.qdd[:], p.motor_qd[:] = 0.0, 0.0, 0.0
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
    """
    Advance q and q̇ by one step [s].

    Forces are those in its middle, with the velocity that is expected there: the energy of an arm
    without friction and efforts stays what it is.
    """
    m, p, x, robot, work = w.numbers, w.plant, w.motion, w.robot, w.workspace
    base = m.base
    for k in range(x.q.shape[0]):
        x.half[k] = x.q[k] + 0.5 * timestep * x.qd[k]
        x.velocity[k] = x.qd[k] + 0.5 * timestep * x.qdd[k]
        x.applied[k] = 0.0
    add_coupled_friction(robot.friction, x.velocity, x.applied)
    if m.compensates:
        gravity(robot, x.half, work, x.weight)
    for i in range(p.q.shape[0]):
        k = base + i
        p.friction[i] = x.applied[k]
        effort = driven(w, i, timestep)
        if p.transmission[i] > 0.0:
            effort = turn_motor(w, i, effort, timestep)
        else:
            viscous = robot.friction[0 if x.velocity[k] >= 0.0 else 3, k] * x.velocity[k]
            p.friction[i] += viscous
            effort -= viscous
        x.applied[k] = effort + p.external[i] - x.applied[k]
        if not p.stop_lower[i] <= x.half[k] <= p.stop_upper[i]:
            m.at_stop = 1
        if x.half[k] > p.stop_upper[i]:     # a stop pushes, and does not pull
            x.applied[k] -= max(0.0, p.stop_stiffness[i] * (x.half[k] - p.stop_upper[i])
                                + p.stop_damping[i] * x.velocity[k])
        elif x.half[k] < p.stop_lower[i]:
            x.applied[k] += max(0.0, p.stop_stiffness[i] * (p.stop_lower[i] - x.half[k])
                                - p.stop_damping[i] * x.velocity[k])
    for k in range(base):
        x.applied[k] = -m.base_stiffness * x.half[k] - m.base_damping * x.velocity[k]
    forward_dynamics(robot, x.half, x.velocity, x.applied, work, x.qdd)
    for k in range(x.q.shape[0]):
        x.velocity[k] = x.qd[k] + timestep * x.qdd[k]
    rub(w, timestep)
    for k in range(x.q.shape[0]):
        x.qdd[k] = (x.velocity[k] - x.qd[k]) / timestep
        x.qd[k] = x.velocity[k]
        x.q[k] = x.half[k] + 0.5 * timestep * x.qd[k]
    for i in range(p.q.shape[0]):
        if p.transmission[i] == 0.0:
            p.motor_q[i], p.motor_qd[i] = p.q[i], p.qd[i]


def driven(w: Any, i: int, timestep: float) -> float:
    """Return the effort of a motor after one step [s]."""
    m, p = w.numbers, w.plant
    p.actual[i] += (p.command[w.wired[i]] - p.actual[i]) * (timestep / (m.lag + timestep))
    effort = p.actual[i] if p.stuck[i] != p.stuck[i] else p.stuck[i]
    if abs(effort) < p.dead_zone[i]:
        effort = 0.0
    effort = p.gain[i] * p.motor[i] * min(max(effort, -p.saturation[i]), p.saturation[i])
    if p.ripple[i] > 0.0:
        effort += p.ripple[i] * sin(2.0 * pi * p.motor_q[i] / p.ripple_period[i]
                                    + p.ripple_phase[i])
    return effort + w.motion.weight[m.base + i] if m.compensates else effort


def dry_friction(parameters: ndarray, k: int, direction: int, velocity: float) -> float:
    """Return the bound of dry friction at a velocity, forwards (0) or backwards (3)."""
    coulomb, static = parameters[direction + 1, k], parameters[direction + 2, k]
    if static == coulomb:
        return coulomb
    return coulomb + (static - coulomb) * exp(-(velocity / parameters[7, k])**2)


def turn_motor(w: Any, i: int, effort: float, timestep: float) -> float:
    """Advance a motor behind an elastic transmission; return the effort that reaches the joint."""
    p, x, f, k = w.plant, w.motion, w.robot.friction, w.numbers.base + i
    before = p.motor_qd[i]
    middle = p.motor_q[i] + 0.5 * timestep * before
    gap, play = middle - x.half[k], 0.5 * p.play[i]
    stretch = gap - min(max(gap, -play), play)
    through = 0.0
    if stretch != 0.0:
        through = (p.transmission[i] * stretch
                   + p.transmission_damping[i] * (before - x.velocity[k]))
        if play > 0.0 and through * stretch < 0.0:      # teeth push
            through = 0.0
    viscous = f[0 if before >= 0.0 else 3, k] * before
    velocity = before + timestep * (effort - through - viscous) / p.rotor[i]
    share = timestep / p.rotor[i]
    lost = min(max(velocity, -share * dry_friction(f, k, 3, before)),
               share * dry_friction(f, k, 0, before))
    p.motor_qd[i] = velocity - lost
    p.motor_q[i] = middle + 0.5 * timestep * p.motor_qd[i]
    p.friction[i] += viscous + lost / share
    return through


def rub(w: Any, timestep: float) -> None:
    """
    Let dry friction act on the velocities after a step.

    Each impulse is within its bounds, and at a bound unless the joint stops: a linear
    complementarity problem, solved by projected Gauss-Seidel iteration from the impulses of the
    last step on.
    """
    m, p, x, f = w.numbers, w.plant, w.motion, w.robot.friction
    base, dry = m.base, False
    for k in range(base, x.q.shape[0]):
        x.forward[k] = x.backward[k] = 0.0
        if m.blocked == k - base:
            x.forward[k] = x.backward[k] = BLOCKING
        elif p.transmission[k - base] == 0.0:
            x.forward[k] = timestep * dry_friction(f, k, 0, x.qd[k])
            x.backward[k] = timestep * dry_friction(f, k, 3, x.qd[k])
        if x.forward[k] == 0.0 and x.backward[k] == 0.0:
            x.dry[k] = 0.0
            continue
        dry = True
        row = w.inverse[k]
        row[:] = 0.0
        row[k] = 1.0
        solve(w.robot, w.workspace, row)
        x.dry[k] = min(max(x.dry[k], -x.backward[k]), x.forward[k])
        for j in range(row.shape[0]):
            x.velocity[j] -= row[j] * x.dry[k]
    if not dry:
        return
    for _ in range(SWEEPS):
        largest = 0.0
        for k in range(base, x.q.shape[0]):
            if x.forward[k] == 0.0 and x.backward[k] == 0.0:
                continue
            row = w.inverse[k]
            impulse = min(max(x.dry[k] + x.velocity[k] / row[k], -x.backward[k]), x.forward[k])
            change = impulse - x.dry[k]
            x.dry[k] = impulse
            for j in range(row.shape[0]):
                x.velocity[j] -= row[j] * change
            largest = max(largest, abs(row[k] * change))
        if largest < SETTLED_CHANGE:
            break
    for i in range(p.q.shape[0]):
        if p.transmission[i] == 0.0 and m.blocked != i:
            p.friction[i] += x.dry[base + i] / timestep


def guide_by_hand(w: Any, time: float) -> None:
    """Add the efforts of a hand that guides every joint along a sine."""
    m, p, n, base = w.numbers, w.plant, w.plant.q.shape[0], w.numbers.base
    if not m.hand_since <= time < m.hand_until:
        return
    mass_matrix(w.robot, w.motion.q, w.workspace, w.mass)
    for i in range(n):
        wave = p.pace[i] * (time - m.hand_since)
        gap = p.centre[i] + p.amplitude[i] * sin(wave) - p.q[i]
        rate = p.amplitude[i] * p.pace[i] * cos(wave) - p.qd[i]
        p.unit[i] = HAND_BANDWIDTH**2 * gap + 2.0 * HAND_BANDWIDTH * rate
    most = 1.0
    for i in range(n):
        effort = 0.0
        for j in range(n):
            effort += w.mass[base + i, base + j] * p.unit[j]
        w.motion.applied[base + i] = effort
        most = max(most, abs(effort) / (HAND_EFFORT_SHARE * p.effort_limit[i]))
    for i in range(n):
        p.external[i] += w.motion.applied[base + i] / most
