# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Motions of axes with limited velocity, acceleration and jerk, from any state, as polynomials.

An axis moves in phases of constant jerk. :func:`ramp`, the shortest change of its velocity, is
three of them. A time-optimal motion to a target is a ramp to a peak velocity, a cruise at it, and
a ramp to rest (Haschke, Weitnauer and Ritter, On-line planning of time-optimal, jerk-limited
trajectories, IROS 2008). The ramp that leads to the velocity of the target at once tells to which
side of it the peak velocity is; there it is bisected. An axis that brakes already and would stop
before the target may release its brake in part, without a peak. Where one axis has to wait for
another, its peak is lower and its cruise longer.

Powers are written as products: compiled and plain functions give the same bits.
"""

from math import floor, isfinite, pi, sqrt

from numpy import ndarray

from .request import (
    ACCELERATION, DEFAULT_TIME, JERK, LIMIT_ROUNDING, LOWER, MAX_MAGNITUDE, MIN_DURATION,
    NO_LIMITS, NOT_FINITE, OK, OUTSIDE, PHASES, TOO_FAST, UNREACHABLE, UPPER, VELOCITY)

BISECTIONS, EXTREME_BISECTIONS = 40, 16
CRUISE, BRAKE, STOP = 3, 4, 7    # phase of the cruise, and first ones of the ramps after it
SAME_TIME = 1e-9    # s; ends of phases that are closer together become one
SAME_VELOCITY = 1e-12    # rad/s | m/s that count as rest: no cruise at them
MAX_DURATION = 3600.0    # s
# A stop of what moves already is tried again where it leaves the limits of position, harder by
# this factor: at first in its jerk, then in its acceleration as well
HARDER, HARDER_JERK, HARDER_ATTEMPTS = 1.25, 24, 96
PHASE_PARTS = 8    # parts of a phase, at whose ends the limits are checked


def nearest_turn(start: float, end: float) -> float:
    """Return the whole turns [rad] that bring a position nearest to another one."""
    return 2.0 * pi * floor((end - start) / (2.0 * pi) + 0.5)


def shift(c: ndarray, i: int, time: float) -> None:
    """Let column i of the coefficients (6, n) of a polynomial begin later [s]."""
    for low in range(5):
        for k in range(4, low - 1, -1):
            c[k, i] += time * c[k + 1, i]


def value(c: ndarray, i: int, t: float) -> float:
    """Return column i of polynomials (6, n) at a time [s]; likewise the functions below."""
    return float(c[0, i] + t * (c[1, i] + t * (c[2, i] + t * (
        c[3, i] + t * (c[4, i] + t * c[5, i])))))


def rate(c: ndarray, i: int, t: float) -> float:
    """Return the velocity."""
    return float(c[1, i] + t * (2.0 * c[2, i] + t * (
        3.0 * c[3, i] + t * (4.0 * c[4, i] + t * 5.0 * c[5, i]))))


def second(c: ndarray, i: int, t: float) -> float:
    """Return the acceleration."""
    return float(2.0 * c[2, i] + t * (6.0 * c[3, i] + t * (12.0 * c[4, i] + t * 20.0 * c[5, i])))


def ramp(v: float, a: float, target: float, acceleration: float, jerk: float,
         phases: ndarray, first: int, i: int) -> None:
    """
    Write the shortest change of velocity, from v with acceleration a to a target without.

    :param phases: (2, PHASES, n) receives durations [s] and jerks from phase ``first`` on.
    """
    side = 1.0 if target >= v + 0.5 * a * abs(a) / jerk else -1.0
    a, change = side * a, side * (target - v)
    peak = min(sqrt(max(0.0, jerk * change + 0.5 * a * a)), acceleration)
    sign = 1.0 if peak >= a else -1.0
    rise, fall = abs(peak - a) / jerk, peak / jerk
    rest = change - 0.5 * (a + peak) * rise - 0.5 * peak * fall
    phases[0, first, i], phases[1, first, i] = rise, sign * side * jerk
    phases[0, first + 1, i] = max(0.0, rest / peak) if peak > 0.0 else 0.0
    phases[1, first + 1, i] = 0.0
    phases[0, first + 2, i], phases[1, first + 2, i] = fall, -side * jerk


def clear(phases: ndarray, i: int) -> None:
    """Forget the phases of an axis."""
    for k in range(PHASES):
        phases[0, k, i] = phases[1, k, i] = 0.0


def after(x: float, v: float, a: float, j: float, t: float) -> tuple[float, float, float]:
    """Return the state after a phase of constant jerk."""
    return x + t * (v + t * (0.5 * a + t * j / 6.0)), v + t * (a + 0.5 * t * j), a + t * j


def covered(x: ndarray, i: int, phases: ndarray, end: int) -> float:
    """Return the distance that axis i covers until a phase."""
    moved, v, a = 0.0, x[1, i], x[2, i]
    for k in range(end):
        moved, v, a = after(moved, v, a, phases[1, k, i], phases[0, k, i])
    return moved


def duration(phases: ndarray, i: int, end: int) -> float:
    """Return the time until a phase [s]."""
    total = 0.0
    for k in range(end):
        total += phases[0, k, i]
    return total


def by_way_of(x: ndarray, i: int, peak: float, end_velocity: float, acceleration: float,
              jerk: float, phases: ndarray) -> float:
    """Write the ramps to a peak velocity and to the last one; return the distance covered."""
    ramp(x[1, i], x[2, i], peak, acceleration, jerk, phases, 0, i)
    phases[0, CRUISE, i] = phases[1, CRUISE, i] = 0.0
    ramp(peak, 0.0, end_velocity, acceleration, jerk, phases, BRAKE, i)
    return covered(x, i, phases, STOP)


def with_cruise(x: ndarray, i: int, peak: float, goal: ndarray, limits: ndarray,
                phases: ndarray) -> float:
    """Write the motion with a peak velocity to a goal (2, n); return its duration [s]."""
    distance = goal[0, i] - x[0, i]
    far = by_way_of(x, i, peak, goal[1, i], limits[ACCELERATION, i], limits[JERK, i], phases)
    if abs(peak) > SAME_VELOCITY:
        phases[0, CRUISE, i] = max(0.0, (distance - far) / peak)
    return duration(phases, i, STOP)


def brake_later(x: ndarray, i: int, share: float, end_velocity: float, acceleration: float,
                jerk: float, phases: ndarray) -> float:
    """Write a ramp to the last velocity that begins after a share of the brake is released."""
    a = x[2, i]
    clear(phases, i)
    phases[0, 0, i] = share * abs(a) / jerk
    phases[1, 0, i] = -jerk if a > 0.0 else jerk
    ramp(x[1, i] + a * phases[0, 0, i] * (1.0 - 0.5 * share), (1.0 - share) * a, end_velocity,
         acceleration, jerk, phases, BRAKE, i)
    return covered(x, i, phases, STOP)


def quickest(x: ndarray, i: int, goal: ndarray, limits: ndarray, phases: ndarray) -> float:
    """Write the shortest motion to a goal (2, n); return its peak velocity."""
    acceleration, jerk, last = limits[ACCELERATION, i], limits[JERK, i], goal[1, i]
    distance, coasting = goal[0, i] - x[0, i], x[1, i] + 0.5 * x[2, i] * abs(x[2, i]) / jerk
    at_once = by_way_of(x, i, last, last, acceleration, jerk, phases)
    side = 1.0 if at_once <= distance else -1.0
    nearest = side * last
    if nearest < side * coasting <= limits[VELOCITY, i]:    # it would brake at once
        nearest = side * coasting
        for k in range(PHASE_PARTS if side * x[2, i] < 0.0 else 0):
            least, most = k / PHASE_PARTS, (k + 1) / PHASE_PARTS
            if side * brake_later(x, i, most, last, acceleration, jerk,
                                  phases) <= side * distance:
                continue
            for _ in range(BISECTIONS):
                share = 0.5 * (least + most)
                if side * brake_later(x, i, share, last, acceleration, jerk,
                                      phases) <= side * distance:
                    least = share
                else:
                    most = share
            brake_later(x, i, least, last, acceleration, jerk, phases)
            return float(coasting)
    peak = peak_velocity(x, i, goal, limits, side, nearest, phases)
    with_cruise(x, i, peak, goal, limits, phases)
    return peak


def peak_velocity(x: ndarray, i: int, goal: ndarray, limits: ndarray, side: float, least: float,
                  phases: ndarray) -> float:
    """Return the peak velocity, ``side`` times from ``least`` to the limit, of a motion there."""
    acceleration, jerk = limits[ACCELERATION, i], limits[JERK, i]
    distance, low, high = side * (goal[0, i] - x[0, i]), least, limits[VELOCITY, i]
    if side * by_way_of(x, i, side * high, goal[1, i], acceleration, jerk, phases) <= distance:
        return float(side * high)
    if side * by_way_of(x, i, side * low, goal[1, i], acceleration, jerk, phases) >= distance:
        return float(side * low)
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        if side * by_way_of(x, i, side * middle, goal[1, i], acceleration, jerk,
                            phases) <= distance:
            low = middle
        else:
            high = middle
    return float(side * (low if low > 0.0 else high if high < 0.0 else 0.0))


def waiting(x: ndarray, i: int, peak: float, goal: ndarray, limits: ndarray, longest: float,
            phases: ndarray) -> float:
    """
    Stretch the shortest motion to a goal, which is written; return its duration [s].

    It is longer than asked where the axis cannot wait so long on its way: it turns back or brakes
    in two steps, which need not be the shortest motion of all axes.
    """
    if duration(phases, i, STOP) >= longest - SAME_TIME:
        return longest
    stretched(x, i, peak, goal, limits, longest, phases)
    if reaches(x, i, goal, phases):
        return longest
    peak = peak_velocity(x, i, goal, limits, 1.0, -limits[VELOCITY, i], phases)
    stretched(x, i, peak, goal, limits, longest, phases)
    return max(longest, duration(phases, i, STOP))


def reaches(x: ndarray, i: int, goal: ndarray, phases: ndarray) -> bool:
    """Return whether the phases of an axis end at the position of a goal."""
    return bool(abs(x[0, i] + covered(x, i, phases, STOP) - goal[0, i])
                <= 1e-6 * (1.0 + abs(goal[0, i])))


def stretched(x: ndarray, i: int, peak: float, goal: ndarray, limits: ndarray, longest: float,
              phases: ndarray) -> None:
    """Write the motion to a goal that takes so long [s], with a lower peak or a rest."""
    taken = with_cruise(x, i, peak, goal, limits, phases)
    if taken >= longest - SAME_TIME:
        return
    if abs(peak) <= SAME_VELOCITY:
        phases[0, CRUISE, i] = longest - taken
        return
    slow, fast = 0.0, peak
    for _ in range(BISECTIONS):
        middle = 0.5 * (slow + fast)
        if abs(middle) <= SAME_VELOCITY:
            break
        if with_cruise(x, i, middle, goal, limits, phases) >= longest:
            slow = middle
        else:
            fast = middle
    with_cruise(x, i, fast, goal, limits, phases)


def unlimited(limits: ndarray) -> int:
    """Return an axis without a limit to plan its motion with, -1 if there is none."""
    for i in range(limits.shape[1]):
        if not (isfinite(limits[VELOCITY, i]) and isfinite(limits[ACCELERATION, i])
                and isfinite(limits[JERK, i]) and limits[VELOCITY, i] > 0.0
                and limits[ACCELERATION, i] > 0.0 and limits[JERK, i] > 0.0):
            return i
    return -1


def plan_goal(x: ndarray, goal: ndarray, limits: ndarray, shortest: float, phases: ndarray,
              result: ndarray) -> int:
    """
    Write the shortest motion of all axes to a goal, and behind it to rest; return what is wrong.

    :param x: (3, n) position, velocity, acceleration at its begin.
    :param goal: (2, n) position and velocity, which all axes have at the same time.
    :param limits: rows LOWER to JERK.
    :param shortest: least duration [s].
    :param result: receives the axis concerned in its first element.
    """
    i = unlimited(limits)
    if i >= 0:
        result[0] = i
        return NO_LIMITS
    T = shortest
    for i in range(x.shape[1]):
        clear(phases, i)
        peak = quickest(x, i, goal, limits, phases)
        phases[1, STOP, i] = peak           # kept here until it is used below
        T = max(T, duration(phases, i, STOP))
    i = 0
    while i < x.shape[1]:
        took = waiting(x, i, phases[1, STOP, i], goal, limits, T, phases)
        i = 0 if took > T + SAME_TIME else i + 1     # all wait for such an axis, once each
        T = max(T, took)
    if not T <= MAX_DURATION:
        return UNREACHABLE
    for i in range(x.shape[1]):
        result[0], phases[1, STOP, i] = i, 0.0
        end = x[0, i] + covered(x, i, phases, STOP)
        if not reaches(x, i, goal, phases):
            return UNREACHABLE
        if goal[1, i] != 0.0 and not stop_axis(end, goal[1, i], 0.0, limits, phases, STOP, i, 1):
            return OUTSIDE
        wrong = leaves(x[0, i], x[1, i], x[2, i], limits, phases, 0, i)
        if wrong != OK:
            return wrong
    result[0] = -1
    return OK


def plan_velocity(x: ndarray, velocity: ndarray, until: float, limits: ndarray, phases: ndarray,
                  result: ndarray) -> int:
    """
    Write the shortest change to a velocity (n,), which is kept until a time [s], and a stop.

    See :func:`plan_goal`.
    """
    i = unlimited(limits)
    if i >= 0:
        result[0] = i
        return NO_LIMITS
    T = until
    for i in range(x.shape[1]):
        clear(phases, i)
        ramp(x[1, i], x[2, i], velocity[i], limits[ACCELERATION, i], limits[JERK, i], phases, 0,
             i)
        T = max(T, duration(phases, i, CRUISE))
    for i in range(x.shape[1]):
        result[0] = i
        phases[0, CRUISE, i] = T - duration(phases, i, CRUISE)
        end = x[0, i] + covered(x, i, phases, BRAKE)
        if not stop_axis(end, velocity[i], 0.0, limits, phases, STOP, i, 1):
            return OUTSIDE
        wrong = leaves(x[0, i], x[1, i], x[2, i], limits, phases, 0, i)
        if wrong != OK:
            return wrong
    result[0] = -1
    return OK


def plan_stop(x: ndarray, limits: ndarray, phases: ndarray, result: ndarray) -> int:
    """
    Write the deceleration to rest of each axis, as soon as its limits allow.

    Where not all limits can be kept, those of position and velocity are, then that of
    acceleration, then that of jerk. Where even those of position cannot, it is as hard as it may
    be, and OUTSIDE is returned.
    """
    wrong = OK
    result[0] = -1
    for i in range(x.shape[1]):
        clear(phases, i)
        if not stop_axis(x[0, i], x[1, i], x[2, i], limits, phases, 0, i, HARDER_ATTEMPTS):
            result[0] = i
            wrong = OUTSIDE
    return wrong


def stop_axis(x: float, v: float, a: float, limits: ndarray, phases: ndarray, first: int,
              i: int, attempts: int) -> bool:
    """
    Write the deceleration to rest from a phase on; return whether it keeps the limits.

    :param attempts: at most; each after the first one exceeds the limits of jerk and acceleration
        more, for a motion that cannot be refused any more.
    """
    most, jerk = limits[ACCELERATION, i], limits[JERK, i]
    if not isfinite(most):
        most = max(abs(v) / DEFAULT_TIME, abs(a), LIMIT_ROUNDING)
    if not isfinite(jerk):
        jerk = most / MIN_DURATION
    for k in range(attempts):
        ramp(v, a, 0.0, most, jerk, phases, first, i)
        if leaves(x, v, a, limits, phases, first, i) == OK:
            return True
        jerk *= HARDER
        if k >= HARDER_JERK:
            most *= HARDER
    return False


def leaves(x: float, v: float, a: float, limits: ndarray, phases: ndarray, first: int,
           i: int) -> int:
    """Return which limit the phases of an axis exceed that the state before them does not."""
    lower, upper = min(limits[LOWER, i], x), max(limits[UPPER, i], x)
    fastest = max(limits[VELOCITY, i], abs(v))
    for k in range(first, PHASES):
        T, j = phases[0, k, i], phases[1, k, i]
        if T <= 0.0:
            continue
        for part in range(1, PHASE_PARTS + 1):
            at, speed, _ = after(x, v, a, j, T * part / PHASE_PARTS)
            if not lower - 1e-7 <= at <= upper + 1e-7:
                return OUTSIDE
            if not abs(speed) <= fastest + 1e-7:
                return TOO_FAST
        x, v, a = after(x, v, a, j, T)
    return OK


def write_phases(x: ndarray, phases: ndarray, first: int, times: ndarray, coefficients: ndarray,
                 knots: ndarray) -> int:
    """
    Write the phases of all axes as segments of polynomials; return the number of segments.

    :param x: (3, n) state at the begin, ``times[first]``.
    :param first: number of segments that are there already.
    :param knots: workspace (PHASES n + 1,).
    """
    n, count, T = x.shape[1], 0, 0.0
    for i in range(n):
        end = 0.0
        for k in range(PHASES):
            if phases[0, k, i] > 0.0:
                end += phases[0, k, i]
                knots[count] = end
                count += 1
        T = max(T, end)
    T = max(T, MIN_DURATION)
    for k in range(1, count):               # insertion sort
        late, place = knots[k], k
        while place > 0 and knots[place - 1] > late:
            knots[place] = knots[place - 1]
            place -= 1
        knots[place] = late
    begin, last = times[first], first
    for k in range(count):
        if knots[k] > times[last] - begin + SAME_TIME and knots[k] < T - SAME_TIME:
            last += 1
            times[last] = begin + knots[k]
    last += 1
    times[last] = begin + T
    for i in range(n):
        phase, since, at, v, a = 0, 0.0, x[0, i], x[1, i], x[2, i]
        for k in range(first, last):
            middle = 0.5 * (times[k] + times[k + 1]) - begin
            while phase < PHASES and middle > since + phases[0, phase, i]:
                at, v, a = after(at, v, a, phases[1, phase, i], phases[0, phase, i])
                since += phases[0, phase, i]
                phase += 1
            c, j = coefficients[k], phases[1, phase, i] if phase < PHASES else 0.0
            if phase == PHASES:
                v, a = 0.0, 0.0
            c[0, i], c[1, i], acceleration = after(at, v, a, j, times[k] - begin - since)
            c[2, i], c[3, i], c[4, i], c[5, i] = 0.5 * acceleration, j / 6.0, 0.0, 0.0
    return last


def faulty(c: ndarray, i: int, T: float, parts: int, lower: float, upper: float,
           velocity: float, found: ndarray) -> int:
    """
    Return which limit the polynomial of one axis exceeds within its duration.

    That of position is looked for first. In each part of the duration, velocity and acceleration
    are taken to change their signs once at most.

    :param found: (2,) receives the position or velocity, and when [s] after its begin.
    """
    wrong, t, v, a = OK, 0.0, 0.0, 0.0
    for k in range(parts + 1):
        begin, v_before, a_before, t = t, v, a, T * k / parts
        x, v, a = value(c, i, t), rate(c, i, t), second(c, i, t)
        if not (abs(x) < MAX_MAGNITUDE and abs(v) < MAX_MAGNITUDE and abs(a) < MAX_MAGNITUDE):
            found[0] = 0.0
            return NOT_FINITE
        turns = zero(c, i, False, begin, t) if v_before * v < 0.0 else t
        for at in (turns, t):
            x = value(c, i, at)
            if not lower - LIMIT_ROUNDING <= x <= upper + LIMIT_ROUNDING:
                found[0], found[1] = x, at
                return OUTSIDE
        fastest = zero(c, i, True, begin, t) if a_before * a < 0.0 else t
        for at in (fastest, t):
            v_there = abs(rate(c, i, at))
            if wrong == OK and not v_there <= velocity * (1.0 + LIMIT_ROUNDING) + LIMIT_ROUNDING:
                found[0], found[1], wrong = v_there, at, TOO_FAST
    return wrong


def zero(c: ndarray, i: int, of_acceleration: bool, begin: float, end: float) -> float:
    """Return when velocity or acceleration changes its sign between two times [s]."""
    positive = (second(c, i, begin) if of_acceleration else rate(c, i, begin)) > 0.0
    for _ in range(EXTREME_BISECTIONS):
        middle = 0.5 * (begin + end)
        if ((second(c, i, middle) if of_acceleration else rate(c, i, middle)) > 0.0) == positive:
            begin = middle
        else:
            end = middle
    return begin


