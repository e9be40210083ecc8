# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
A URDF as MuJoCo reads it, without this package's own reader in between.

The plant must not share our parser's mistakes, so MuJoCo gets the text itself. Only what it must
not act on is taken out first (shapes, extensions), and bodies that its compiler refuses although
equations of motion have no quarrel with them are written in afterwards, as are mimic rules.
"""

import logging
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import mujoco
import numpy as np
from lxml import etree

from ..errors import SimulationError, UnknownNameError
from ..model.document import regular

# What MuJoCo may see of a URDF. Shapes need files and collide; a <mujoco> element would change the
# physics; of mimic rules MuJoCo takes none to which a fixed joint belongs, see `_mimic_rules`.
KEPT = {'robot': {'link', 'joint'}, 'link': {'inertial'},
        'joint': {'origin', 'parent', 'child', 'axis', 'limit', 'dynamics'}}
# Added to the moments of a moving body that has none (a point mass, a link without mass), so that
# no joint is left without any inertia [kg·m²].
POINT_INERTIA = 1e-9
# MuJoCo's stops and dry friction are springs and dampers that are given a time constant [s] and a
# damping ratio, and how much of their aim they reach. Its defaults, made for contacts, let a light
# wrist run through its stop by a radian, and an arm creep that dry friction should hold. The time
# constants of friction and of mimic rules are two steps, the least that it takes.
STOP_SOLREF, IMPEDANCE = (0.004, 1.0), (0.9999, 0.9999, 0.001, 0.5, 2.0)

_log = logging.getLogger(__name__)
# Without a handler MuJoCo writes its warnings to a file in the working directory.
mujoco.set_mju_user_warning(lambda text: _log.warning('MuJoCo: %s', text))


def _prune(element: etree._Element) -> None:
    kept = KEPT.get(element.tag)
    for child in list(element):
        if kept is not None and child.tag not in kept:
            element.remove(child)
        else:
            _prune(child)


class Rule(NamedTuple):
    """A joint is at ``multiplier`` times the position of ``leader`` plus ``offset`` [rad | m]."""

    leader: str
    multiplier: float
    offset: float


def _parsed(urdf: str) -> etree._Element:
    """Return the root of a URDF as the model reads it; MuJoCo has no limit where there is none."""
    root, _ = regular(urdf)
    for limit in root.iterfind('joint/limit'):
        for name in [name for name, value in limit.attrib.items() if value == 'inf']:
            del limit.attrib[name]
    return root


def _mimic_rules(root: etree._Element, locked: Mapping[str, float]
                 ) -> tuple[dict[str, Rule], dict[str, float]]:
    """
    Return the rules by which joints move, by follower, and where joints stand that do not move.

    A joint that mimics a fixed or locked one, or with a multiplier of zero, does not move either.
    """
    fixed, still = {*root.xpath("joint[@type='fixed']/@name")}, dict(locked)
    rules = {name: Rule(rule.get('joint'), float(rule.get('multiplier', 1)),
                        float(rule.get('offset', 0)))
             for rule in root.iterfind('joint/mimic')
             if (name := rule.getparent().get('name')) not in fixed | still.keys()}
    while new := {name: rule.offset + rule.multiplier * still.get(rule.leader, 0.0)
                  for name, rule in rules.items()
                  if rule.leader in fixed | still.keys() or rule.multiplier == 0.0}:
        still |= new
        rules = {name: rule for name, rule in rules.items() if name not in new}
    return rules, still


def bare_urdf(root: etree._Element) -> str:
    """Return the URDF text reduced to bodies and joints."""
    _prune(root)
    for limit in root.iterfind("joint[@type='continuous']/limit"):
        # Some versions of MuJoCo stop a continuous joint at them; URDF says it has none.
        for bound in ('lower', 'upper'):
            limit.attrib.pop(bound, None)
    return etree.tostring(root, encoding='unicode')


def _lock(spec: mujoco.MjSpec, name: str, position: float) -> None:
    """Take joint ``name`` out and leave its link where ``position`` [rad | m] puts it."""
    joint = spec.joint(name)
    if joint is None:
        raise UnknownNameError('joint', name, [j.name for j in spec.joints])
    body = joint.parent
    if joint.type == mujoco.mjtJoint.mjJNT_SLIDE:
        shift = np.zeros(3)
        mujoco.mju_rotVecQuat(shift, joint.axis * position, body.quat)
        body.pos = body.pos + shift
    else:
        turn, quat = np.zeros(4), np.zeros(4)
        mujoco.mju_axisAngle2Quat(turn, joint.axis, position)
        mujoco.mju_mulQuat(quat, body.quat, turn)
        body.quat = quat
    spec.delete(joint)


def _stand_in(body: mujoco.MjsBody) -> tuple[float, np.ndarray, bool] | None:
    """
    Make a body palatable to MuJoCo's compiler, where it is not.

    Returns the mass, the principal moments that belong there and whether POINT_INERTIA is in
    them; None where the body can stay as it is. Its inertial frame becomes the principal one at
    once: from frames the compiler derives shortcuts, from moments it does not.
    """
    inertia = np.zeros((3, 3))
    if not np.isnan(body.fullinertia[0]):
        xx, yy, zz, xy, xz, yz = body.fullinertia
        inertia[:] = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
    moments, axes = np.linalg.eigh(inertia)
    point = bool(body.joints) and moments[0] < mujoco.mjMINVAL
    odd = inertia.any() and (moments[0] < mujoco.mjMINVAL
                             or moments[0] + moments[1] < moments[2] * (1 + 1e-9))
    if not (point or odd):
        return None
    axes[:, 2] *= np.linalg.det(axes)       # eigenvectors may come out left-handed
    principal, quat = np.zeros(4), np.zeros(4)
    mujoco.mju_mat2Quat(principal, axes.flatten())
    mujoco.mju_mulQuat(quat, body.iquat, principal)
    mass, moments = body.mass, moments + (POINT_INERTIA if point else 0)
    body.mass = mass or 1.0
    body.fullinertia = [np.nan, 0, 0, 0, 0, 0]
    body.inertia = np.full(3, max(moments[2], POINT_INERTIA))
    body.iquat = quat
    body.explicitinertial = True
    return mass, moments, point


def load(urdf: str, joints: Sequence[str], *, timestep: float, gravity: np.ndarray,
         locked: Mapping[str, float] = MappingProxyType({}), compensates_gravity: bool = False
         ) -> tuple[mujoco.MjModel, tuple[str, ...]]:
    """
    Compile a URDF into MuJoCo's model, one motor a joint that moves on its own, without contacts.

    Every link stays a body of its own, fixed ones too. Limits, damping, friction and effort limits
    are those MuJoCo reads; URDF's velocity limits are not physics. Inertias are those of the URDF
    even where no rigid body has them (triangle inequality). A joint that mimics another is tied to
    it by a constraint, as stiff as the step allows, and has no motor.

    :param joints: the joints that move on their own; motors come in this order.
    :param timestep: physics step [s].
    :param gravity: (3,) [m/s²].
    :param locked: joints that do not move, by name, and where they stand [rad | m].
    :param compensates_gravity: whether the motors add the weight of all links to their efforts,
        within their limits; a joint's share of the weight of its followers comes on top.
    :return: the model, and the links that got ``POINT_INERTIA`` added.
    :raises UrdfError: if the text is no URDF.
    :raises SimulationError: if MuJoCo refuses the robot, or has other joints than ``joints``.
    :raises UnknownNameError: if a locked joint does not exist.
    """
    root = _parsed(urdf)
    rules, still = _mimic_rules(root, locked)
    try:
        spec = mujoco.MjSpec.from_string(bare_urdf(root))
    except ValueError as error:
        raise SimulationError(f'MuJoCo cannot read the URDF ({error})', name='urdf',
                              remedy='correct what the message names') from error
    spec.compiler.fusestatic = False        # fixed links can be pushed too
    spec.option.timestep = timestep
    spec.option.gravity = gravity
    # An automatic reset would hide that the simulation diverged.
    spec.option.disableflags |= (mujoco.mjtDisableBit.mjDSBL_CONTACT
                                 | mujoco.mjtDisableBit.mjDSBL_AUTORESET)
    for name, position in still.items():
        _lock(spec, name, position)
    found = {joint.name for joint in spec.joints} - rules.keys()
    if odd := sorted(found.symmetric_difference(joints)):
        raise SimulationError(
            f'joint {odd[0]} {"is not part of the model" if odd[0] in found else "does not move"}',
            name=odd[0], value=odd, remedy='give the model and the plant the same URDF and the '
            'same locked joints')
    soft = 2 * timestep, 1.0
    for joint in spec.joints:
        joint.solref_limit, joint.solimp_limit = STOP_SOLREF, IMPEDANCE
        joint.solref_friction, joint.solimp_friction = soft, IMPEDANCE
        joint.actgravcomp = compensates_gravity
    for name in joints:
        spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
    for name, rule in rules.items():
        spec.joint(name).actfrclimited = mujoco.mjtLimited.mjLIMITED_FALSE
        tie = spec.add_equality(name=name, type=mujoco.mjtEq.mjEQ_JOINT, name1=name,
                                name2=rule.leader, solref=soft, solimp=IMPEDANCE)
        tie.data[:5] = rule.offset, rule.multiplier, 0.0, 0.0, 0.0      # of a polynomial
    for body in spec.bodies[1:]:
        body.gravcomp = float(compensates_gravity)
    stand_ins = {body.name: s for body in spec.bodies[1:] if (s := _stand_in(body))}
    try:
        model = spec.compile()
    except ValueError as error:
        raise SimulationError(f'MuJoCo refuses the robot ({" ".join(str(error).split())})',
                              name=spec.modelname, remedy='correct what the message names, or '
                              'lock the joint that moves this body') from error
    for name, (mass, moments, _) in stand_ins.items():
        body = model.body(name)
        body.mass, body.inertia = mass, moments
    mujoco.mj_setConst(model, mujoco.MjData(model))
    return model, tuple(name for name, (_, _, point) in stand_ins.items() if point)
