# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Arm that its drives hold by their own springs, so that their efforts can be compared with g(q).

No model takes part: the spring of a motor and its encoder agree whatever a URDF or a file says.
The spring is anchored where the arm is, and exerts SHARE of the effort limit at most: an arm that
carries more yields slowly, against the damping.
"""

from collections.abc import Callable
from typing import NamedTuple, NoReturn

import numpy as np
from numpy import ndarray

from .diagnosis import diagnose, Diagnosis
from .mit_can import MitCan
from ..driver import Reading, words_of
from ..dynamics import Dynamics
from ..errors import DriverError
from ..model.robot import RobotModel

PERIOD = 0.01    # [s] of commands
SHARE = 0.3    # of the effort limit that a spring exerts
DEFLECTION = 0.05    # [rad] at which it does
DAMPING_TIME = 0.03    # [s] damping over stiffness
MAX_DAMPING = 5.0    # [N·m·s/rad] of the motors
SETTLE_TIME, MEASURE_TIME = 1.0, 0.5    # [s]
MAX_SPEED = 1.0    # [rad/s] at which the arm is lowered, since its springs do not hold it
SLIPS = 0.98    # of DEFLECTION: the spring is at its end
AT_REST = 0.05    # [rad/s] mean velocity while it is measured
LOWERING_SPEED = 0.25    # [rad/s] of the anchors, under the largest effort of the springs
LOWERED = 0.08    # share of a spring's effort that is taken for none: friction
LOWERING_TIME = 15.0    # [s], at most
FRICTION_DEVIATION = 0.5    # of Coulomb friction, which may help or hinder an arm at rest
UNKNOWN_FRICTION = 0.01    # share of the effort limit, where the model has none


class Held(NamedTuple):
    """A pose at rest: position and mean effort (nv,) [rad, N·m]."""

    position: ndarray
    effort: ndarray


def hold(drives: MitCan, tell: Callable[[str], object] = lambda text: None) -> Held:
    """
    Hold an arm where it is, measure its efforts, and lower it until it lies, whatever happens.

    :param drives: its motors, which are off, and are off again at the end.
    :param tell: called with what comes next.
    :raises DriverError: the arm moves, a drive reports a fault, or a joint carries more than its
        spring.
    """
    names = tuple(motor.joint for motor in drives.motors.motors)
    springs = _Anchored(drives)
    rows = []
    try:
        for k in range(round((SETTLE_TIME + MEASURE_TIME) / PERIOD)):
            reading = springs.command()
            if stopping := [fault for fault in reading.faults if fault.stop]:
                _give_up(f'a drive reports {", ".join(map(words_of, stopping))}', (),
                         'see `robodyn driver scan`, and remove its cause')
            if (fast := np.abs(np.asarray(reading.velocity)) > MAX_SPEED).any():
                _give_up(f'faster than {MAX_SPEED:g} rad/s although its spring holds it: ',
                         _named(names, fast), 'support the arm, and choose another pose')
            if k >= SETTLE_TIME / PERIOD:
                rows.append(np.array([reading.position, reading.velocity, reading.effort], float))
        position, velocity, effort = np.mean(rows, axis=0)
        slips = (np.abs(springs.anchor - position) > SLIPS * DEFLECTION) | (
            np.abs(velocity) > AT_REST)
        if slips.any():
            _give_up(f'more load than {SHARE:.0%} of the effort limit holds: ',
                     _named(names, slips), 'choose a pose in which it carries less')
    finally:
        tell('the arm comes down slowly')
        springs.lower()
    return Held(position, effort)


def compare(drives: MitCan, model: RobotModel, held: list[Held]) -> Diagnosis:
    """Compare the efforts of poses with g(q) of the model, which has the friction of the arm."""
    motors = drives.motors.motors
    ranges = [found.effort for found in drives.motors.ranges if found is not None]
    step = np.array(ranges) * 2.0**-11      # of the coarser codes, 12 bits
    friction = np.where(model.coulomb_friction > 0.0, model.coulomb_friction,
                        UNKNOWN_FRICTION * np.asarray(drives.facts.effort_limit))
    return diagnose(Dynamics(model), np.array([pose.position for pose in held]),
                    np.array([pose.effort for pose in held]),
                    FRICTION_DEVIATION * friction + step,
                    np.array([float(motor.sign) for motor in motors]),
                    np.array([motor.offset for motor in motors]))


class _Anchored:
    """Springs whose anchors are never further from the arm than DEFLECTION."""

    def __init__(self, drives: MitCan):
        self._drives, self._most = drives, SHARE * np.asarray(drives.facts.effort_limit)
        self._stiffness = self._most / DEFLECTION
        self._damping = np.minimum(DAMPING_TIME * self._stiffness, MAX_DAMPING)
        drives.period = PERIOD
        drives.switch_off()         # which brings the present state
        self.anchor = np.array(drives.read().position, float)
        drives.enable()

    def command(self) -> Reading:
        self._drives.spring(self.anchor, self._stiffness, self._damping)
        reading = self._drives.read()
        position = np.asarray(reading.position)
        self.anchor = np.clip(self.anchor, position - DEFLECTION, position + DEFLECTION)
        return reading

    def lower(self) -> None:
        """Let the anchors yield to the load until there is none; switch the motors off."""
        try:
            for _ in range(round(LOWERING_TIME / PERIOD)):
                load = np.nan_to_num(np.asarray(self.command().effort) / self._most)
                if (np.abs(load) < LOWERED).all():
                    break
                self.anchor -= LOWERING_SPEED * PERIOD * np.clip(load, -1.0, 1.0)
        finally:
            self._drives.switch_off()


def _named(names: tuple[str, ...], which: ndarray) -> tuple[str, ...]:
    return tuple(name for name, it in zip(names, which) if it)


def _give_up(text: str, names: tuple[str, ...], remedy: str) -> NoReturn:
    raise DriverError(text + ', '.join(names), name=names[0] if names else 'drives',
                      remedy=remedy)
