# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Element <robodyn> of a URDF, for properties of a robot that URDF cannot express.

It occurs at most once, directly in <robot>; other readers of URDF ignore it. All parts are
optional:

    <robodyn>
      <gravity xyz="0 0 -9.81"/>
      <joint name="elbow" rotor_inertia="1e-4" gear_ratio="100" static_friction="0.9"
             friction_velocity="0.01" stribeck_velocity="0.1" unlimited="lower upper">
        <backward damping="0.4" friction="0.6" static_friction="0.7"/>
      </joint>
      <warning>the forearm is estimated</warning>
    </robodyn>

Unknown elements and attributes in it are errors, since a misspelt one would silently change the
physics.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from lxml import etree
import numpy as np
from numpy import ndarray

from .robot import FRICTION_VELOCITY, STRIBECK_VELOCITY
from .urdf_xml import MAX_NAME, MAX_NUMBER, numbers
from ..errors import printable, UnknownNameError, UrdfError

LIMITS = ('lower', 'upper', 'velocity', 'effort')
COUPLED = ('coupling_ratio', 'coupled_damping', 'coupled_friction')
NUMERIC = ('armature', 'rotor_inertia', 'gear_ratio', 'static_friction', 'friction_velocity',
           'stribeck_velocity', 'presliding_distance', 'load_friction', *COUPLED)
SIGNED = {'coupling_ratio'}
DIVISORS = {'gear_ratio', 'friction_velocity', 'stribeck_velocity'}
MIN_DIVISOR = 1e-9    # neither its inverse nor the square of that overflows
BACKWARD = ('damping', 'friction', 'static_friction')
# Attributes and children of each element
KNOWN: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    'robodyn': ((), ('gravity', 'joint', 'warning')), 'gravity': (('xyz',), ()),
    'joint': (('name', *NUMERIC, 'unlimited', 'type', 'rotation', 'body'), ('backward',)),
    'backward': (BACKWARD, ()), 'warning': ((), ())}
MAX_EXTENSION_WARNINGS = 500


@dataclass(frozen=True, eq=False)
class JointExtension:
    """
    Properties of one joint in <robodyn>; units as in :class:`RobotModel`.

    :param static_friction: None for the value of Coulomb friction.
    :param backward: viscous, Coulomb and static friction for negative velocity; None for the
        value for positive velocity, or, of static friction, for that of a given Coulomb friction.
    :param unlimited: those of ``LIMITS`` that the joint does not have, in spite of <limit>.
    :param continuous: whether the revolute joint is continuous, with limits for other readers.
    :param rotation: (3, 3) exact rotation of <origin>, which ``rpy`` may round.
    :param body: name of the moving body, that of a link fixed to the child of the joint; the
        child itself is then not a frame of the model.
    """

    armature: float = 0.0
    static_friction: float | None = None
    friction_velocity: float = FRICTION_VELOCITY
    stribeck_velocity: float = STRIBECK_VELOCITY
    presliding_distance: float = 0.0
    load_friction: float = 0.0
    coupling_ratio: float = 0.0
    coupled_damping: float = 0.0
    coupled_friction: float = 0.0
    backward: tuple[float | None, ...] = (None, None, None)
    unlimited: tuple[str, ...] = ()
    continuous: bool = False
    rotation: ndarray | None = None
    body: str | None = None


NO_EXTENSION = JointExtension()


class Extension(NamedTuple):
    """Gravity (3,) [m/s²] in the base frame, joints by name, and warnings to keep."""

    gravity: ndarray | None
    joints: dict[str, JointExtension]
    warnings: list[str]

    def joint(self, name: str) -> JointExtension:
        """Return the properties of a joint, the defaults if it is not mentioned."""
        return self.joints.get(name, NO_EXTENSION)


def extension(elements: Sequence[etree._Element], kinds: dict[str, str]) -> Extension:
    """
    Return the content of the element <robodyn> of a document.

    :param elements: all such elements, at most one.
    :param kinds: types of the joints of the document, by name.
    :raises UrdfError: something in it is unknown, repeated, or not a valid number.
    """
    read = Extension(None, {}, [])
    if len(elements) > 1:
        raise UrdfError(f'<robodyn> is there {len(elements)} times', name='robodyn',
                        remedy='put all of it into one')
    for element in elements:
        _check(element, 'robodyn')
        for child in element:
            name = child.get('name', '')
            _check(child, name if child.tag == 'joint' and name.strip() else str(child.tag))
            if child.tag == 'gravity':
                if read.gravity is not None:
                    _refuse(child, 'gravity', 'is there twice', 'keep one of them')
                read = read._replace(gravity=np.array(_read(child, 'gravity', 'xyz', 3)))
            elif child.tag == 'joint':
                if name not in kinds:
                    _unknown(child, name or 'joint', 'joint', name, kinds)
                if name in read.joints:
                    _refuse(child, name, 'is there twice', 'keep one of them')
                read.joints[name] = _joint(child, name, kinds[name])
            else:
                read.warnings.append(printable(child.text or ''))
    if len(read.warnings) > MAX_EXTENSION_WARNINGS:
        raise UrdfError(f'<robodyn> has {len(read.warnings)} warnings', name='robodyn',
                        remedy=f'keep the {MAX_EXTENSION_WARNINGS} that matter most')
    return read


def _joint(element: etree._Element, name: str, kind: str) -> JointExtension:
    """Return the properties of the joint ``name`` of type ``kind``."""
    def refuse(problem: str, remedy: str, value: object = None) -> None:
        _refuse(element, name, problem, remedy, value)

    given: dict[str, Any] = {key: _positive(element, name, key)
                             for key in NUMERIC if key in element.attrib}
    rotor, ratio = given.pop('rotor_inertia', None), given.pop('gear_ratio', None)
    if rotor is None and ratio is not None:
        refuse('has a gear_ratio without rotor_inertia', 'write rotor_inertia="...", too', ratio)
    if rotor is not None:
        if 'armature' in given:
            refuse('has armature and rotor_inertia', 'keep one: armature is rotor_inertia times '
                   'the square of gear_ratio', given['armature'])
        given['armature'] = rotor * (1.0 if ratio is None else ratio)**2
        if given['armature'] > MAX_NUMBER:
            refuse(f'has an armature of {given["armature"]}', f'use one up to {MAX_NUMBER:g}',
                   given['armature'])
    if (words := element.get('unlimited')) is not None:
        given['unlimited'] = tuple(words.split())
        if not words.strip():
            refuse('has unlimited=""', f'name what has no limit: {", ".join(LIMITS)}', words)
        if len(set(given['unlimited'])) < len(given['unlimited']):
            refuse(f'has unlimited="{words[:60]}"', 'name each limit once', words)
        for word in given['unlimited']:
            if word not in LIMITS:
                _unknown(element, name, 'limit', word, LIMITS)
    if (other := element.get('type')) is not None:
        if other != 'continuous' or kind != 'revolute':
            refuse(f'has type="{other[:60]}" and is {kind}', 'leave it out; only a revolute joint '
                   'may be declared continuous', other)
        given['continuous'] = True
    if 'rotation' in element.attrib:
        given['rotation'] = np.array(_read(element, name, 'rotation', 9)).reshape(3, 3)
    if (body := element.get('body')) is not None:
        if not body.strip():
            refuse('has body=""', 'name a link that is fixed to the child of the joint', body)
        given['body'] = body
    for backward in element:
        _check(backward, name)
        if backward is not element[0]:
            _refuse(backward, name, 'is there twice', 'keep one of them')
        given['backward'] = tuple(_positive(backward, name, key) if key in backward.attrib
                                  else None for key in BACKWARD)
    return JointExtension(**given)


def written(said: Extension) -> etree._Element:
    """Return the element <robodyn> with this content, without values that are defaults."""
    root = etree.Element('robodyn')
    if said.gravity is not None:
        etree.SubElement(root, 'gravity', xyz=words(said.gravity, 'gravity'))
    for name, joint in said.joints.items():
        def text(value: object, key: str, name: str = name) -> str:
            return words(value, f'joint {name!r}: {key}')
        attributes = {key: text(value, key) for key in NUMERIC
                      if (value := getattr(joint, key, None)) != getattr(NO_EXTENSION, key, None)}
        if joint.unlimited:
            attributes['unlimited'] = ' '.join(joint.unlimited)
        if joint.continuous:
            attributes['type'] = 'continuous'
        if joint.rotation is not None:
            attributes['rotation'] = text(joint.rotation, 'rotation')
        if joint.body is not None:
            attributes['body'] = joint.body
        backward = {key: text(value, f'backward {key}')
                    for key, value in zip(BACKWARD, joint.backward) if value is not None}
        if attributes or backward:
            element = etree.SubElement(root, 'joint', {'name': name, **attributes})
            if backward:
                etree.SubElement(element, 'backward', backward)
    for sentence in said.warnings:
        etree.SubElement(root, 'warning').text = printable(sentence)
    return root


def words(values: Any, what: str) -> str:
    """
    Return numbers as text that reproduces them exactly.

    :raises UrdfError: one of them is not finite.
    """
    numbers = np.ravel(np.asarray(values, float)) + 0.0     # no -0
    if not np.isfinite(numbers).all():
        raise UrdfError(f'{what} is {values}', name=what, value=values,
                        remedy='give the model a finite number there')
    return ' '.join(repr(float(x)) for x in numbers)


def _check(element: etree._Element, name: str) -> None:
    """Raise :class:`UrdfError` for unknown attributes, children and text."""
    attributes, children = KNOWN[element.tag]
    for text in (element.text, *(child.tail for child in element)):
        if element.tag != 'warning' and (text := (text or '').strip()):
            _refuse(element, name, f'has the text {text[:60]!r}', 'write attributes, key="..."',
                    text)
    for key in element.attrib:
        if key not in attributes:
            _unknown(element, name, 'attribute', str(key), attributes)
    for child in element:
        if child.tag not in children:
            _unknown(element, name, 'element', str(child.tag), children)


def _read(element: etree._Element, name: str, key: str, count: int) -> list[float]:
    text = element.get(key, '')
    if (found := numbers(text, count, MAX_NUMBER)) is None:
        _refuse(element, name, f'has {key}="{text[:60]}"',
                f'write {f"{count} finite numbers" if count > 1 else "a finite number"}, up to '
                f'{MAX_NUMBER:g}', text)
    return found or []


def _positive(element: etree._Element, name: str, key: str) -> float:
    [value] = _read(element, name, key, 1)
    least = MIN_DIVISOR if key in DIVISORS else 0.0
    if value < least and key not in SIGNED:
        _refuse(element, name, f'has {key}="{element.get(key, "")[:60]}"',
                f'use one of at least {least:g}', value)
    return value


def _refuse(element: etree._Element, name: str, problem: str, remedy: str,
            value: object = None) -> None:
    tag = '' if element.tag in ('joint', 'robodyn') else f' <{element.tag}>'
    joint = f', joint {name[:MAX_NAME]!r}' if element.tag in ('joint', 'backward') else ''
    raise UrdfError(f'<robodyn>{joint}{tag} {problem}', name=name, value=value, remedy=remedy)


def _unknown(element: etree._Element, name: str, kind: str, found: str,
             choices: Sequence[str] | dict[str, str]) -> None:
    """Raise :class:`UrdfError` for an unknown name, with similar known ones."""
    _refuse(element, name, f'has an unknown {kind} {found[:MAX_NAME]!r}',
            UnknownNameError(kind, found, choices).remedy, found)
