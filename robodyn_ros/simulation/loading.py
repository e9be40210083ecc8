# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Loading of a URDF by MuJoCo's own reader.

The plant must not share the mistakes of this package's parser, so MuJoCo reads the text itself.
Only shapes and extensions are removed before; mimic rules, and inertias that the compiler of
MuJoCo rejects although the equation of motion is well defined, are set afterwards.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from lxml import etree
import mujoco
import numpy as np

from ..errors import ParameterError, SimulationError, UnknownNameError
from ..model.robot import RobotModel
from ..model.urdf_xml import regular

# Elements of a URDF that MuJoCo reads. Shapes need files and collide; a <mujoco> element would
# change the physics; MuJoCo rejects mimic rules with a fixed joint, see `_mimic_rules`.
KEPT_ELEMENTS = {'robot': {'link', 'joint'}, 'link': {'inertial'},
                 'joint': {'origin', 'parent', 'child', 'axis', 'limit', 'dynamics'}}
# [kg·m²] Added to the moments of a moving body without rotational inertia (a point mass, a link
# without mass), so that no joint is without inertia
POINT_INERTIA = 1e-9
# Stops and dry friction of MuJoCo are soft constraints with a time constant [s], a damping ratio
# and an impedance. With the defaults, made for contacts, a light wrist overruns its stop by a
# radian, and an arm creeps that dry friction should hold. The time constants of friction and of
# mimic rules are two steps, the smallest allowed.
STOP_SOLREF, IMPEDANCE = (0.004, 1.0), (0.9999, 0.9999, 0.001, 0.5, 2.0)


def _prune(element: etree._Element) -> None:
    kept = KEPT_ELEMENTS.get(element.tag)
    for child in list(element):
        if kept is not None and child.tag not in kept:
            element.remove(child)
        else:
            _prune(child)


class Rule(NamedTuple):
    """Position of a mimic joint: ``multiplier`` times that of ``leader``, plus ``offset``."""

    leader: str
    multiplier: float
    offset: float


def _parsed(urdf: str) -> etree._Element:
    """Return the root of a corrected URDF; absent limits are absent, as MuJoCo expects."""
    root, _ = regular(urdf)
    for limit in root.iterfind('joint/limit'):
        for name in [name for name, value in limit.attrib.items() if value == 'inf']:
            del limit.attrib[name]
    return root


def _mimic_rules(root: etree._Element, locked: Mapping[str, float]
                 ) -> tuple[dict[str, Rule], dict[str, float]]:
    """
    Return the rules of mimic joints by name, and the positions of joints that do not move.

    A joint that mimics a fixed or locked one, or with a multiplier of zero, does not move.
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
        # Some versions of MuJoCo apply them, but a continuous joint of URDF has no position limits
        for bound in ('lower', 'upper'):
            limit.attrib.pop(bound, None)
    return etree.tostring(root, encoding='unicode')


def _lock(spec: mujoco.MjSpec, name: str, position: float) -> None:
    """Remove joint ``name`` and fix its link at ``position`` [rad | m]."""
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
    Replace an inertia that the compiler of MuJoCo rejects by a stand-in.

    Return the mass and principal moments to be set after compilation, and whether POINT_INERTIA
    is added; None for an inertia that the compiler accepts. The inertial frame is set to the
    principal axes before, since the compiler derives flags from frames, but not from moments.
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
    Compile a URDF into a MuJoCo model with one motor per independent joint and without contacts.

    Every link is a body, links at fixed joints included. Limits, damping, friction and effort
    limits are those that MuJoCo reads; velocity limits have no effect. Inertias are those of the
    URDF even if they violate the triangle inequality. A mimic joint is tied to its driver by a
    constraint, as stiff as the step allows, and has no motor.

    :param urdf: URDF text.
    :param joints: independent joints; motors have this order.
    :param timestep: [s] physics step.
    :param gravity: (3,) [m/s²] in the frame of the root link.
    :param locked: positions [rad | m] of locked joints, by name.
    :param compensates_gravity: whether the motors add the weight of all links to their efforts,
        within their limits; the share of mimic joints is added without limit.
    :return: the model, and the links with ``POINT_INERTIA`` added.
    :raises UrdfError: the text is not a URDF.
    :raises SimulationError: MuJoCo rejects the robot, or its joints are not ``joints``.
    :raises UnknownNameError: a locked joint does not exist.
    """
    root = _parsed(urdf)
    rules, still = _mimic_rules(root, locked)
    try:
        spec = mujoco.MjSpec.from_string(bare_urdf(root))
    except ValueError as error:
        raise SimulationError(f'MuJoCo cannot read the URDF ({error})', name='urdf',
                              remedy='correct what the message names') from error
    spec.compiler.fusestatic = False        # for pushes on fixed links
    spec.option.timestep = timestep
    spec.option.gravity = gravity
    # An automatic reset would hide a divergence of the simulation
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


MOTOR_REMEDY = 'replace it by <motor joint="..." name="..."/>, whose command is the effort'


def check_scene(mjcf: str | Path, model: RobotModel) -> list[str]:
    """
    Refuse a scene whose actuators would not apply this robot's efforts; return warnings.

    MuJoCo itself reads the scene, with its includes and defaults; meshes are not needed. An
    actuator counts by its gain, bias, dynamics and gear, not by its tag: <general> may be a motor
    or a servo.

    :param mjcf: path of the scene.
    :return: joints at which the scene clips efforts that the robot may have.
    :raises SimulationError: MuJoCo cannot read it, or a joint of the robot has several actuators,
        or one whose force is not its command.
    :raises ParameterError: a joint of the robot has no actuator.
    """
    try:
        spec = mujoco.MjSpec.from_file(str(mjcf))
    except ValueError as error:
        raise SimulationError(f'MuJoCo cannot read the scene {str(mjcf)!r} '
                              f'({" ".join(str(error).split())})', name='mjcf',
                              remedy='pass the path of an MJCF file') from error
    found: dict[str, list[mujoco.MjsActuator]] = {name: [] for name in model.joint_names}
    for actuator in spec.actuators:
        if actuator.trntype == mujoco.mjtTrn.mjTRN_JOINT and actuator.target in found:
            found[actuator.target].append(actuator)
    for name, actuators in found.items():
        if len(actuators) > 1:
            raise SimulationError(f'joint {name!r} has {len(actuators)} actuators in the scene',
                                  name=name, remedy='keep the motor only')
        if actuators and (deviations := _deviations(actuators[0])):
            raise SimulationError(
                f'the actuator of joint {name!r} is not a torque motor: {", ".join(deviations)}',
                name=name, remedy=MOTOR_REMEDY)
    if missing := [name for name, actuators in found.items() if not actuators]:
        raise ParameterError(f'the scene has no actuator for {", ".join(missing)}', name='mjcf',
                             value=missing, remedy='add <motor joint="..." name="..."/> for each')
    if absent := [name for name in found if spec.joint(name) is None]:
        raise SimulationError(f'the scene has no joint {", ".join(absent)}', name='mjcf',
                              value=absent, remedy='name the joints as in the URDF')
    return [f'the scene clips the effort of joint {name!r} at {least:g}, its limit is {limit:g}'
            for name, limit in zip(found, model.effort_limit)
            if (least := _clip(found[name][0], spec.joint(name))) < limit < np.inf]


def _clip(actuator: mujoco.MjsActuator, joint: mujoco.MjsJoint) -> float:
    """Return the largest effort [N·m | N] that is applied in both directions, inf for any."""
    limits = ((actuator.ctrllimited, actuator.ctrlrange),
              (actuator.forcelimited, actuator.forcerange),
              (joint.actfrclimited, joint.actfrcrange))
    automatic = mujoco.mjtLimited.mjLIMITED_AUTO        # limited if there is a range
    return min((min(-low, high) for limited, (low, high) in limits
                if limited and (limited != automatic or low or high)), default=np.inf)


def _deviations(actuator: mujoco.MjsActuator) -> list[str]:
    """Return why the force of an actuator is not its command, in terms of MJCF; [] if it is."""
    deviations = []
    bias = actuator.biasprm[:3]
    if actuator.biastype == mujoco.mjtBias.mjBIAS_AFFINE and any(bias):
        kind = 'position servo' if bias[1] else 'velocity servo' if bias[2] else 'constant force'
        deviations.append(f'a {kind} (biasprm {_words(bias)})')
    elif actuator.biastype not in (mujoco.mjtBias.mjBIAS_NONE, mujoco.mjtBias.mjBIAS_AFFINE):
        deviations.append(f'biastype {_value(actuator.biastype)}')
    if actuator.gaintype != mujoco.mjtGain.mjGAIN_FIXED:
        deviations.append(f'gaintype {_value(actuator.gaintype)}')
    elif actuator.gainprm[0] != 1.0:
        deviations.append(f'gain {actuator.gainprm[0]:g}')
    if actuator.dyntype != mujoco.mjtDyn.mjDYN_NONE:
        deviations.append(f'dyntype {_value(actuator.dyntype)}')
    if actuator.gear[0] != 1.0:
        deviations.append(f'gear {actuator.gear[0]:g}')
    if actuator.plugin.active:
        deviations.append('a plugin')
    return deviations


def _value(kind: Any) -> str:
    """Return a constant of MuJoCo as MJCF spells it: mjDYN_FILTEREXACT is filterexact."""
    return kind.name.rpartition('_')[2].lower()


def _words(values: list[float]) -> str:
    return ' '.join(f'{value:g}' for value in values)
