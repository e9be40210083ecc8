# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Plan of the contact scene: the tool, how far a push moves it, where a hand leads, the post."""

from typing import NamedTuple

import numpy as np
from numpy import ndarray

from ..control.references.sine_motion import (
    MAX_DISTANCE_SHARE, MAX_EFFORT_SHARE, MAX_VELOCITY_SHARE, reference, STRETCH, WAYPOINTS)
from ..control.references.trajectory import QUINTIC_PEAK_RATIO, Waypoints
from ..control.settings.settings import Settings
from ..control.settings.task_and_bounds import reach
from ..dynamics import Dynamics
from ..errors import DemoError, ParameterError
from ..model.robot import RobotModel

STIFFNESS = 500.0, 500.0, 500.0, 30.0, 30.0, 30.0     # N/m, N·m/rad: CRISP's defaults
SOFTENING, MIN_STIFFNESS_SHARE = 0.7, 0.02     # factors of STIFFNESS: step, minimum
PUSH_DISPLACEMENT = 0.02    # [m] of the tool, at most
# In effort limits: against more, which comes at once, efforts that rise at `effort_rate_limit`
# are too late to hold a light arm
MAX_PUSH_EFFORT = 0.15
GUIDED_DISTANCE = 0.12    # [m]
STROKE_LENGTH = 0.3    # [m] of the motion into the post
CONTACT_SHARE = 0.6    # of the stroke at which the tool meets the post
MAX_TOOL_SPEED = 0.4    # [m/s] in that motion
HAND_TIME_CONSTANT = 0.3    # [s] of the hand and the damped arm
RANK_TOLERANCE = 1e-3    # of singular values, relative to the largest


class Tool(NamedTuple):
    """Frame of the robot that things happen to, and the direction that it moves in best."""

    frame: str
    position: ndarray           # (3,) [m] in the initial pose, in base axes
    direction: ndarray          # (3,) of length 1
    joints: ndarray             # (nv,) [rad/m | m/m] motion of the joints per motion of the tool


def tool(dynamics: Dynamics, pose: ndarray) -> Tool:
    """
    Return the frame at the end of the longest chain, and its direction of highest manipulability.

    That is the first left singular vector of the Jacobian of its position (Siciliano et al., 2009,
    section 3.9), to the side on which the limits of the joints leave more room.
    """
    model = dynamics.model
    frame = max((name for name, f in model.frames.items() if f.body >= 0),
                key=lambda name: reach(model, name)[1])
    U, S, V = np.linalg.svd(dynamics.jacobian(pose, frame, reference='aligned')[:3])
    sides = [Tool(frame, dynamics.pose(pose, frame)[:3, 3], sign * U[:, 0],
                  sign * V[0] / max(S[0], 1e-9)) for sign in (1.0, -1.0)]
    return max(sides, key=lambda side: _room(model, pose, side.joints))


def _room(model: RobotModel, pose: ndarray, joints: ndarray) -> float:
    """Return how far [m] the tool may go until a joint has used OF_ROOM of the way to a limit."""
    room = np.where(joints > 0, model.position_upper - pose, pose - model.position_lower)
    moved = np.abs(joints) > RANK_TOLERANCE * np.abs(joints).max()
    return float((MAX_DISTANCE_SHARE * room[moved] / np.abs(joints[moved])).min())


def task_gains(model: RobotModel, frame: str) -> dict[str, list[float] | str]:
    """
    Return stiffness and frame of cartesian_impedance: STIFFNESS, or as much as is accepted.

    :raises DemoError: not even MIN_STIFFNESS_SHARE of it is stable with this robot.
    """
    share = 1.0
    while True:
        stiffness = [share * k for k in STIFFNESS]
        try:
            Settings(mode='cartesian_impedance', task_frame=frame,
                     task_stiffness=stiffness).check_gains(model)
        except ParameterError as error:
            share *= SOFTENING
            if share < MIN_STIFFNESS_SHARE:
                raise DemoError(f'{model.name} cannot be held in task space: {error}', name=frame,
                                remedy='run the demo without --scene contact') from error
        else:
            return {'task_frame': frame, 'task_stiffness': stiffness}


class Push(NamedTuple):
    """Force on the tool, what it is for the joints, and how far it moves the tool."""

    force: ndarray              # (3,) [N] in base axes
    efforts: ndarray            # (nv,) [N·m | N] Jᵀ F
    moved: float                # m, along the force
    tolerance: float            # m, what Coulomb friction may change that by


def push(dynamics: Dynamics, pose: ndarray, at: Tool, stiffness: list[float]) -> Push:
    """
    Return the push that moves the tool by PUSH_DISPLACEMENT against the Cartesian spring.

    It is smaller where a joint would need more than MAX_PUSH_EFFORT.

    The joints yield by δq with Jᵀ K J δq = Jᵀ F, so that the tool moves by F / K in as many
    directions as the arm has joints for.
    """
    J = dynamics.jacobian(pose, at.frame, reference='aligned')
    yielding = np.linalg.pinv(J.T @ np.diag(stiffness) @ J, rcond=RANK_TOLERANCE**2)
    along = J[:3].T @ at.direction
    compliance = float(along @ yielding @ along)
    share = float((np.abs(along) / dynamics.model.effort_limit).max())
    moved = min(PUSH_DISPLACEMENT, MAX_PUSH_EFFORT / share * compliance)
    force = moved / compliance * at.direction
    stuck = np.abs(along @ yielding) @ dynamics.model.coulomb_friction
    return Push(force, J[:3].T @ force, moved, float(stuck))


def hand(dynamics: Dynamics, pose: ndarray, at: Tool, damping: float) -> tuple[float, float]:
    """
    Return the stiffness [N/m] of a hand that leads the tool with HAND_TIME_CONSTANT.

    The joints are damped: a force F along the direction moves the tool at J D⁻¹ Jᵀ F. The second
    result is how far from the hand [m] Coulomb friction may hold the tool.

    :param damping: of every joint [N·m·s/rad | N·s/m], in addition to the model's.
    """
    along = dynamics.jacobian(pose, at.frame, reference='aligned')[:3].T @ at.direction
    mobility = along @ (along / (damping + dynamics.model.viscous_friction))
    stiffness = 1.0 / (HAND_TIME_CONSTANT * float(mobility))
    felt = np.abs(along) > RANK_TOLERANCE * np.abs(along).max()
    stuck = (dynamics.model.coulomb_friction[felt] / np.abs(along[felt])).min()
    return stiffness, float(stuck) / stiffness


def guided(model: RobotModel, pose: ndarray, at: Tool) -> float:
    """Return how far the hand leads the tool [m]."""
    return min(GUIDED_DISTANCE, _room(model, pose, at.joints))


class Impact(NamedTuple):
    """Motion of the joints into a post, and the post."""

    asked: Waypoints
    surface: ndarray            # (3,) [m] in base axes
    normal: ndarray             # (3,) against the motion of the tool
    speed: float                # m/s of the tool at the contact


def impact(dynamics: Dynamics, pose: ndarray, at: Tool) -> Impact:
    """
    Return a motion of STROKE_LENGTH from ``pose``, at rest at both ends, and the post in its way.

    It is a quintic polynomial, as slow as the limits of velocity and effort, and MAX_TOOL_SPEED,
    require.

    :raises DemoError: the slowest motion exceeds an effort limit.
    """
    model, rest = dynamics.model, np.zeros((2, len(pose)))
    stroke = min(STROKE_LENGTH, _room(model, pose, at.joints))
    delta = stroke * at.joints
    highest = MAX_VELOCITY_SHARE * model.velocity_limit
    duration = QUINTIC_PEAK_RATIO * max(stroke / MAX_TOOL_SPEED,
                                        float((np.abs(delta) / highest).max()))
    for _ in range(20):
        asked = Waypoints(model.joint_names, np.array([0.0, duration]),
                          np.array([pose, pose + delta]), rest, rest)
        q, time = reference(model, asked), np.linspace(0.0, duration, WAYPOINTS)
        efforts = np.abs([dynamics.inverse_dynamics(q(t), q(t, 1), q(t, 2)) for t in time])
        if (efforts <= MAX_EFFORT_SHARE * model.effort_limit).all():
            break
        duration *= STRETCH
    else:
        raise DemoError('the motion into the post exceeds an effort limit', name=model.name,
                        remedy='begin at another pose: --at V1,V2,...')
    contact = np.interp(CONTACT_SHARE * delta @ delta, (q(time) - pose) @ delta, time)
    J = dynamics.jacobian(q(contact), at.frame, reference='aligned')
    velocity = J[:3] @ q(contact, 1)
    speed = float(np.linalg.norm(velocity))
    return Impact(asked, dynamics.pose(q(contact), at.frame)[:3, 3], -velocity / speed, speed)
