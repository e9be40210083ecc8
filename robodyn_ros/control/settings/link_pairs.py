# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Pairs of links whose distance is watched, and their capsules.

Links of one body, neighbours at a joint and pairs allowed by the settings are not watched, nor are
pairs that are too close at all of SAMPLED_POSES poses (reason *Always* in an SRDF).
"""

from functools import lru_cache
import logging
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray

from ..inputs.bounds import Bounds
from ..steps import self_collision
from ...dynamics.model_data import frame_record, ModelData, parameters, workspace
from ...errors import close_names, ParameterError
from ...model.capsules import link_capsules, segment
from ...model.robot import RobotModel, spread

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


def with_self_collision(bounds: Bounds, model: RobotModel, distance: float, allowed: str
                        ) -> Bounds:
    """
    Return bounds that keep the links apart.

    :param distance: least distance [m]; ``allowed`` as the parameter self_collision_allowed.
    :raises ParameterError: no two links have shapes, or ``allowed`` names no two links.
    """
    watched = watched_pairs(model, distance, allowed)
    return _with(bounds, model, watched, distance)


def _with(bounds: Bounds, model: RobotModel, watched: Watched, distance: float) -> Bounds:
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
    """Return the pairs that :func:`with_self_collision` watches; it takes a second, once."""
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
            raise ParameterError(f'{ALLOWED_PARAMETER}: {" ".join(words)!r} is no pair',
                                 name=ALLOWED_PARAMETER, value=text, remedy='write two links a '
                                 'pair, with commas between the pairs: link3 link5, link4 hand')
        found.add(frozenset(words))
    return found


def _always(model: RobotModel, robot: ModelData, watched: Watched, distance: float) -> ndarray:
    """Return which pairs (P,) are within a distance at all sampled poses."""
    fields = np.recarray
    bounds = _with(Bounds.none(model.nv), model, watched, distance)
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
