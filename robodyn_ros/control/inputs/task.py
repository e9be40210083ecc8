# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Task of a control law, and bounds of the motion in space.

A task is a frame of the robot, and the pose that it is to have. The regions of the body are those
of ISO/TS 15066:2016, Annex A. The greatest force of a transient contact is the quasi-static one of
table A.2 times its multiplier of 2; stiffness and effective mass are those of table A.3. Skull,
forehead and face are left out: the specification permits no transient contact with them.

Compared, value by value, with the forces of A.2 and the springs and masses of A.3 that public
implementations of power and force limiting quote (a safety controller for handovers of UR arms,
and simulations of collisions with pedestrians): they agree. The specification itself decides.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy import ndarray

from ..declare import choice, matrix, number, numbers, record_dtype, TASK_RECORD, text
from ...dynamics.model_data import no_frame

#: Axes of stiffness and errors, in the order of their numbers.
TASK_AXES = ('base', 'tool')
BASE_AXES, TOOL_AXES = range(len(TASK_AXES))
#: Projectors of the posture, in the order of their numbers.
NULLSPACE_PROJECTOR = ('dynamic', 'kinematic', 'none')
DYNAMIC, KINEMATIC, UNPROJECTED = range(len(NULLSPACE_PROJECTOR))
#: Damping of cartesian_impedance, in the order of their numbers.
TASK_DAMPING_DESIGN = ('double_diagonalization', 'unit_inertia', 'given')
MODES, UNIT_INERTIA, GIVEN = range(len(TASK_DAMPING_DESIGN))


@dataclass(frozen=True)
class Parameters:
    """Task of cartesian_impedance and operational_space, and the motion of its reference."""

    task_frame: str = text('Link whose frame task-space laws control.')
    task_stiffness: Sequence[float] = matrix(
        'N/m, N·m/rad', 1e5, 'Stiffness of cartesian_impedance along and about x, y, z, or a 6×6 '
        'matrix.', (500.0, 500.0, 500.0, 30.0, 30.0, 30.0), record=TASK_RECORD)
    task_damping_ratio: float = number(
        1.0, '', 0.0, 2.0, 'Damping ratio ζ of cartesian_impedance.', record=TASK_RECORD)
    task_damping_design: str = choice(
        TASK_DAMPING_DESIGN, 'Damping of cartesian_impedance: ratio ζ in each mode; 2 ζ √K; or '
        '`task_damping`.', record=TASK_RECORD)
    task_damping: Sequence[float] = matrix(
        'N·s/m, N·m·s/rad', 1e4, 'Damping of cartesian_impedance with `task_damping_design: '
        'given`.', (45.0, 45.0, 45.0, 11.0, 11.0, 11.0), record=TASK_RECORD)
    task_selection: Sequence[float] = numbers(
        '', 0.0, 1.0, '1 for each controlled axis, 0 for a free one.', (1.0,) * 6,
        record=TASK_RECORD)
    task_error_limit: Sequence[float] = numbers(
        'm, rad', 1e-3, 3.0, 'Distance and angle from the reference beyond which the force stays '
        'constant.', (0.1, 0.5), record=TASK_RECORD)
    task_axes: str = choice(
        TASK_AXES, 'Axes of stiffness, gains and selection: of the base or of `task_frame`.',
        record=TASK_RECORD)
    task_kp: Sequence[float] = numbers(
        '1/s²', 0.0, 1e5, 'Position gain of operational_space along and about x, y, z.',
        (100.0,) * 6, record=TASK_RECORD)
    task_kd: Sequence[float] = numbers(
        '1/s', 0.0, 1e4, 'Velocity gain of operational_space.', (20.0,) * 6, record=TASK_RECORD)
    task_singularity_damping: float = number(
        1e-3, '', 1e-6, 1.0, 'Damping of operational_space near singular poses, relative to the '
        'mobility.', record=TASK_RECORD)
    tank_energy: float = number(
        1.0, 'J', 0.0, 100.0, 'Energy that a rising `~/target_stiffness` may add under load.',
        record=TASK_RECORD)
    nullspace_projector: str = choice(
        NULLSPACE_PROJECTOR, 'Projector of the posture: no acceleration of `task_frame`, no '
        'static force, none.', record=TASK_RECORD)
    task_velocity_limit: Sequence[float] = numbers(
        'm/s, rad/s', 1e-3, 2.0, 'Maximum velocity of the reference pose.', (0.25, 1.0))
    task_acceleration_limit: Sequence[float] = numbers(
        'm/s², rad/s²', 1e-2, 20.0, 'Maximum acceleration of the reference pose.', (1.0, 4.0))
    task_jerk_limit: Sequence[float] = numbers(
        'm/s³, rad/s³', 1e-1, 1e3, 'Maximum jerk of the reference pose.', (10.0, 40.0))
    task_wrench_limit: Sequence[float] = numbers(
        'N, N·m', 0.0, 1e4, 'Largest force and torque accepted on `~/target_wrench`.',
        (50.0, 10.0))
    wrench_timeout: float = number(
        0.2, 's', 0.01, 2.0, 'Time after a `~/target_wrench` until it fades.')
    twist_timeout: float = number(
        0.2, 's', 0.01, 2.0, 'Time after a `~/target_twist` until the reference stops.')


# Settings of laws that control a frame in task space: the parameters declared for this record.
TASK = np.dtype(record_dtype(Parameters, TASK_RECORD))


class Task(NamedTuple):
    """
    Task as the laws read it; poses, velocities and accelerations are in the axes of the base.

    Velocities and accelerations are those of the origin of the frame [m/s] and angular ones
    [rad/s], (6,).
    """

    settings: ndarray       # (1,) TASK
    frame: ndarray          # (1,) FRAME that is controlled
    pose: ndarray           # (4, 4) of the frame
    jacobian: ndarray       # (6, nv) of the frame
    target: ndarray         # (4, 4) its reference, with the velocity and acceleration below
    velocity: ndarray
    acceleration: ndarray
    wrench: ndarray         # (6,) [N, N·m] that the frame is to exert, in the axes of the base
    stiffness: ndarray      # (6, 6) that is asked for, in the axes of the settings
    scratch: ndarray        # (4, 6, 6) workspace of the laws
    vector: ndarray         # (4, 6) workspace
    columns: ndarray        # (nv, 6) workspace
    effort: ndarray         # (nv,) workspace
    # (1,) int64, address of the kernel of pose and Jacobian of the frame, or 0
    kernel: ndarray

    @classmethod
    def of(cls, settings: ndarray, frame: ndarray, nv: int) -> 'Task':
        """Return a task of these settings, its arrays zero."""
        return cls(settings, frame, np.eye(4), np.zeros((6, nv)), np.eye(4), np.zeros(6),
                   np.zeros(6), np.zeros(6), np.zeros((6, 6)), np.zeros((4, 6, 6)),
                   np.zeros((4, 6)), np.zeros((nv, 6)), np.zeros(nv), np.zeros(1, np.int64))


class Region(NamedTuple):
    """
    Body region in a transient contact.

    ``force`` [N], the greatest that is permitted; ``stiffness`` [N/m]; ``mass`` [kg], effective.
    """

    force: float
    stiffness: float
    mass: float


REGIONS = {
    'neck': Region(300.0, 50e3, 1.2),
    'back_and_shoulders': Region(420.0, 35e3, 40.0),
    'chest': Region(280.0, 25e3, 40.0),
    'abdomen': Region(220.0, 10e3, 40.0),
    'pelvis': Region(360.0, 25e3, 40.0),
    'upper_arms': Region(300.0, 30e3, 3.0),
    'lower_arms': Region(320.0, 40e3, 2.0),
    'hands': Region(280.0, 75e3, 0.6),
    'thighs': Region(440.0, 50e3, 75.0),
    'lower_legs': Region(260.0, 60e3, 75.0),
}


#: Body regions that the speed of references may be limited for.
CONTACT_REGION = ('none', *REGIONS)


@dataclass(frozen=True)
class BoundParameters:
    """Bounds that references are slowed down for."""

    contact_region: str = choice(
        CONTACT_REGION, 'Body region of ISO/TS 15066 that limits the speed of references. Not a '
        'certified safety function.')
    tool_speed_limit: float = number(
        0.0, 'm/s', 0.0, 100.0, 'Maximum speed of the origin of `task_frame` along references. 0: '
        'unlimited.')
    workspace_lower: Sequence[float] = numbers(
        'm', -100.0, 100.0, 'Lower corner of the workspace of `task_frame` in the base. Empty: '
        'unlimited.')
    workspace_upper: Sequence[float] = numbers(
        'm', -100.0, 100.0, 'Upper corner. Empty: unlimited.')
    workspace_planes: Sequence[float] = numbers(
        '1, m', -100.0, 100.0, 'Up to 8 planes n · p <= b that bound the workspace, four numbers '
        'each.')
    workspace_stiffness: float = number(
        1000.0, 'N/m', 0.0, 1e5, 'Stiffness of the workspace walls in hand_guiding.')
    self_collision_distance: float = number(
        0.0, 'm', 0.0, 1.0, 'Minimum distance of links that are not adjacent. 0: not monitored.')
    self_collision_allowed: str = text('Pairs of links exempt from it: `link3 link5, link4 hand`.')


class Bounds(NamedTuple):
    """Bounds of the motion; an array without rows is no bound."""

    tool: ndarray           # (1,) FRAME whose origin is bounded
    planes: ndarray         # (P, 4) normal out of the workspace, and distance b [m]: n · p <= b
    speed: ndarray          # (1,) [m/s] of the tool, infinite without a limit
    walls: ndarray          # (1,) [N/m] stiffness of the planes in hand guiding
    region: ndarray         # (0 or 3,) force [N], stiffness [N/m], mass [kg] of the body region
    points: ndarray         # (N,) FRAME whose origins may run into it
    rate: ndarray           # (nv,) workspace: velocity of the reference on its own clock
    vector: ndarray         # (2, nv) workspace
    pose: ndarray           # (4, 4) workspace
    clearance: ndarray      # (1,) [m] least distance between links
    carriers: ndarray       # (C,) body of each capsule, nb for the base
    capsules: ndarray       # (C, 7) both ends of its segment in the frame of the body, radius [m]
    pairs: ndarray          # (P, 2) capsules whose distance is watched
    motion: ndarray         # (nb + 1, 18) workspace: see self_collision.place_bodies
    ends: ndarray           # (C, 6) workspace: ends of the segments in the frame of the base [m]
    nearest: ndarray        # (2,) pair that bounded a motion last, -1 for none, and distance [m]

    @classmethod
    def none(cls, nv: int) -> 'Bounds':
        """Return empty bounds."""
        return cls(no_frame(), np.zeros((0, 4)), np.full(1, np.inf), np.zeros(1), np.zeros(0),
                   no_frame()[:0], np.zeros(nv), np.zeros((2, nv)), np.eye(4), np.zeros(1),
                   np.zeros(0, np.int64), np.zeros((0, 7)), np.zeros((0, 2), np.int64),
                   np.zeros((0, 18)), np.zeros((0, 6)), np.array([-1.0, np.inf]))
