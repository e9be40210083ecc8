# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Mimic joints: relation to their driver, and effect of their limits and friction on it."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from urdf_parser_py.urdf import Joint

from .urdf_elements import joint_data, JointData, locked_position
from .urdf_extension import Extension
from .urdf_xml import MAX_NUMBER
from ..errors import UrdfError

LIMIT_TOLERANCE = 1e-9    # [rad | m] of limits that meet in one position


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
                   'computed with', 'give multipliers other than zero, and offsets, between '
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
    lower, upper, velocity, armature = own.lower, own.upper, own.velocity, own.armature
    forward = np.array([own.damping, own.friction, own.static_friction])
    backward = np.array(own.backward_friction)
    for follower, (_, ratio, shift), data in followers:
        low, high = sorted(((data.lower - shift) / ratio, (data.upper - shift) / ratio))
        if max(low, lower) > min(high, upper) + LIMIT_TOLERANCE or max(low, -high) > MAX_NUMBER:
            raise UrdfError(
                f'joint {follower!r} is within its limits where {name!r}, which it mimics, is in '
                f'[{low:g}, {high:g}], but that is to be in [{lower:g}, {upper:g}]',
                name=follower, value=(low, high),
                remedy='correct the limits of one, or multiplier and offset')
        lower, upper = max(low, lower), min(high, upper)
        lower = min(lower, upper)
        velocity = min(velocity, data.velocity / abs(ratio))
        felt = np.array([ratio * ratio, abs(ratio), abs(ratio)])
        theirs = [np.array([data.damping, data.friction, data.static_friction]),
                  np.array(data.backward_friction)]
        ahead, back = theirs if ratio > 0 else theirs[::-1]
        with np.errstate(over='ignore'):        # refused below
            forward, backward = forward + felt * ahead, backward + felt * back
        armature += ratio * ratio * data.armature
        if not np.isfinite([*forward, *backward, armature]).all():
            raise UrdfError(f'joint {follower!r}: its friction, reflected to {name!r}, is too '
                            'large', name=follower,
                            value=(forward, backward, armature),
                            remedy='give less damping, friction or armature')
    damping, friction, static = forward.tolist()
    return own._replace(lower=lower, upper=upper, velocity=velocity, damping=damping,
                        friction=friction, static_friction=static,
                        backward_friction=tuple(backward.tolist()), armature=armature)
