# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Laws as users write them, good ones and bad ones."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from robodyn_ros import gain, Law
from robodyn_ros.control.laws import dynamics
from robodyn_ros.control.laws.law import Judged
from robodyn_ros.control.laws.pd import ImpedanceGains

BEYOND = 0.5                # rad, of the first joint: there the laws that fail do so


@dataclass(frozen=True)
class Gains:
    spring: Any = gain('N·m/rad', 0.0, 1e4, 'Stiffness of the spring.')
    damper: Any = gain('N·m·s/rad', 0.0, 1e3, 'Damping.', default=1.0)


class Efforts(NamedTuple):
    acceleration: np.ndarray
    friction: np.ndarray


def with_dynamics(arm, gains, memory, tau):
    dynamics.bias(arm, tau)
    dynamics.friction(arm, arm.qd, memory.friction)
    dynamics.forward_dynamics(arm, tau, memory.acceleration)
    for i in range(tau.shape[0]):
        tau[i] += memory.friction[i]


WITH_DYNAMICS = Law('with_dynamics', with_dynamics, 'τ = C q̇ + g + friction', 'a test',
                    memory=Efforts, reference='none')


class Memory(NamedTuple):
    cycles: np.ndarray
    longest: np.ndarray


def spring_efforts(arm, gains, memory, tau):
    for i in range(tau.shape[0]):
        memory.cycles[i] += 1.0
        memory.longest[i] = max(memory.longest[i], abs(arm.q[i] - arm.q_reference[i]))
        tau[i] = (arm.gravity[i] + gains.spring[i] * (arm.q_reference[i] - arm.q[i])
                  + gains.damper[i] * (arm.qd_reference[i] - arm.qd[i]))


SPRING = Law('spring', spring_efforts, 'τ = g(q) + K e + D ė', 'a test', gains=Gains,
             memory=Memory, judged=(Judged('spring', 'damper'),))


def impedance_efforts(arm, gains, memory, tau):
    for i in range(tau.shape[0]):
        tau[i] = (arm.gravity[i] + gains.stiffness[i] * (arm.q_reference[i] - arm.q[i])
                  + gains.damping[i] * (arm.qd_reference[i] - arm.qd[i]))


IMPEDANCE = Law('impedance', impedance_efforts, 'that of joint_impedance', 'a test',
                gains=ImpedanceGains)


def float_efforts(arm, gains, memory, tau):
    for i in range(tau.shape[0]):
        tau[i] = arm.gravity[i]


FLOAT = Law('float', float_efforts, 'τ = g(q)', 'a test', reference='none')


def allocating(arm, gains, memory, tau):
    kept = np.zeros(2)
    for i in range(tau.shape[0]):
        tau[i] = arm.gravity[i] + kept[i % 2]


def not_a_number(arm, gains, memory, tau):
    for i in range(tau.shape[0]):
        tau[i] = np.sqrt(arm.q[i])


def slow(arm, gains, memory, tau):
    total = 0.0
    for k in range(300000):
        total += np.sin(arm.q[0] + k)
    for i in range(tau.shape[0]):
        tau[i] = total


def endless(arm, gains, memory, tau):
    k = 0
    while k >= 0:
        k = (k + 1) % 1000
        tau[0] = arm.q[0]


def out_of_bounds(arm, gains, memory, tau):
    for i in range(tau.shape[0] + 1):
        tau[i] = arm.gravity[i]


def not_compiling(arm, gains, memory, tau):
    tau[0] = arm.speed[0]


def one_joint(arm, gains, memory, tau):
    tau[0] = arm.gravity[0]


def three_arguments(arm, gains, tau):
    tau[0] = 0.0


def writing_position(arm, gains, memory, tau):
    e = arm.q
    for i in range(tau.shape[0]):
        e[i] -= arm.q_reference[i]
        tau[i] = arm.gravity[i] - gains.spring[i] * e[i]


def writing_model(arm, gains, memory, tau):
    for i in range(tau.shape[0]):
        arm.robot.friction[0, i] += 1.0
        tau[i] = arm.gravity[i]


def failing_once(arm, gains, memory, tau):
    begins = memory.cycles[0] == 0.0
    for i in range(tau.shape[0] + int(begins)):
        memory.cycles[0] = 1.0
        tau[i] = arm.gravity[i]


ALLOCATING, NOT_A_NUMBER, SLOW, ENDLESS, OUT_OF_BOUNDS, NOT_COMPILING, ONE_JOINT, THREE, \
    WRITING_MODEL = (Law(f.__name__, f, 'none', 'a test') for f in (
        allocating, not_a_number, slow, endless, out_of_bounds, not_compiling, one_joint,
        three_arguments, writing_model))
FAILING_ONCE = Law('failing_once', failing_once, 'none', 'a test', memory=Memory)
WRITING_POSITION = Law('writing_position', writing_position, 'none', 'a test', gains=Gains)


def moved(arm):
    return arm.q[0] > BEYOND and arm.q[0] < BEYOND + 0.001      # where no trial looks


def failing_late(arm, gains, memory, tau):
    for i in range(tau.shape[0]):
        tau[i] = arm.gravity[i]
    if moved(arm):
        tau[tau.shape[0] + int(arm.q[0])] = 0.0


def silent_late(arm, gains, memory, tau):
    for i in range(tau.shape[0]):
        if not moved(arm):
            tau[i] = arm.gravity[i]


def writing_late(arm, gains, memory, tau):
    if moved(arm):
        for i in range(tau.shape[0]):
            arm.joints[i].effort_limit *= 10.0
            arm.gravity[i] += 1e3
            arm.qd[i] = arm.withheld[i] = arm.applied[i] = 0.0
            arm.q_reference[i] += 1.0
    for i in range(tau.shape[0]):
        tau[i] = arm.gravity[i]
    if moved(arm):
        arm.q[0] = arm.q[1] = 0.0


FAILING_LATE, SILENT_LATE, WRITING_LATE = (Law(f.__name__, f, 'none', 'a test')
                                           for f in (failing_late, silent_late, writing_late))
NOT_A_LAW = 3
