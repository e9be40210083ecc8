# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Task and bounds of the motion that the settings ask for, checked against the robot.

Links of one body, neighbours at a joint and pairs allowed by the settings are not watched, nor are
pairs that are too close at all of SAMPLED_POSES poses (reason *Always* in an SRDF).
"""

from __future__ import annotations

from functools import lru_cache
import logging
from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np
from numpy import ndarray

from ..inputs.task import Bounds, REGIONS, Task
from ..laws.law import POSE
from ..steps import self_collision
from ...dynamics.model_data import frame_record, ModelData, no_frame, parameters, workspace
from ...dynamics.specialize import kernel_address
from ...errors import close_names, ParameterError, UnknownNameError
from ...model.capsules import link_capsules, segment
from ...model.robot import RobotModel, spread

if TYPE_CHECKING:
    from .settings import Settings


def task_of(settings: Settings, model: RobotModel, robot: ModelData) -> Task:
    """
    Return the task of the settings; of a law that follows no pose, one that is not used.

    :raises ParameterError: the law needs ``task_frame``, and the model has no such frame, or it
        does not move.
    """
    frame = no_frame()
    if settings.law_in_force.reference == POSE:
        name, known = settings.task_frame, ', '.join(
            key for key, value in model.frames.items() if value.body >= 0)
        try:
            body = model.frame(name).body if name else -1
        except UnknownNameError as error:
            raise ParameterError(f'task_frame = {name!r} is not a link of {model.name}',
                                 name='task_frame', value=name,
                                 remedy=f'choose one of {known}') from error
        if body < 0:
            raise ParameterError(
                f'mode {settings.mode} needs a frame to control, and '
                + (f'{name} does not move' if name else 'task_frame is not set'),
                name='task_frame', value=name, remedy=f'choose one of {known}')
        frame = frame_record(model, robot, name)
    return Task.of(settings.task_record(), frame, model.nv)


class FrameKernel:
    """
    Compiled pose and Jacobian of ``task_frame`` of one robot, as a task has it.

    A controller makes it once, whatever the law: another one may be chosen later.
    """

    def __init__(self, settings: Settings, model: RobotModel, robot: ModelData):
        frame = model.frames.get(settings.task_frame)
        self._frame, self._code = b'', np.zeros(1, np.int64)
        if frame is not None and frame.body >= 0:
            record = frame_record(model, robot, settings.task_frame)
            self._frame = record.tobytes()
            self._code = np.array(
                [kernel_address('pose_and_jacobian', robot, {'frame': record})], np.int64)

    def given_to(self, task: Task) -> Task:
        """Return the task with the kernel, or as it is if its frame is another one."""
        return task._replace(kernel=self._code) if task.frame.tobytes() == self._frame else task


def reach(model: RobotModel, name: str) -> tuple[ndarray, float]:
    """
    Return a point of the base (3,) [m] from which the origin of a frame is never further than [m].

    It is the first joint of the chain; the distance, its stretched length, is a bound that limits
    of the joints may keep the arm far from.
    """
    frame = model.frame(name)
    length, i = float(np.linalg.norm(frame.origin)), frame.body
    while i >= 0:
        if model.body_slides[i]:
            k = model.driver[i]
            length += float(max(abs(model.ratio[i] * limit + model.shift[i]) for limit in (
                model.position_lower[k], model.position_upper[k])))
        if model.parent[i] < 0:
            return model.joint_origin[i], length
        length += float(np.linalg.norm(model.joint_origin[i]))
        i = int(model.parent[i])
    return np.zeros(3), length


MAX_PLANES = 8


def workspace_planes(settings: Any) -> ndarray:
    """
    Return the planes (P, 4) of the workspace: unit normals out of it, and distances [m].

    :raises ParameterError: a list of the wrong length, a normal without a direction, a box without
        a volume, or too many planes.
    """
    rows: list[Any] = []
    box: dict[str, ndarray] = {}
    for name, sign in (('workspace_lower', -1.0), ('workspace_upper', 1.0)):
        corner = np.asarray(getattr(settings, name), float)
        if corner.size not in (0, 3):
            raise ParameterError(f'parameter {name} has {corner.size} values', name=name,
                                 value=corner.tolist(), remedy='use x, y and z')
        box[name] = corner
        rows += [[*(sign * np.eye(3)[i]), sign * corner[i]] for i in range(corner.size)]
    lower, upper = box.values()
    if lower.size and upper.size and not (lower < upper).all():
        raise ParameterError('the workspace has no volume', name='workspace_lower',
                             value=lower.tolist(), remedy='use less than workspace_upper')
    given = np.asarray(settings.workspace_planes, float)
    if given.size % 4 or given.size > 4 * MAX_PLANES:
        raise ParameterError(f'workspace_planes has {given.size} numbers', name='workspace_planes',
                             value=given.tolist(),
                             remedy=f'pass four numbers per plane, of at most {MAX_PLANES} planes')
    for plane in given.reshape(-1, 4):
        if not (length := float(np.linalg.norm(plane[:3]))) > 1e-6:
            raise ParameterError('a plane of workspace_planes has no normal',
                                 name='workspace_planes', value=plane.tolist(),
                                 remedy='use nx, ny, nz and b, with a normal that is not zero')
        rows.append(plane / length)
    return np.array(rows, float).reshape(len(rows), 4)


def coincidence(planes: ndarray) -> float:
    """
    Return how many times stiffer than one plane several of them are together, at most.

    The stiffness of planes that a point is beyond at once is Σ n nᵀ, whose greatest eigenvalue is
    that of the Gram matrix of the normals: at most its largest row sum (Gershgorin). Planes that
    face each other do not act together.
    """
    if not len(planes):
        return 1.0
    return float(np.maximum(planes[:, :3] @ planes[:, :3].T, 0.0).sum(1).max())


MIN_POINT_DISTANCE = 1e-3    # m; points of a body that are closer are one


def bounds_of(settings: Settings, model: RobotModel, robot: ModelData) -> Bounds:
    """
    Return the bounds of the settings.

    :raises ParameterError: a bound of the tool without a ``task_frame`` that moves; a box or a
        plane that is invalid or leaves no room; a distance of links without shapes.
    """
    bounds, planes = Bounds.none(model.nv), workspace_planes(settings)
    if len(planes) or settings.tool_speed_limit:
        name = settings.task_frame
        try:
            moves = bool(name) and model.frame(name).body >= 0
        except UnknownNameError:
            moves = False
        if not moves:
            raise ParameterError(
                f'the motion of the tool is bounded, and task_frame = {name!r} is not a link that '
                'moves', name='task_frame', value=name, remedy='name the link that is the tool')
        bounds = bounds._replace(
            tool=frame_record(model, robot, name), planes=planes,
            speed=np.array([settings.tool_speed_limit or np.inf]),
            walls=np.array([settings.workspace_stiffness]))
    if settings.contact_region != 'none':
        bounds = bounds._replace(region=np.array(REGIONS[settings.contact_region], float),
                                 points=contact_points(model, robot))
    if settings.self_collision_distance:
        distance = settings.self_collision_distance
        bounds = with_self_collision(bounds, model, distance, watched_pairs(
            model, distance, settings.self_collision_allowed))
    return bounds


def contact_points(model: RobotModel, robot: ModelData) -> ndarray:
    """
    Return points of the links that may hit a person, as (N,) FRAME.

    They are the origins of all moving frames, which include both ends of each link: no point
    between them is faster.
    """
    names: list[str] = []
    seen: list[ndarray] = []
    for name, frame in model.frames.items():
        place = np.array([float(frame.body), *frame.origin])
        if frame.body >= 0 and all(
                place[0] != s[0] or np.linalg.norm(place - s) > MIN_POINT_DISTANCE for s in seen):
            seen.append(place)
            names.append(name)
    points = np.concatenate([frame_record(model, robot, name) for name in names])
    points.setflags(write=False)
    return points


SAMPLED_POSES = 64    # spread over the position limits
DISTANCE_PARAMETER, ALLOWED_PARAMETER = 'self_collision_distance', 'self_collision_allowed'

_log = logging.getLogger(__name__)


class Watched(NamedTuple):
    """Capsules, pairs of them, and the names of their links."""

    carriers: ndarray           # (C,) index of the body, nb for the base
    capsules: ndarray           # (C, 7) both ends in the frame of the body, and radius [m]
    pairs: ndarray              # (P, 2) indices of capsules
    links: tuple[str, ...]      # (C,)
    notes: tuple[str, ...]      # warnings of links that are not watched


def with_self_collision(bounds: Bounds, model: RobotModel, distance: float, watched: Watched
                        ) -> Bounds:
    """Return bounds that keep the watched pairs of links apart by a distance [m]."""
    motion = np.zeros((model.nb + 1, 18))
    motion[-1, [0, 4, 8]] = 1.0
    return bounds._replace(
        carriers=watched.carriers.copy(), capsules=watched.capsules.copy(),
        pairs=watched.pairs.copy(),
        clearance=np.full(1, distance), motion=motion, ends=np.zeros((len(watched.capsules), 6)),
        nearest=np.array([-1.0, np.inf]))


def nearest_links(model: RobotModel, settings: Any, bounds: Bounds) -> str:
    """Return the two links that bounded a motion last, as ' (forearm and hand)'; '' for none."""
    k, distance = int(bounds.nearest[0]), float(bounds.nearest[1])
    if not 0 <= k < len(bounds.pairs):
        return ''
    links = watched_pairs(model, settings.self_collision_distance,
                          settings.self_collision_allowed).links
    a, b = (links[i] for i in bounds.pairs[k])
    return f' ({a} and {b}, {distance:.3f} m apart)'


@lru_cache(8)
def watched_pairs(model: RobotModel, distance: float, allowed: str) -> Watched:
    """
    Return the pairs of links that can be kept apart; it takes a second, once.

    :param distance: least distance [m]; ``allowed`` as the parameter self_collision_allowed.
    :raises ParameterError: no two links have shapes, or ``allowed`` names no two links.
    """
    robot = parameters(model)
    shapes, problems = link_capsules(model)
    carriers = np.zeros(len(shapes), np.int64)
    capsules = np.zeros((len(shapes), 7))
    for k, one in enumerate(shapes):
        frame = frame_record(model, robot, one.link)[0]
        R, p = frame['rotation'].reshape(3, 3), frame['origin']
        carriers[k] = frame['body']
        begin, end = segment(one)
        capsules[k] = *(R @ begin + p), *(R @ end + p), one.size[0]
    links = tuple(one.link for one in shapes)
    bare = [name for name, frame in model.frames.items()
            if frame.body >= 0 and name in model.link_names and name not in links]
    notes = [f'{text}; {DISTANCE_PARAMETER} does not watch it' for text in problems]
    if bare and links:
        notes.append(f'no collision shape, which {DISTANCE_PARAMETER} could watch, has '
                     + ', '.join(bare))
    free = _allowed(model, allowed)
    pairs = np.array([
        (a, b) for b in range(len(links)) for a in range(b)
        if _apart(robot, int(carriers[a]), int(carriers[b]))
        and frozenset((links[a], links[b])) not in free], np.int64).reshape(-1, 2)
    if not free:
        _require(pairs, distance, problems)
    watched = Watched(carriers, capsules, pairs, links, ())
    always = _always(model, robot, watched, distance)
    if always.any():
        notes.append('always within the self_collision_distance, and not watched: ' + ', '.join(
            f'{links[a]} and {links[b]}' for a, b in pairs[always]))
    for text in notes:
        _log.warning('%s', text)
    kept = pairs[~always]
    return Watched(carriers, capsules, kept, links, tuple(notes))


def _require(pairs: ndarray, distance: float, problems: tuple[str, ...]) -> None:
    """Refuse a distance if there are no pairs (P, 2)."""
    if len(pairs) == 0:
        raise ParameterError(
            f'{DISTANCE_PARAMETER} = {distance:g} m, and there are no two links with collision '
            f'shapes that are not neighbours{": " + problems[0] if problems else ""}',
            name=DISTANCE_PARAMETER, value=distance,
            remedy='give the links <collision> shapes in the URDF, or set it to 0')


def _apart(robot: ModelData, a: int, b: int) -> bool:
    """Return whether two bodies are neither one nor neighbours at a joint."""
    nb, parent = len(robot.bodies), robot.bodies['parent']
    return a != b and not (a < nb and parent[a] == b) and not (b < nb and parent[b] == a)


def _allowed(model: RobotModel, text: str) -> set[frozenset[str]]:
    """Return the pairs of a text, two names of links each, separated by commas."""
    found = set()
    for words in filter(None, (part.split() for part in text.split(','))):
        for name in words:
            if name not in model.frames:
                close = close_names(name, model.frame_names)
                raise ParameterError(
                    f'{ALLOWED_PARAMETER}: {model.name} has no link {name!r}',
                    name=ALLOWED_PARAMETER, value=text,
                    remedy=f'did you mean {" or ".join(close)}?' if close else
                    f'choose from {", ".join(model.frame_names)}')
        if len(words) != 2:
            raise ParameterError(f'{ALLOWED_PARAMETER}: {" ".join(words)!r} is not a pair',
                                 name=ALLOWED_PARAMETER, value=text, remedy='write two links a '
                                 'pair, with commas between the pairs: link3 link5, link4 hand')
        found.add(frozenset(words))
    return found


def _always(model: RobotModel, robot: ModelData, watched: Watched, distance: float) -> ndarray:
    """Return which pairs (P,) are within a distance at all sampled poses."""
    fields = np.recarray
    bounds = with_self_collision(Bounds.none(model.nv), model, distance, watched)
    work = workspace(model)
    robot = robot._replace(bodies=robot.bodies.view(fields))
    work = work._replace(bodies=work.bodies.view(fields), joints=work.joints.view(fields))
    close = np.ones(len(watched.pairs), bool)
    for q in spread(model, SAMPLED_POSES):
        if not close.any():
            break
        self_collision.self_collision_share(bounds._replace(pairs=watched.pairs[:0]), robot, work,
                                            q, np.zeros(model.nv))
        for k in np.flatnonzero(close):
            a, b = watched.pairs[k]
            close[k] = self_collision.pair_distance(bounds, int(a), int(b))[0] < distance
    return close
