# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Kinematic tree of a URDF: names, mimic joints, and gravity in the frame of a base."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy import ndarray
from urdf_parser_py.urdf import Joint, URDF

from .urdf_elements import joint_data, joint_placement, JointData, locked_position, MOVING
from .urdf_extension import Extension
from .urdf_xml import MAX_NUMBER
from ..errors import appearance, Argument, Placeholder, UrdfError

LIMIT_TOLERANCE = 1e-9    # [rad | m] of limits that meet in one position
GRAVITY = (0.0, 0.0, -9.81)     # [m/s²] of an upright robot
MAX_SINE = 1e-9    # of the angle between gravity and a vertical axis


def check_tree(robot: URDF) -> str:
    """
    Return the root link of a URDF.

    :raises UrdfError: links and joints do not form one tree, or names are not unique.
    """
    def refuse(problem: str, name: str, remedy: str) -> None:
        raise UrdfError(problem, name=name, remedy=remedy)

    links = {link.name for link in robot.links}
    for kind, elements in (('link', robot.links), ('joint', robot.joints)):
        for name, count in Counter(e.name for e in elements).items():
            if count > 1:
                refuse(f'{count} {kind}s are called {name!r}', name, 'give each its own name')
    above: dict[str, Joint] = {}
    for joint in robot.joints:
        for role, link in (('parent', joint.parent), ('child', joint.child)):
            if link not in links:
                refuse(f'joint {joint.name!r}: its {role} link {link!r} does not exist',
                       joint.name, f'add <link name="{link}"/> or correct the name')
        if joint.child in above:
            refuse(f'link {joint.child!r} is moved by the joints {above[joint.child].name!r} and '
                   f'{joint.name!r}', joint.child, 'a URDF is a tree: keep one of them')
        above[joint.child] = joint
    roots = [link.name for link in robot.links if link.name not in above]
    if len(roots) > 1:
        refuse(f'there are {len(roots)} root links: {", ".join(map(repr, roots))}', roots[1],
               'connect them by (fixed) joints, or remove those that are not needed')
    if not links:
        refuse(f'robot {robot.name!r} has no link', robot.name, 'add links and joints')
    reached, todo = set(roots), roots[:]
    below = child_joints(robot)
    while todo:
        children = [joint.child for joint in below[todo.pop()]]
        reached.update(children)
        todo += children
    for joint in robot.joints:
        if joint.child not in reached:
            refuse(f'joint {joint.name!r} is in or behind a closed loop of links', joint.name,
                   'a URDF is a tree: cut the loop by removing a joint')
    return roots[0]


def lookalike_warnings(robot: URDF) -> list[str]:
    """Return warnings of different names that look the same."""
    warnings = []
    for kind, elements in (('link', robot.links), ('joint', robot.joints)):
        seen: dict[str, str] = {}
        pairs = [(seen.setdefault(appearance(e.name), e.name), e.name) for e in elements]
        alike = [(one, other) for one, other in pairs if one != other]
        for one, other in alike[:1]:
            warnings.append(f'{kind}s {one!a} and {other!a} look alike, but are two'
                            + (f'; so do {len(alike) - 1} more' if alike[1:] else ''))
    return warnings


def child_joints(robot: URDF) -> dict[str, list[Joint]]:
    """Return the joints by the link that carries them, in document order."""
    below: dict[str, list[Joint]] = defaultdict(list)
    for joint in robot.joints:
        below[joint.parent].append(joint)
    return below


def joints_between(robot: URDF, base: str, tip: str) -> set[str]:
    """
    Return the names of the joints between two links of a tree.

    :raises UrdfError: ``tip`` is not below ``base``.
    """
    above = {joint.child: joint for joint in robot.joints}
    names, link = set(), tip
    while link != base:
        if link not in above:
            raise UrdfError(f'tip {tip!r} is not below the root {base!r}', name=tip,
                            remedy='choose a tip in the part of the tree that root carries')
        names.add(above[link].name)
        link = above[link].parent
    return names


class MimicRelation(NamedTuple):
    """
    Position of a joint as ``ratio * q + shift``, with q the position of the joint ``driver``.

    An independent joint is its own driver. The driver of a joint that does not move is None; its
    position is ``shift`` [rad | m].
    """

    driver: str | None
    ratio: float
    shift: float


def mimic_relation(joint: Joint, joints: Mapping[str, Joint], extra: Extension,
                   locked: Mapping[str, float]) -> MimicRelation:
    """
    Return the relation of a joint to its driver, through the mimic joints in between.

    :param joint: independent or mimic joint.
    :param joints: all joints of the document, by name.
    :param extra: the element <robodyn> of the document.
    :param locked: positions [rad | m] of joints that are treated as fixed, by name.
    :raises UrdfError: the joint mimics itself, directly or through others, or a joint that does
        not exist; multiplier or offset are out of range.
    :raises ArgumentError: a position to lock a joint at is invalid.
    """
    def refuse(problem: str, remedy: str, value: object = None) -> None:
        raise UrdfError(f'joint {joint.name!r} {problem}', name=joint.name, value=value,
                        remedy=remedy)

    at, ratio, shift, seen = joint, 1.0, 0.0, {joint.name}
    while at.name not in locked and at.type != 'fixed' and at.mimic is not None:
        rule = at.mimic
        if rule.joint not in joints:
            refuse(f'mimics {rule.joint!r}, which does not exist' if at is joint else
                   f'mimics {at.name!r}, and that {rule.joint!r}, which does not exist',
                   'correct the name, or remove the <mimic>', rule.joint)
        if rule.joint in seen:
            refuse('mimics itself' if rule.joint == joint.name else
                   f'mimics {rule.joint!r}, which mimics itself',
                   'remove one <mimic> of the circle: a joint has to move on its own', rule.joint)
        shift += ratio * (rule.offset or 0.0)
        ratio *= 1.0 if rule.multiplier is None else rule.multiplier
        if abs(shift) > MAX_NUMBER or ratio and not 1 / MAX_NUMBER <= abs(ratio) <= MAX_NUMBER:
            refuse(f'is at {ratio:g} times {rule.joint!r} plus {shift:g}, which cannot be '
                   'computed with', 'use multipliers other than zero, and offsets, between '
                   f'{1 / MAX_NUMBER:g} and {MAX_NUMBER:g}', (ratio, shift))
        if ratio == 0:
            return MimicRelation(None, 0.0, shift)
        seen.add(rule.joint)
        at = joints[rule.joint]
    if at.name in locked:
        shift += ratio * locked_position(at, joint_data(at, extra.joint(at.name), []),
                                         locked[at.name])
        if abs(shift) > MAX_NUMBER:
            refuse(f'is at {shift:g} where {at.name!r} is locked, which cannot be computed with',
                   'correct its multiplier or offset', shift)
    elif at.type != 'fixed':
        return MimicRelation(at.name, ratio, shift)
    return MimicRelation(None, 0.0, shift)


def with_followers(name: str, own: JointData,
                   followers: Sequence[tuple[str, MimicRelation, JointData]]) -> JointData:
    """
    Return the data of a driver, combined with those of the mimic joints that follow it.

    The limits are the intersection of all. By conservation of power, friction f of a follower acts
    on the driver as |ratio| f, damping d as ratio² d, and armature a as ratio² a. With a negative
    ratio, the two directions of friction are exchanged. The other parameters of friction are those
    of the driver. A follower has no drive, so that its effort limit is ignored.

    :param name: of the driver.
    :param own: data of the driver alone.
    :param followers: name, relation and data of each follower.
    :raises UrdfError: no position is within the limits of all, or friction overflows.
    """
    lower, upper = own.position_lower, own.position_upper
    velocity, armature = own.velocity_limit, own.armature
    forward, backward = np.array(own.forward_friction), np.array(own.backward_friction)
    for follower, (_, ratio, shift), data in followers:
        low, high = sorted((end - shift) / ratio
                           for end in (data.position_lower, data.position_upper))
        if max(low, lower) > min(high, upper) + LIMIT_TOLERANCE or max(low, -high) > MAX_NUMBER:
            raise UrdfError(
                f'joint {follower!r} is within its limits where {name!r}, which it mimics, is in '
                f'[{low:g}, {high:g}], but that is to be in [{lower:g}, {upper:g}]',
                name=follower, value=(low, high),
                remedy='correct the limits of one, or multiplier and offset')
        lower, upper = max(low, lower), min(high, upper)
        lower = min(lower, upper)
        velocity = min(velocity, data.velocity_limit / abs(ratio))
        felt = np.array([ratio * ratio, abs(ratio), abs(ratio)])
        theirs = np.array([data.forward_friction, data.backward_friction])
        ahead, back = theirs if ratio > 0 else theirs[::-1]
        with np.errstate(over='ignore'):        # refused below
            forward, backward = forward + felt * ahead, backward + felt * back
        armature += ratio * ratio * data.armature
        if not np.isfinite([*forward, *backward, armature]).all():
            raise UrdfError(f'joint {follower!r}: its friction, reflected to {name!r}, is too '
                            'large', name=follower,
                            value=(forward, backward, armature),
                            remedy='reduce damping, friction or armature')
    damping, friction, static = forward.tolist()
    return own._replace(position_lower=lower, position_upper=upper, velocity_limit=velocity,
                        viscous_friction=damping, coulomb_friction=friction,
                        static_friction=static, backward_friction=tuple(backward.tolist()),
                        armature=armature)


def base_gravity(robot: URDF, extra: Extension, base: str, locked: Mapping[str, float]) -> ndarray:
    """
    Return gravity (3,) [m/s²] in the frame of link ``base``.

    In the frame of the root of the document it is that of <robodyn>, or (0, 0, -9.81). The joints
    between the root and the base rotate it: fixed ones, and locked ones at their position.
    Prismatic joints and joints about a vertical axis do not change it.

    :raises UrdfError: other movable joints are above the base; the message names all of them.
    """
    above = {joint.child: joint for joint in robot.joints}
    by_name = {joint.name: joint for joint in robot.joints}
    path, link = [], base
    turning: dict[str, str] = {}        # the joints that turn it, and their drivers
    while link in above:
        path.append(above[link])
        link = above[link].parent
    gravity = np.array(GRAVITY if extra.gravity is None else extra.gravity)
    for joint in reversed(path):
        rotation, _ = joint_placement(joint, extra.joint(joint.name))
        gravity = rotation.T @ gravity
        if joint.type == 'fixed':
            continue
        if joint.type not in MOVING:
            _refuse([joint.name], base, 'set gravity')
        relation = mimic_relation(joint, by_name, extra, locked)
        data = joint_data(joint, extra.joint(joint.name), [])
        if relation.driver is None:
            gravity = data.motion(joint.type, relation.shift)[0].T @ gravity
        elif joint.type != 'prismatic' and (turning or np.linalg.norm(
                np.cross(data.axis, gravity)) > MAX_SINE * np.linalg.norm(gravity)):
            turning[joint.name] = relation.driver
    if turning:
        where = 'them where they are' if len(turning) > 1 else 'it where it is'
        _refuse([*turning], base, f'lock {where}, ', Argument(
            'locked', dict.fromkeys(turning.values(), Placeholder('position'))),
            ', or give gravity')
    return gravity


def _refuse(joints: Sequence[str], base: str, *remedy: str | Argument) -> None:
    many = len(joints) > 1
    raise UrdfError(
        f'joint{"s" * many} {", ".join(map(repr, joints))} above the root {base!r} '
        f'turn{"s" * (not many)} gravity in its frame', name=joints[0],
        remedy=(*remedy, f' in the frame of {base!r}, ', Argument(
            'gravity', tuple(map(Placeholder, 'xyz')))))
