# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Checks of the units of a model: numbers that no robot has in SI units, but one in others has.

CAD programs export grams, millimetres and kg·mm², and the numbers are syntactically right. Masses,
lengths and inertias are checked together: four features of a model, all of them logarithms, are
compared with those of real robots, for each combination of units. The typical values and the
spreads are those of the 70 robots of example-robot-data that have inertias.

Mass matrix, M(q) = Σ m JᵥᵀJᵥ + JωᵀI Jω, and gravity are computed by definition; the efficient
algorithms are in :mod:`robodyn_ros.dynamics`.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from math import pi
from typing import NamedTuple

import numpy as np
from numpy import ndarray
from urdf_parser_py.urdf import URDF

from .rigid_body import axis_rotation
from .robot import initial_position, MAX_LIMIT, RobotModel

# Median radius of gyration over reach; median density, see _features [kg/m³]; reach [m]; mass in
# motion over the cube of the reach [kg/m³]
TYPICAL = np.log10([0.09, 170.0, 0.8, 14.0])
SPREAD = np.array([0.4, 0.6, 0.5, 0.7])
MASS_UNITS = {'kg': 1.0, 'g': 1e3}
LENGTH_UNITS = {'m': 1.0, 'cm': 1e2, 'mm': 1e3}
INERTIA_UNITS = {'kg·m²': 1.0, 'g·m²': 1e3, 'kg·cm²': 1e4, 'kg·mm²': 1e6, 'g·cm²': 1e7,
                 'g·mm²': 1e9}
UNIT_PENALTY = 4.0    # of each unit that is not SI
MIN_EVIDENCE = 20.0    # improvement of the sum of squares over that of SI units
BALL_VOLUME_RATIO = 4 / 3 * pi * 2.5**1.5    # largest volume over radius of gyration cubed
FAR_CENTER = 1.5, 3.0   # [m], and in lengths of the chain: centers of mass beyond are an error
WIDE_BODY = 1.0, 2.0    # [m], and in radii of gyration
# Mass in motion over the cube of the reach [kg/m³], at least 1 for real robots; with less on at
# most so long a reach [m], masses are placeholders, as CAD programs write them
MIN_MASS_DENSITY, LONG_REACH = 0.01, 5.0
TOO_HEAVY = 10.0        # gravity over the effort limit; at most 4 for real robots
TOO_SLOW = 0.1          # [rad/s² | m/s²] at the effort limit; at least 1.4 for real robots
MAX_TURNS = 4 * pi    # [rad]; larger position limits are probably in degrees, up to
UNLIMITED = 1000.0    # [rad | m], beyond which they mean no limit
MAX_ANGULAR_VELOCITY = 30.0    # [rad/s]; larger velocity limits are then in degrees, too
MAX_RAIL = 25.0    # [m]; larger limits of a prismatic joint are probably in mm
MAX_RPY = 2 * pi + 0.1    # [rad]
SI = 'kg', 'm', 'kg·m²'


def sample_poses(model: RobotModel) -> ndarray:
    """Return the initial pose, the middle of the limits and three poses between, (5, nv)."""
    lower = model.position_lower.clip(-MAX_LIMIT, MAX_LIMIT)
    upper = model.position_upper.clip(-MAX_LIMIT, MAX_LIMIT)
    share = np.random.default_rng(0).uniform(size=(3, model.nv))
    return np.vstack([initial_position(model), (lower + upper) / 2,
                      lower + share * (upper - lower)])


def mass_matrix(model: RobotModel, q: ndarray) -> tuple[ndarray, ndarray]:
    """
    Return M(q) (nv, nv) by definition, and an upper bound of its diagonal (nv,).

    The bound is the inertia of all mass beyond a joint at its distance from the origin of the
    joint, with the contributions of mimic joints added in magnitude.
    """
    n, rotation, origin, axis = model.nb, *_frames(model, q)
    m, most = np.zeros((n, n)), np.zeros(n)
    turns = ~model.body_slides
    for i in range(n):
        path, linear, reach = _motion(model, i, rotation, origin, axis)
        angular = axis[path] * turns[path, None]
        inertia = rotation[i] @ model.inertia[i] @ rotation[i].T
        m[np.ix_(path, path)] += (model.mass[i] * linear @ linear.T
                                  + angular @ inertia @ angular.T)
        most[path] += np.where(turns[path], np.trace(inertia) + model.mass[i]
                               * (reach * reach).sum(1), model.mass[i])
    G = _projection(model)
    return G.T @ m @ G, (np.sqrt(most) @ abs(G))**2


def gravity_effort(model: RobotModel, q: ndarray) -> ndarray:
    """Return g(q) (nv,) [N·m | N] by definition: -Σ m Jᵥᵀ g over the bodies."""
    effort, frames = np.zeros(model.nb), _frames(model, q)
    for i in range(model.nb):
        path, linear, _ = _motion(model, i, *frames)
        effort[path] -= model.mass[i] * linear @ model.gravity_vector
    return _projection(model).T @ effort


def _frames(model: RobotModel, q: ndarray) -> tuple[ndarray, ndarray, ndarray]:
    """Return rotations (nb, 3, 3), origins (nb, 3) and joint axes (nb, 3) of the bodies."""
    n, at_body = model.nb, model.ratio * q[model.driver] + model.shift
    rotation, origin, axis = np.empty((n, 3, 3)), np.empty((n, 3)), np.empty((n, 3))
    slides = model.body_slides
    for i, parent in enumerate(model.parent):
        at, here = (np.eye(3), np.zeros(3)) if parent < 0 else (rotation[parent], origin[parent])
        rotation[i] = at @ model.joint_rotation[i]
        origin[i] = here + at @ model.joint_origin[i]
        axis[i] = rotation[i] @ model.joint_axis[i]
        if slides[i]:
            origin[i] += axis[i] * at_body[i]
        else:
            rotation[i] = rotation[i] @ axis_rotation(model.joint_axis[i], at_body[i])
    return rotation, origin, axis


def _motion(model: RobotModel, i: int, rotation: ndarray, origin: ndarray, axis: ndarray
            ) -> tuple[list[int], ndarray, ndarray]:
    """
    Return the joints that move body i, and what each does to its center of mass.

    :return: indices of the n joints; velocities (n, 3) [m/rad | 1] of the center of mass; its
        position (n, 3) [m] relative to each joint.
    """
    path = [i]
    while model.parent[path[-1]] >= 0:
        path.append(model.parent[path[-1]])
    reach = origin[i] + rotation[i] @ model.com[i] - origin[path]
    turns = ~model.body_slides[path, None]
    return path, np.where(turns, np.cross(axis[path], reach), axis[path]), reach


def _projection(model: RobotModel) -> ndarray:
    """Return G (nb, nv): the rates of all joints are G q̇."""
    G = np.zeros((model.nb, model.nv))
    G[np.arange(model.nb), model.driver] = model.ratio
    return G


class UnitDoubt(NamedTuple):
    """
    Sentence about numbers that are probably in another unit.

    :param dynamic: whether they change efforts: masses, lengths, inertias or effort limits.
    """

    text: str
    dynamic: bool = True


@np.errstate(divide='ignore', over='ignore')      # numbers of any size
def unit_doubts(model: RobotModel) -> list[UnitDoubt]:
    """Return what is probably in other units than m, kg, rad, kg·m², N·m and N."""
    found = [UnitDoubt(text) for text in _body_doubts(model)]
    return found + [UnitDoubt(text, dynamic=False) for text in _limit_doubts(model)]


def angle_warnings(robot: URDF) -> list[str]:
    """Return a warning of rotations in <origin> that are probably in degrees."""
    named = [(f'joint {joint.name!r}', joint.origin) for joint in robot.joints] + [
        (f'link {link.name!r}', link.inertial.origin) for link in robot.links if link.inertial]
    wide = [(name, max(map(abs, origin.rpy))) for name, origin in named
            if origin is not None and origin.rpy and max(map(abs, origin.rpy)) > MAX_RPY]
    if not wide:
        return []
    return [f'rpy of {_some([name for name, _ in wide])} is probably in degrees: up to '
            f'{max(angle for _, angle in wide):.4g} rad']


def _body_doubts(model: RobotModel) -> Iterator[str]:
    """Yield sentences on masses, lengths, inertias and effort limits."""
    chain, center = _chain_length(model), np.linalg.norm(model.com, axis=1)
    far = center > max(FAR_CENTER[0], FAR_CENTER[1] * chain.max())
    if far.any() and chain.any():
        names = [f'link {model.link_names[i]!r}' for i in np.flatnonzero(far)]
        yield (f'centers of mass are probably in cm or mm, not in m: that of {_some(names)} is '
               f'{center.max():.3g} m from the origin of its link, the whole chain is '
               f'{chain.max():.3g} m long')
        center = np.where(far, 0.0, center)
    reach = float((chain + center).max())
    size = f'on a reach of {reach:.3g} m'
    if 0.0 < model.mass.sum() < MIN_MASS_DENSITY * reach**3 and reach < LONG_REACH:
        yield (f'masses are probably placeholders, or in t, not in kg: {model.mass.sum():.3g} kg '
               f'in motion {size}')
        return
    name, radius, density = _bodies(model)
    units = _units(model, reach, radius, density)
    if units[1] != 'm':
        yield (f'lengths are probably in {units[1]}, not in m: the chain reaches {reach:.3g} m '
               f'with {model.mass.sum():.3g} kg in motion')
    if units[0] != 'kg':
        most = f', of at least {np.median(density):.2g} kg/m³' if len(density) else ''
        yield (f'masses are probably in {units[0]}, not in kg: {model.mass.sum():.4g} kg in motion'
               f' {size}{most}')
    wide = radius > max(WIDE_BODY[0], WIDE_BODY[1] * reach)
    if units[2] != 'kg·m²' or units == SI and wide.any():
        worst, unit = int(np.argmax(radius)), units[2] if units != SI else 'other units'
        yield (f'inertias are probably in {unit}, not in kg·m²: link {name[worst]!r} has a radius '
               f'of gyration of {radius[worst]:.3g} m {size}')
    heavy = model.mass > 0.0
    if (heavy.sum() > 1 and max(model.parent) >= 0 and not model.com[heavy].any()
            and model.inertia[heavy].any(axis=(1, 2)).all()):       # no textbook's point masses
        yield ('all centers of mass are at the origins of their links, where no exact model has '
               'them: gravity is probably wrong')
    if units == SI and not far.any():
        yield from _effort_doubts(model)


def _effort_doubts(model: RobotModel) -> Iterator[str]:
    """Yield sentences on joints that cannot bear or accelerate what they move."""
    poses = sample_poses(model)
    with np.errstate(divide='ignore', invalid='ignore', over='ignore'):
        load = np.max([abs(gravity_effort(model, q)) for q in poses], axis=0)
        inertia = np.min([mass_matrix(model, q)[0].diagonal() for q in poses],
                         axis=0) + model.armature
        limit = model.effort_limit
        heavy = (limit > 0.0) & (load > TOO_HEAVY * limit)
        slow = (limit > 0.0) & (limit < TOO_SLOW * inertia)
        heaviest = int(np.argmax(np.where(heavy, load / limit, 0.0)))
        slowest = int(np.argmax(np.where(slow, inertia / limit, 0.0)))
    units = np.where(model.slides, 'N', 'N·m')
    if heavy.any():
        i = heaviest
        yield (f'masses or the effort limits are probably in other units: gravity of up to '
               f'{load[i]:.3g} {units[i]} at joint {model.joint_names[i]!r}, whose effort limit '
               f'is {limit[i]:.3g} {units[i]}')
    if slow.any():
        i = slowest
        unit = 'm/s²' if model.slides[i] else 'rad/s²'
        yield (f'inertias or the effort limits are probably in other units: the effort limit of '
               f'joint {model.joint_names[i]!r} accelerates it by {limit[i] / inertia[i]:.2g} '
               f'{unit}')


def _limit_doubts(model: RobotModel) -> Iterator[str]:
    """Yield sentences on position limits in degrees or millimetres."""
    lower, upper = abs(model.position_lower), abs(model.position_upper)
    bound = np.fmax(np.where(lower < UNLIMITED, lower, 0), np.where(upper < UNLIMITED, upper, 0))
    names = [f'joint {name!r}' for name in model.joint_names]
    turned = ~model.slides & (bound > MAX_TURNS)
    if turned.any():
        limit = model.velocity_limit
        fast = turned & (limit > MAX_ANGULAR_VELOCITY) & (limit < UNLIMITED)
        speed = (f', and so are velocity limits of up to {model.velocity_limit[fast].max():.4g} '
                 'rad/s' if fast.any() else '')
        yield (f'position limits of {_some([names[i] for i in np.flatnonzero(turned)])} are '
               f'probably in degrees: up to {bound[turned].max():.4g} rad, '
               f'{bound[turned].max() / (2 * pi):.3g} turns{speed}')
    slid = model.slides & (bound > MAX_RAIL)
    if slid.any():
        yield (f'position limits of {_some([names[i] for i in np.flatnonzero(slid)])} are '
               f'probably in mm: up to {bound[slid].max():.4g} m')


def _units(model: RobotModel, reach: float, radius: ndarray, density: ndarray
           ) -> tuple[str, str, str]:
    """Return the units of mass, length and inertia in which the model is most like a robot."""
    if max(model.parent) < 0 or not reach > 0.0 or not model.mass.sum() > 0.0:
        return SI               # nothing to compare one body with
    weights = model.mass[_has_inertia(model)]
    features = np.array([_median(radius, weights) / reach, _median(density, weights), reach,
                         model.mass.sum() / reach**3])
    score = {}
    for names in product(MASS_UNITS, LENGTH_UNITS, INERTIA_UNITS):
        mass, length, inertia = (MASS_UNITS[names[0]], LENGTH_UNITS[names[1]],
                                 INERTIA_UNITS[names[2]])
        size = (mass / inertia)**0.5            # of the radius of gyration
        change = np.array([size * length, 1 / (mass * size**3), 1 / length, length**3 / mass])
        off = (np.log10(features * change) - TYPICAL) / SPREAD
        score[names] = float((off[np.isfinite(off)]**2).sum()) + UNIT_PENALTY * sum(
            name != si for name, si in zip(names, SI))
    best = min(score, key=score.__getitem__)
    return best if score[SI] - score[best] > MIN_EVIDENCE else SI


def _chain_length(model: RobotModel) -> ndarray:
    """Return the lengths (nb,) [m] of the chains from the base to the origins of the bodies."""
    low, high = (model.ratio * limit[model.driver] + model.shift
                 for limit in (model.position_lower, model.position_upper))
    travel = np.where(model.body_slides, np.fmax(*(
        np.where(abs(end) < UNLIMITED, abs(end), 0.0) for end in (low, high))), 0.0)
    length = np.linalg.norm(model.joint_origin, axis=1) + travel
    for i, parent in enumerate(model.parent):
        length[i] += length[parent] if parent >= 0 else 0.0
    return length


def _has_inertia(model: RobotModel) -> ndarray:
    return (model.mass > 0.0) & (np.linalg.eigvalsh(model.inertia)[:, -1] > 0.0)


def _bodies(model: RobotModel) -> tuple[list[str], ndarray, ndarray]:
    """
    Return bodies with mass and inertia: names, radii of gyration [m], least densities [kg/m³].

    Of all bodies with one volume a ball has the smallest moment of inertia, so that mass and
    largest moment give an upper bound of the volume, and a lower one of the density.
    """
    which = _has_inertia(model)
    mass, moment = model.mass[which], np.linalg.eigvalsh(model.inertia[which])[:, -1]
    radius = np.sqrt(moment / mass)
    density = mass / (BALL_VOLUME_RATIO * radius**3)
    return [model.link_names[i] for i in np.flatnonzero(which)], radius, density


def _median(values: ndarray, weights: ndarray) -> float:
    """Return the weighted median, 0 without values."""
    order = np.argsort(values)
    total = np.cumsum(weights[order])
    return float(values[order[np.searchsorted(total, total[-1] / 2)]]) if len(values) else 0.0


def _some(names: Sequence[str]) -> str:
    """Return up to three names, and the number of the others."""
    return ', '.join(names[:3]) + (f' and {len(names) - 3} more' if names[3:] else '')
