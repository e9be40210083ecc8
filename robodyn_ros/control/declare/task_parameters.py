# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of the laws that control a frame of the robot in task space."""

from collections.abc import Sequence
from dataclasses import dataclass

from .setting_fields import choice, matrix, number, numbers, text
from .setting_fields import TASK_RECORD as TASK

#: Axes of stiffness and errors, and projectors of the posture, in the order of their numbers.
TASK_AXES = ('base', 'tool')
NULLSPACE_PROJECTOR = ('dynamic', 'kinematic', 'none')
#: Damping of cartesian_impedance, likewise.
TASK_DAMPING_DESIGN = ('double_diagonalization', 'unit_inertia', 'given')


@dataclass(frozen=True)
class TaskParameters:
    """Task of cartesian_impedance and operational_space, and the motion of its reference."""

    task_frame: str = text('Link that cartesian_impedance and operational_space control: its '
                           'origin and axes.')
    task_stiffness: Sequence[float] = matrix(
        'N/m, N·m/rad', 1e5, 'Stiffness of cartesian_impedance along and about x, y and z of '
        '`task_axes`, 0 frees an axis; or all 36 elements of a symmetric, positive semi-definite '
        'matrix by rows.', (500.0, 500.0, 500.0, 30.0, 30.0, 30.0), record=TASK)
    task_damping_ratio: float = number(
        1.0, '', 0.0, 2.0, 'Damping ratio ζ of cartesian_impedance, see `task_damping_design`.',
        record=TASK)
    task_damping_design: str = choice(
        TASK_DAMPING_DESIGN, 'Damping of cartesian_impedance: by double diagonalisation, of the '
        'ratio ζ in each mode of arm and spring; 2 ζ √K, as for an inertia of 1 kg and '
        '1 kg·m²; or `task_damping` as it is given.', record=TASK)
    task_damping: Sequence[float] = matrix(
        'N·s/m, N·m·s/rad', 1e4, 'Damping of cartesian_impedance along and about each axis of '
        '`task_axes`, or 36 elements as of `task_stiffness`, where `task_damping_design` is '
        'given.',
        (45.0, 45.0, 45.0, 11.0, 11.0, 11.0), record=TASK)
    task_selection: Sequence[float] = numbers(
        '', 0.0, 1.0, '1 for each axis along and about x, y and z of `task_axes` that task-space '
        'laws control; 0: it is left to the posture of the joints and to `~/target_wrench`.',
        (1.0,) * 6, record=TASK)
    task_error_limit: Sequence[float] = numbers(
        'm, rad', 1e-3, 3.0, 'Distance and angle from the reference up to which the force of '
        'task-space laws grows; in cartesian_impedance in the stiffest direction, in softer ones '
        'up to the same energy.', (0.1, 0.5), record=TASK)
    task_axes: str = choice(TASK_AXES, 'Axes of stiffness, gains and selection: those of the '
                            'base, or of `task_frame`.', record=TASK)
    task_kp: Sequence[float] = numbers(
        '1/s²', 0.0, 1e5, 'Position gain of operational_space along and about x, y and z of '
        '`task_axes`.', (100.0,) * 6, record=TASK)
    task_kd: Sequence[float] = numbers(
        '1/s', 0.0, 1e4, 'Velocity gain of operational_space, likewise.', (20.0,) * 6,
        record=TASK)
    task_singularity_damping: float = number(
        1e-3, '', 1e-6, 1.0, 'Damping of the task inertia of operational_space near singular '
        'poses, as a fraction of the mobility of each axis.', record=TASK)
    tank_energy: float = number(
        1.0, 'J', 0.0, 100.0, 'Energy that a stiffness of `~/target_stiffness` which rises under '
        'load may add, beyond what damping and softening have taken.', record=TASK)
    nullspace_projector: str = choice(
        NULLSPACE_PROJECTOR, 'Projector of the efforts that hold the posture: dynamic, so that '
        'they do not accelerate `task_frame`; kinematic, so that they cause no force there at '
        'rest; none: they act against the task.', record=TASK)
    task_velocity_limit: Sequence[float] = numbers(
        'm/s, rad/s', 1e-3, 2.0, 'Maximum velocity of the reference pose, along and about each '
        'axis of the base; targets that jump are approached within it.', (0.25, 1.0))
    task_acceleration_limit: Sequence[float] = numbers(
        'm/s², rad/s²', 1e-2, 20.0, 'Maximum acceleration of the same.', (1.0, 4.0))
    task_jerk_limit: Sequence[float] = numbers(
        'm/s³, rad/s³', 1e-1, 1e3, 'Maximum jerk of the same.', (10.0, 40.0))
    task_wrench_limit: Sequence[float] = numbers(
        'N, N·m', 0.0, 1e4, 'Force and torque up to which `~/target_wrench` is accepted.',
        (50.0, 10.0))
    wrench_timeout: float = number(
        0.2, 's', 0.01, 2.0, 'Time from a message on `~/target_wrench` after which its wrench '
        'fades, within 0.1 s.')
    twist_timeout: float = number(
        0.2, 's', 0.01, 2.0, 'Time from a message on `~/target_twist` after which the reference '
        'decelerates to rest.')
