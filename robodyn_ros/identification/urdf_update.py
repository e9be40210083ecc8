# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Identified inertias, friction and armature in the URDF that they belong to.

A body of the model is a moving link with all that is fixed to it, or locked: at the position where
it was locked. Motion determines the body as a whole, not the distribution of its mass. The rule:

1. A body that equals that of the text is left as it is. 2. Else the links fixed to the moving link
keep their inertials, and the moving link has the rest. 3. Where that rest would be none a real
body has (its mass and all its second moments positive, by
   a margin), the fixed links become lighter, all by one factor, as if they were less dense: half
   of the factor that would leave no mass.
4. Where the body itself is at or beyond that border (a point mass, a rod without thickness), the
   fixed links get zeros, and the moving link has everything.

Links at rest, and those that the model leaves out, stay. The rpy of an <origin> stays, and the
moments are those in its axes.

Viscous and Coulomb friction are written to <dynamics>, which every reader of URDF knows, and the
rest to <robodyn> (:mod:`~robodyn_ros.model.urdf_extension`). Friction of a model acts on the joint
that drives a mimic joint: the mimic joint itself is left without any.
"""

from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Mapping, Sequence
from dataclasses import replace
import re
from typing import NamedTuple

from lxml import etree
import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike
from urdf_parser_py.urdf import Joint, Link, URDF

from ..errors import ArgumentError, IdentificationError, InertiaError, UrdfError
from ..model.kinematic_tree import check_tree
from ..model.rigid_body import body_of, of_body, pseudo_inertia, UPPER_TRIANGLE, ZERO_INERTIA
from ..model.robot import finite, Frame, RobotModel
from ..model.to_urdf import friction_extension
from ..model.urdf_elements import (
    FRICTION_COLUMNS, inertial, joint_data, joint_placement, placement, SEMIDEFINITE_TOLERANCE)
from ..model.urdf_extension import Extension, extension, written
from ..model.urdf_xml import MOMENTS, numbers, read

# Byte-order mark, whitespace and XML declaration, which libxml2 takes or writes in another way
PROLOGUE = re.compile(r'[\ufeff \t\r\n]*(<\?xml[^>]*>)?[ \t\r\n]*')
XML_ENCODING = re.compile(rb'^[ \t\r\n]*<\?xml[^>]*?encoding[ \t\r\n]*=[ \t\r\n]*["\']([\w.-]+)')
VECTOR_ROUNDING = 1e-15    # of its size: a closer number is the same


class UrdfText:
    """
    Links and joints of a URDF text, which are changed by name.

    :param text: that the loader has accepted: undeclared prefixes of namespaces are tolerated.
    """

    def __init__(self, text: str):
        prologue = PROLOGUE.match(text)
        assert prologue is not None
        self._prologue, self._newline = prologue[0], '\r\n' if '\r\n' in text else '\n'
        self._root = etree.fromstring(text[prologue.end():].encode(), etree.XMLParser(
            recover=True, resolve_entities=False, no_network=True, strip_cdata=False,
            encoding='utf-8'))
        self._namespace = self._root.tag.removesuffix('robot')    # which the loader ignores

    def change_inertial(self, link: str, mass: float, moments: Sequence[float],
                        com: Sequence[float] | None = None) -> None:
        """
        Give a link another inertial; missing elements are inserted.

        :param mass: [kg].
        :param moments: in the order of MOMENTS [kg·m²], in the axes of its <origin>.
        :param com: (3,) xyz of its <origin> [m]; None: as it is.
        """
        inertial = self._child(self._top('link', link), 'inertial')
        if com is not None:
            self._write(self._child(inertial, 'origin'), 'xyz', com)
        self._write(self._child(inertial, 'mass', 1), 'value', [mass])
        inertia = self._child(inertial, 'inertia', 2)
        for name, value in zip(MOMENTS, moments):
            self._write(inertia, name, [value], max(map(abs, moments)))

    def change_friction(self, joint: str, damping: float, friction: float) -> None:
        """Give a joint another <dynamics> [N·m·s/rad | N·s/m, N·m | N]."""
        top = self._top('joint', joint)
        if damping or friction or top.find(f'{self._namespace}dynamics') is not None:
            self._write(self._child(top, 'dynamics'), 'damping', [damping])
            self._write(self._child(top, 'dynamics'), 'friction', [friction])

    def change_extension(self, element: etree._Element) -> None:
        """Put an element <robodyn> in place of the present one, or last into <robot>."""
        etree.indent(element, '  ', level=1)
        present = self._root.find(f'{self._namespace}robodyn')
        if present is not None:
            element.tail = present.tail
            self._root.replace(present, element)
        else:
            self._root[-1].tail, element.tail = '\n  ', '\n'
            self._root.append(element)

    def text(self) -> str:
        """Return the text with the changes."""
        pieces = [*reversed([*self._root.itersiblings(preceding=True)]), self._root,
                  *self._root.itersiblings()]
        lines = [etree.tostring(piece, encoding='unicode', with_tail=False) for piece in pieces]
        return self._prologue + '\n'.join([*lines, '']).replace('\n', self._newline)

    def _top(self, tag: str, name: str) -> etree._Element:
        return next(element for element in self._root.iterfind(self._namespace + tag)
                    if element.get('name') == name)

    def _child(self, parent: etree._Element, tag: str, place: int = 0) -> etree._Element:
        """Return a child, which is inserted at a place, indented as its neighbours, if missing."""
        found = parent.find(self._namespace + tag)
        if found is None:
            found = etree.Element(self._namespace + tag, nsmap=parent.nsmap)
            found.tail = parent.text
            parent.insert(place, found)
        return found

    def _write(self, element: etree._Element, attribute: str, new: Sequence[float],
               size: float | None = None) -> None:
        """Write numbers where others stand; those equal but for rounding of a size stay."""
        present = numbers(element.get(attribute, ''), len(new), float('inf'))
        tolerance = VECTOR_ROUNDING * (max(map(abs, new)) if size is None else size)
        if present is None or any(abs(a - b) > tolerance for a, b in zip(present, new)):
            element.set(attribute, ' '.join(repr(float(value) + 0.0) for value in new))  # no -0.0


def encoding_of(text: bytes) -> str:
    """Return the encoding of an XML document: by its mark, or its declaration."""
    for mark, name in ((BOM_UTF16_LE, 'utf-16-le'), (BOM_UTF16_BE, 'utf-16-be')):
        if text.startswith(mark):
            return name
    declared = XML_ENCODING.match(text)
    return declared[1].decode() if declared else 'utf-8'


def decoded(text: bytes, encoding: str) -> str:
    """Return the text; :class:`UrdfError` if encoding it would not give the same bytes."""
    try:
        decoded = text.decode(encoding)
        if '\0' not in decoded and decoded.encode(encoding) == text:
            return decoded
        reason = 'it begins with no mark of its encoding, or would be written another way'
    except (LookupError, UnicodeError) as error:
        reason = str(error)
    raise UrdfError(f'URDF cannot be read as {encoding} ({reason})', name='URDF',
                    remedy='declare the encoding it is in, or write it in UTF-8')


SAME_PARAMETER = 1e-13    # of its size: a closer number is no change
WRITTEN_TOLERANCE = 1e-12    # of the size of a parameter, of what is written
PLACE_TOLERANCE = 1e-9    # [m | 1], of joints of model and text
MIN_EIGENVALUE = 1e-10    # of a pseudo-inertia whose diagonal is scaled to 1
MAX_FIXED_SHARE = 0.99    # of the body, in any direction, that fixed links may take
REDUCED_SHARE = 0.5    # of the largest possible share, where fixed links would take more
UNKNOWN_FRICTION = {'static_friction': None, 'backward': (None, None, None), 'armature': 0.0}
NUMBER_ROUNDING = 1e-14


class _Part(NamedTuple):
    """A link of a body, and its pseudo-inertia in the body's frame."""

    link: Link
    moves: bool         # whether it is the link below the joint
    pseudo: ndarray


def corrected_urdf(text: str, model: RobotModel, parameters: ArrayLike) -> str:
    """
    Return the text of a URDF, in which only inertials are replaced.

    Read with the root, tip and locked joints of ``model`` it gives these parameters, to a
    relative error of 1e-12 (of a first moment in √(m tr Σ), of moments in tr Σ: Σ = ∫ r rᵀ dm).

    :param text: that ``model`` was loaded from.
    :param parameters: (nb, 10) of each moving body, as ``RobotModel.inertial_parameters``: mass
        [kg], first moment (3) [kg·m], Ixx, Ixy, Iyy, Ixz, Iyz, Izz [kg·m²] about the origin of
        the body's frame, in its axes.
    :raises ArgumentError: the parameters are no such array, or the text is of another robot.
    :raises InertiaError: a body with these parameters would not be read again: its mass, or a
        principal moment about its centre of mass, is negative.
    :raises UrdfError: ``load_urdf`` refuses the text.
    :raises IdentificationError: reading the result would give other values.
    """
    asked = pseudo_inertia(finite('parameters', parameters, (model.nb, 10),
                                  '[kg, kg·m, kg·m²], ten a moving body'))
    if '<' not in text:
        raise UrdfError('URDF text has no element', name='URDF', value=text[:200],
                        remedy='pass the content of the file, not its path')
    changes = []
    for name, parts, whole in zip(model.link_names, _lumped(text, model), asked):
        if not _differ(_sum(parts), whole, SAME_PARAMETER):
            continue
        _check(name, whole)
        fixed = _sum([part for part in parts if not part.moves])
        share = _share(whole, fixed)
        for link, moves, _ in parts:
            if moves:
                body = body_of(whole - share * fixed)
                turn = np.eye(3) if link.inertial is None else placement(link.inertial.origin)[0]
                changes.append((link.name, body.mass, (turn.T @ body.inertia @ turn)[
                    UPPER_TRIANGLE].tolist(), body.com.tolist()))
            elif share != 1.0 and link.inertial is not None:
                inertia = share * np.array(link.inertial.inertia.to_matrix(), float)
                changes.append((link.name, share * link.inertial.mass,
                                inertia[UPPER_TRIANGLE].tolist(), None))
    if not changes:
        return text
    editor = UrdfText(text)
    for change in changes:
        editor.change_inertial(*change)
    result = editor.text()
    for name, parts, whole in zip(model.link_names, _lumped(result, model), asked):
        if _differ(_sum(parts), whole, WRITTEN_TOLERANCE):
            raise IdentificationError(f'link {name!r} cannot be written so that it is read again',
                                      name=name, value=whole,
                                      remedy='compare what is fixed to it with the whole')
    return result


def urdf_with_friction(text: str, model: RobotModel, found: RobotModel) -> str:
    """
    Return the text of a URDF, in which only friction and armature are replaced.

    :param text: that ``model`` was loaded from.
    :param found: with the joints of ``model``, and other friction. Joints where it is equal stay.
    :raises IdentificationError: reading the result would give other values.
    """
    changed = [v for v in range(model.nv) if not _equal(_of_model(model, v), _of_model(found, v))]
    if not changed:
        return text
    _, _, said = _parsed(text)
    before, editor = etree.tostring(written(said)), UrdfText(text)
    for name, v in zip(model.body_joint_names, model.driver):
        if v not in changed:
            continue
        drives = name == model.joint_names[v]
        editor.change_friction(name, *(
            (found.viscous_friction[v], found.coulomb_friction[v]) if drives else (0.0, 0.0)))
        said.joints[name] = replace(said.joint(name), **(
            friction_extension(found, v) if drives else UNKNOWN_FRICTION))
    if etree.tostring(element := written(said)) != before:
        editor.change_extension(element)
    result = editor.text()
    _, joints, said = _parsed(result)
    for v in changed:
        data = joint_data(joints[name := model.joint_names[v]], said.joint(name), [])
        if not _equal(np.hstack([getattr(data, name) for name in FRICTION_COLUMNS]),
                      _of_model(found, v)):
            raise IdentificationError(
                f'friction of joint {name!r} cannot be written so that it is read again',
                name=name, value=_of_model(found, v).tolist(),
                remedy='use the parameters of friction.yaml instead')
    return result


def _of_model(model: RobotModel, v: int) -> ndarray:
    """Return friction and armature of a joint."""
    return np.hstack([getattr(model, name)[..., v] for name in FRICTION_COLUMNS])


def _equal(one: ndarray, other: ndarray) -> bool:
    return bool((np.abs(one - other) <= NUMBER_ROUNDING * np.abs(other)).all())


def _parsed(text: str) -> tuple[URDF, dict[str, Joint], Extension]:
    """Return robot, joints by name and extension of a text."""
    robot, elements, *_ = read(text)
    joints = {joint.name: joint for joint in robot.joints}
    return robot, joints, extension(elements, {
        name: joint.type for name, joint in joints.items()})


def _lumped(text: str, model: RobotModel) -> list[list[_Part]]:
    """Return the parts of each body of the model, from the text."""
    robot, joints, extra = _parsed(text)
    check_tree(robot)
    links = {link.name for link in robot.links}
    here = Frame(-1, np.eye(3), np.zeros(3))
    frames: dict[str, Frame] = dict(model.frames)
    for i, name in enumerate(model.body_joint_names):
        if name not in joints:
            _other(f'it has no joint {name!r}')
        # Of a body that goes by another name the link below the joint is no frame of the model
        frames[joints[name].child] = Frame(i, here.rotation, here.origin)
    if missing := [name for name in model.frames if name not in links]:
        _other(f'it has no link {missing[0]!r}')
    for i, name in enumerate(model.body_joint_names):
        rotation, origin = joint_placement(joints[name], extra.joint(name))
        above = frames.get(joints[name].parent)
        if above is None or above.body != model.parent[i] or max(
                abs(above.rotation @ rotation - model.joint_rotation[i]).max(),
                abs(above.origin + above.rotation @ origin - model.joint_origin[i]).max()
                ) > PLACE_TOLERANCE:
            _other(f'joint {name!r} is elsewhere')
    return _parts(robot, frames, model)


def _parts(robot: URDF, frames: Mapping[str, Frame], model: RobotModel) -> list[list[_Part]]:
    moving = {joint.child for joint in robot.joints if joint.name in model.body_joint_names}
    bodies: list[list[_Part]] = [[] for _ in model.link_names]
    for link in robot.links:
        frame = frames.get(link.name)
        if frame is None or frame.body < 0:
            continue
        own = inertial(link, moving=True)
        pseudo = np.zeros((4, 4)) if own is None else of_body(
            own.placed(frame.rotation, frame.origin))
        bodies[frame.body].append(_Part(link, link.name in moving, pseudo))
    return bodies


def _sum(parts: Sequence[_Part]) -> ndarray:
    return sum((part.pseudo for part in parts), np.zeros((4, 4)))


def _other(how: str) -> None:
    raise ArgumentError(f'text is of another robot than the model: {how}', name='text',
                        remedy='pass the text that the model was loaded from')


def _differ(one: ndarray, other: ndarray, share: float) -> bool:
    """Return whether two pseudo-inertias are further apart than this share of their size."""
    size = np.maximum(*(np.append(np.full(3, np.abs(np.diag(p)[:3]).sum()), abs(p[3, 3]))
                        for p in (one, other)))
    return bool((np.abs(one - other) > share * np.sqrt(np.outer(size, size))).any())


def _check(name: str, pseudo: ndarray) -> None:
    """Refuse a body that the loader would refuse."""
    body, remedy = body_of(pseudo), 'identify with the constraint that bodies are real ones'
    if body.mass < 0 or body.mass == 0 and pseudo[:3, 3].any():
        raise InertiaError(f'link {name!r}: mass is {body.mass:g}, with the first moment '
                           f'{pseudo[:3, 3]}', name=name, value=body.mass, remedy=remedy)
    moments = np.linalg.eigvalsh(body.inertia)
    if moments[0] < -SEMIDEFINITE_TOLERANCE * abs(moments).max() - ZERO_INERTIA:
        raise InertiaError(f'link {name!r}: the principal moments about its centre of mass are '
                           f'{", ".join(f"{m:.3g}" for m in moments)}', name=name, value=moments,
                           remedy=remedy)


def _share(whole: ndarray, fixed: ndarray) -> float:
    """Return the factor of the fixed links at which a real body is left for the moving one."""
    if not fixed.any():
        return 1.0
    diagonal = np.diag(whole)
    if not (diagonal > 0).all():
        return 0.0
    scale = np.sqrt(np.outer(diagonal, diagonal))
    values, vectors = np.linalg.eigh(whole / scale)
    if values[0] < MIN_EIGENVALUE:
        return 0.0
    # Whole - s fixed is positive definite where s times the largest of these is below 1
    half = vectors / np.sqrt(values)
    largest = np.linalg.eigvalsh(half.T @ (fixed / scale) @ half)[-1]
    return 1.0 if largest < MAX_FIXED_SHARE else float(REDUCED_SHARE / largest)
