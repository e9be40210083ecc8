# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""URDF writer: text from which :func:`~.urdf.load_urdf` makes the same model again."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from typing import Any

from lxml import etree
import numpy as np
from numpy import ndarray

from .rigid_body import rotation_rpy, rpy_rotation, UPPER_TRIANGLE
from .robot import Frame, RobotModel
from .shapes import Shape, written as written_shape
from .urdf_extension import COUPLED, Extension, JointExtension, LIMITS, words, written
from .urdf_xml import MAX_NAME, MAX_NUMBER, MOMENTS
from ..errors import appearance, UrdfError


def to_urdf(model: RobotModel, shapes: bool = False) -> str:
    """
    Return the model as URDF text; see :meth:`~.robot.RobotModel.to_urdf`.

    :param shapes: whether to write the collision shapes too, with which a simulator would let the
        links touch each other.

    Each body is one link with all that was lumped into it; every other frame is a link without
    mass that is fixed to its body. What URDF cannot express is in <robodyn>, see
    :mod:`~.urdf_extension`.
    """
    writer = _Writer(model, model.shapes if shapes else ())
    try:
        writer.run()
        return etree.tostring(writer.root, encoding='unicode', pretty_print=True)
    except ValueError as error:         # of lxml, which does not say where
        raise UrdfError(f'a name of the model cannot be in XML ({error})', name=model.name,
                        value=(*model.frame_names, *model.body_joint_names),
                        remedy='use visible characters') from error


class _Writer:
    """Writer of a document, link by link."""

    def __init__(self, model: RobotModel, shapes: Sequence[Shape]):
        self.model, self.shapes = model, shapes
        self.root = etree.Element('robot')
        self.said = Extension(model.gravity_vector, {}, list(model.warnings))
        self.taken = {kind: {appearance(name) for name in names} for kind, names in (
            ('link', model.frame_names), ('joint', model.body_joint_names))}
        # A body has the name of a frame that may have another placement, as those of DH rows do:
        # then the link below the joint needs a name of its own
        self.carriers = [name if _is_body(model.frame(name), i) else self._free('link', name)
                         for i, name in enumerate(model.link_names)]

    def run(self) -> None:
        """Write links and joints in the order of the frames, in which they are read."""
        model = self.model
        self.root.set('name', model.name)
        order = [f.body for name, f in model.frames.items() if name in model.link_names]
        if order != [*range(model.nb)] or not _depth_first(model.parent):
            raise UrdfError(f'the bodies of {model.name!r} are not in the order of a walk through '
                            'the tree, in which they are read', name=model.name, value=order,
                            remedy='put them, and the frames, depth first')
        for name, frame in model.frames.items():
            own = frame.body >= 0 and model.link_names[frame.body] == name
            if name == model.base_link:
                self._link(name)
                continue
            if own:
                self._body(frame.body)
            if not own or self.carriers[frame.body] != name:
                self._fixed(name, frame)
        self.root.append(written(self.said))

    def _free(self, kind: str, name: str) -> str:
        """Return an unused name similar to this one, which does not look like another one."""
        stem = f'{name[:MAX_NAME - 20]}_{"fixed" if kind == "joint" else "body"}'
        for number in count(1):
            chosen = stem if number == 1 else f'{stem}_{number}'
            if (look := appearance(chosen)) not in self.taken[kind]:
                break
        self.taken[kind].add(look)
        return chosen

    def _carrier(self, body: int) -> str:
        return self.model.base_link if body < 0 else self.carriers[body]

    def _joint(self, name: str, kind: str, parent: str, child: str, rotation: ndarray,
               origin: ndarray) -> etree._Element:
        """Write a joint with its origin."""
        joint = etree.SubElement(self.root, 'joint', name=name, type=kind)
        etree.SubElement(joint, 'parent', link=parent)
        etree.SubElement(joint, 'child', link=child)
        rpy = rotation_rpy(rotation + 0.0)      # -0 would give -π instead of π
        where = f'joint {name!r}: origin'
        etree.SubElement(joint, 'origin', xyz=words(origin, where), rpy=words(rpy, where))
        exact = np.array_equal(rpy_rotation(rpy), rotation)
        self.said.joints[name] = JointExtension(rotation=None if exact else rotation)
        return joint

    def _link(self, name: str) -> etree._Element:
        """Write a link with its collision shapes."""
        link = etree.SubElement(self.root, 'link', name=name)
        link.extend(written_shape(one) for one in self.shapes if one.link == name)
        return link

    def _fixed(self, name: str, frame: Frame) -> None:
        self._link(name)
        self._joint(self._free('joint', name), 'fixed', self._carrier(frame.body), name,
                    frame.rotation, frame.origin)

    def _body(self, i: int) -> None:
        """Write body i and the joint above it."""
        m, name, kind = self.model, self.model.body_joint_names[i], self.model.body_joint_types[i]
        link = self._link(self.carriers[i])
        if m.mass[i] or m.com[i].any() or m.inertia[i].any():
            where = f'link {m.link_names[i]!r}: inertial'
            inertial = etree.SubElement(link, 'inertial')
            etree.SubElement(inertial, 'origin', xyz=words(m.com[i], where), rpy='0 0 0')
            etree.SubElement(inertial, 'mass', value=words(m.mass[i], where))
            etree.SubElement(inertial, 'inertia', {
                key: words(moment, where)
                for key, moment in zip(MOMENTS, m.inertia[i][UPPER_TRIANGLE])})
        v, leads = m.driver[i], name in m.joint_names
        lower, upper = m.position_lower[v], m.position_upper[v]
        bounded = bool(np.isfinite([lower, upper]).any())
        said: dict[str, Any] = {}
        if kind == 'continuous' and bounded and leads:
            kind, said['continuous'] = 'revolute', True
        joint = self._joint(name, kind, self._carrier(m.parent[i]), self.carriers[i],
                            m.joint_rotation[i], m.joint_origin[i])
        etree.SubElement(joint, 'axis', xyz=words(m.joint_axis[i], f'joint {name!r}: axis'))
        limits = dict(zip(LIMITS, (lower, upper, m.velocity_limit[v], m.effort_limit[v])))
        if not leads:
            etree.SubElement(joint, 'mimic', joint=m.joint_names[v],
                             multiplier=words(m.ratio[i], name), offset=words(m.shift[i], name))
            limits = _mapped(limits, m.ratio[i], m.shift[i])
        if kind == 'continuous':
            del limits['lower'], limits['upper']
        etree.SubElement(joint, 'limit', {
            key: words(np.clip(value, -MAX_NUMBER, MAX_NUMBER) if np.isinf(value) else value,
                       f'joint {name!r}: {key} limit') for key, value in limits.items()})
        # The limits of a mimic joint follow from those of its driver, and must not narrow them
        said['unlimited'] = tuple(k for k, value in limits.items() if not leads or np.isinf(value))
        if self.carriers[i] != m.link_names[i]:
            said['body'] = m.link_names[i]
        if leads:
            said |= self._friction(joint, v)
        self.said.joints[name] = replace(self.said.joints[name], **said)

    def _friction(self, joint: etree._Element, v: int) -> dict[str, Any]:
        """Write the friction that URDF can express; return the rest."""
        m, name = self.model, self.model.joint_names[v]
        forward = m.viscous_friction[v], m.coulomb_friction[v], m.static_friction[v]
        if any(forward[:2]):
            damping, friction = (words(x, f'joint {name!r}: friction') for x in forward[:2])
            etree.SubElement(joint, 'dynamics', damping=damping, friction=friction)
        return friction_extension(m, v)


def friction_extension(model: RobotModel, v: int) -> dict[str, Any]:
    """Return fields of :class:`JointExtension`: friction and armature that <dynamics> lacks."""
    forward = model.viscous_friction[v], model.coulomb_friction[v], model.static_friction[v]
    backward = tuple(model.backward_friction[:, v])
    return {'static_friction': None if forward[2] == forward[1] else forward[2],
            'backward': (None, None, None) if backward == forward else backward,
            'friction_velocity': model.friction_velocity[v],
            'stribeck_velocity': model.stribeck_velocity[v],
            'presliding_distance': model.presliding_distance[v],
            'load_friction': model.load_friction[v],
            **dict(zip(COUPLED, model.coupled_friction[:, v])), 'armature': model.armature[v]}


def _depth_first(parent: ndarray) -> bool:
    """Return whether the bodies are in depth-first order."""
    path = [-1]
    for i, above in enumerate(parent):
        while path and path[-1] != above:
            path.pop()
        if not path:
            return False
        path.append(i)
    return True


def _is_body(frame: Frame, i: int) -> bool:
    return (frame.body == i and np.array_equal(frame.rotation, np.eye(3))
            and not frame.origin.any())


def _mapped(limits: dict[str, float], ratio: float, shift: float) -> dict[str, float]:
    """Return the limits of a mimic joint that follow from those of its driver."""
    ends = sorted(shift + (ratio * limits[key] if ratio else 0.0) for key in ('lower', 'upper'))
    turns = abs(ratio) or 1.0
    return {'lower': ends[0], 'upper': ends[1], 'velocity': turns * limits['velocity'],
            'effort': limits['effort'] / turns}
