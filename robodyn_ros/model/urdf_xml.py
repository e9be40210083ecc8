# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
XML checks of a URDF before and after `urdf_parser_py`.

The parser silently accepts NaN, 1e400, repeated elements and document type definitions, fails on
shapes and transmissions that are irrelevant for the dynamics, and prints to stderr. So the XML is
checked first, irrelevant elements are removed, and messages of the parser become warnings.
"""

from copy import deepcopy
from pathlib import Path
import re
from sys import float_info
from threading import Lock

from lxml import etree
from urdf_parser_py.urdf import Joint, URDF
from urdf_parser_py.xml_reflection import core

from .urdf_source import (
    document, EXPRESSION, left_over_macros, motor_inertias, quaternion_rpy, RUN_XACRO, tolerated,
    UNNAMED, without_limits, without_namespace)
from ..errors import appearance, InertiaError, printable, UrdfError

MAX_ATTRIBUTES = 100        # of an element; the format needs six
MAX_DEPTH = 50              # nested elements; the format needs six
MAX_NAME = 200              # characters of the name of a link or joint
MAX_WARNINGS = 50           # different ones about ignored elements
MAX_NUMBER = 1e9            # of masses, inertias and lengths in SI units, against overflow

MOMENTS = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
# Count of numbers of each attribute, by element
NUMBERS: dict[str, dict[str, int]] = {
    'origin': {'xyz': 3, 'rpy': 3, 'quat_xyzw': 4}, 'axis': {'xyz': 3},
    'mass': {'value': 1}, 'inertia': dict.fromkeys(MOMENTS, 1),
    'limit': dict.fromkeys(('lower', 'upper', 'effort', 'velocity'), 1),
    'dynamics': dict.fromkeys(('damping', 'friction'), 1),
    'mimic': dict.fromkeys(('multiplier', 'offset'), 1),
    'calibration': dict.fromkeys(('rising', 'falling'), 1),
    'safety_controller': dict.fromkeys(
        ('k_velocity', 'k_position', 'soft_lower_limit', 'soft_upper_limit'), 1),
    'box': {'size': 3}, 'cylinder': {'radius': 1, 'length': 1}, 'sphere': {'radius': 1},
    'capsule': {'radius': 1, 'length': 1}, 'mesh': {'scale': 3}}
ATTRIBUTES = {'mass': ('value',), 'inertia': MOMENTS, 'axis': ('xyz',), 'parent': ('link',),
              'child': ('link',), 'limit': ('effort', 'velocity'), 'mimic': ('joint',),
              'joint': ('name', 'type'), 'link': ('name',)}
LIMITS_OPTIONAL = {'1.2'}       # versions of URDF in which effort and velocity may be absent
CHILDREN = {'joint': ('parent', 'child'), 'inertial': ('mass', 'inertia')}
SINGLE = {'inertial', 'origin', 'axis', 'mass', 'inertia', 'limit', 'dynamics', 'mimic', 'parent',
          'child'}
# Elements on which an unknown attribute is an error, since it would change the physics
STRICT = {'origin', 'axis', 'mass', 'inertia'}
NOT_PHYSICAL = {'material', 'gazebo', 'transmission', 'ros2_control', 'sensor'}

# Control characters, line separators and directional marks: in a name they could forge or reverse
# lines of a log
INVISIBLE = re.compile('[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]')
NAME_REMEDY = f'use visible characters, {MAX_NAME} at most'
NUMBER = re.compile(r'[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?', re.ASCII)
UNKNOWN = re.compile(r'Unknown (attribute|tag) "(.*)" in /robot.*?/(link|joint)'
                     r'\[@name=\'(.*?)\'\](?:/(?:.*/)?(\w+))?')
OTHER_FORMATS = {
    'mujoco': 'this is MJCF, the format of MuJoCo, which cannot be converted without a loss: give '
              'the URDF of the robot, which most makers publish',
    'sdf': 'this is SDF, the format of Gazebo, which cannot be converted without a loss: give '
           'the URDF of the robot, or one written by hand or by your CAD program'}
_parser_lock = Lock()


def read(source: str | bytes | Path) -> tuple[URDF, list[etree._Element], list[str],
                                              list[etree._Element]]:
    """
    Parse the URDF in a file (a path) or in a text (XML).

    :return: links and joints in document order, with valid numbers and nonempty names; the
        elements <robodyn>; warnings; and the elements <collision>, in their links.
    :raises UrdfError: the source cannot be read, is not XML, or is not a URDF.
    :raises InertiaError: a mass or an inertia is missing.
    """
    root, warnings = regular(source)
    warnings += [f'<{tag}> is not read' for tag in dict.fromkeys(
        e.tag for e in root if e.tag not in NOT_PHYSICAL | {'link', 'joint', 'robodyn'})]
    if any((e.text or '').strip(' 0.') for e in root.iter('springStiffness')):
        warnings.append('joint springs in <gazebo> are not read: the model has no springs')
    warnings += motor_inertias(root)
    extensions, pictured = root.findall('robodyn'), deepcopy(root)
    for element in list(root):
        if element.tag not in ('link', 'joint'):
            root.remove(element)
    for picture in [*root.iterfind('link/visual'), *root.iterfind('link/collision')]:
        picture.getparent().remove(picture)
    root.attrib.pop('version', None)
    robot, unread = _parsed(root)
    warnings = [printable(text) for text in warnings + unread]
    if (more := len(warnings) - MAX_WARNINGS) > 0:
        warnings[MAX_WARNINGS:] = [f'{more} more kinds of elements and attributes are not read']
    return robot, extensions, warnings, pictured.findall('link/collision')


def regular(source: str | bytes | Path) -> tuple[etree._Element, list[str]]:
    """
    Return the root of a document with corrected links and joints, and warnings.

    Deviations from the format are removed, rotations are in ``rpy``, missing limits are ``inf``.

    :raises UrdfError, InertiaError: as :func:`read`.
    """
    root, warnings = root_element(source)
    optional_limits = root.get('version', '') in LIMITS_OPTIONAL
    for element in root:
        if element.tag in ('link', 'joint'):
            warnings += tolerated(element)
            _check(element, optional_limits)
            warnings += without_limits(element)
    return root, warnings


def root_element(source: str | bytes | Path) -> tuple[etree._Element, list[str]]:
    """
    Return the element <robot> of a URDF, otherwise as it is written, and warnings.

    :raises UrdfError: the source cannot be read, is not XML, or is not a URDF.
    """
    root, warnings = document(source)
    warnings += without_namespace(root)
    if root.tag != 'robot':
        raise UrdfError(f'the root element is <{root.tag}>', name=str(root.tag),
                        remedy=OTHER_FORMATS.get(root.tag, 'a URDF has <robot name="..."> there'))
    if not root.get('name', '').strip():
        root.set('name', UNNAMED)
        warnings.append(f'<robot> has no name and is called {UNNAMED!r}')
    _check_name(root)
    for element in root.iter():
        if sum(1 for _ in element.iterancestors()) >= MAX_DEPTH:
            raise UrdfError(f'<{element.tag}> is nested more than {MAX_DEPTH} deep',
                            name=str(element.tag), remedy='write a URDF, which is six deep')
        if len(element.attrib) > MAX_ATTRIBUTES:
            raise UrdfError(f'<{element.tag}> has more than {MAX_ATTRIBUTES} attributes',
                            name=str(element.tag), remedy='write a URDF, which has six at most')
    return root, warnings + left_over_macros(root)


def _check_name(element: etree._Element) -> None:
    """Raise :class:`UrdfError` for a name that cannot be printed on one line."""
    name = element.get('name', '')
    if problem := name_problem(name):
        raise UrdfError(f'{element.tag} {name[:MAX_NAME]!r} has a name {problem}', name=name,
                        remedy=NAME_REMEDY)


def name_problem(name: str) -> str | None:
    """Return why a name cannot be printed on one line, None if it can."""
    if len(name) > MAX_NAME:
        return f'of {len(name)} characters'
    if INVISIBLE.search(name) or name.strip() and not appearance(name):
        return 'that cannot be shown'
    return None


def numbers(text: str, count: int, most: float) -> list[float] | None:
    """Return the ``count`` numbers of a text, None if they are not, or exceed ``most``."""
    words = text.split()
    if len(words) != count or not all(NUMBER.fullmatch(word) for word in words):
        return None
    values = [float(word) for word in words]
    return values if all(abs(x) <= most for x in values) else None


def _check(top: etree._Element, optional_limits: bool) -> None:
    """
    Raise an error for a link or joint with missing, repeated or invalid parts.

    :param optional_limits: whether <limit> may lack effort and velocity.
    """
    _check_name(top)
    where = f'{top.tag} {top.get("name", "")!r}'
    name = top.get('name', '').strip() or top.tag

    def refuse(problem: str, remedy: str, element: etree._Element, value: object = None) -> None:
        error = InertiaError if element.tag in ('inertial', 'mass', 'inertia') else UrdfError
        raise error(f'{where}: {problem}', name=name, value=value, remedy=remedy)

    for element in top.iter():
        tag = str(element.tag)
        kind = element.get('type', '')
        if element is top and tag == 'joint' and kind.strip() and kind not in Joint.TYPES:
            refuse(f'there is no joint type {kind!r}', 'use revolute, continuous, prismatic or '
                   'fixed', element, kind)
        needed = () if tag == 'limit' and optional_limits else ATTRIBUTES.get(tag, ())
        for attribute in needed:
            if not element.get(attribute, '').strip():
                refuse(f'<{tag}> has no {attribute}', f'write <{tag} {attribute}="...">', element)
        for child in CHILDREN.get(tag, ()):
            if element.find(child) is None:
                refuse(f'<{tag}> has no <{child}>', f'add <{child} .../>', element)
        if tag in SINGLE and element.getparent().find(tag) is not element:
            refuse(f'<{tag}> is there twice', 'keep one of them', element)
        for attribute, text in element.attrib.items():
            if count := NUMBERS.get(tag, {}).get(attribute):
                most = MAX_NUMBER if tag in STRICT else float_info.max
                if numbers(text, count, most) is None:
                    refuse(f'{attribute}="{text[:60]}" of <{tag}> is refused',
                           RUN_XACRO if EXPRESSION.search(text) else
                           ('write a finite number' if count == 1 else
                            f'write {count} finite numbers, separated by spaces')
                           + (f', up to {most:g}' if tag in STRICT else ''), element, text)
            elif tag in STRICT:
                refuse(f'<{tag}> has an unknown attribute {attribute}',
                       f'use {", ".join(NUMBERS[tag])}', element, text)
        if tag == 'origin' and (text := element.attrib.pop('quat_xyzw', None)) is not None:
            rpy = quaternion_rpy([float(word) for word in text.split()])
            if rpy is None or 'rpy' in element.attrib:
                refuse('<origin> has quat_xyzw and rpy' if rpy else
                       f'quat_xyzw="{text[:60]}" of <origin> does not have length 1',
                       'keep one of them' if rpy else 'write a unit quaternion', element, text)
            element.set('rpy', str(rpy))


def _parsed(root: etree._Element) -> tuple[URDF, list[str]]:
    """Return the parsed robot, and the messages of the parser as warnings."""
    said: list[str] = []
    with _parser_lock:          # the hook is global
        hook, core.on_error = core.on_error, said.append
        try:
            robot = URDF.from_xml_string(etree.tostring(root, encoding='utf-8'))
        except Exception as error:      # the parser raises bare exceptions
            raise UrdfError(f'URDF cannot be parsed ({error})', name=root.get('name', ''),
                            remedy='correct the element that is named') from error
        finally:
            core.on_error = hook
    places: dict[str, list[str]] = {}
    for message in said:
        if match := UNKNOWN.match(message):
            kind, name, top, owner, tag = match.groups()
            what = f'<{name}>' if kind == 'tag' else f'attribute {name}'
            places.setdefault(f'{what} of <{tag or top}> is not read', []).append(owner)
        else:
            places.setdefault(message, [])
    return robot, [
        f'{what}: {owners[0]}' + (f' and {len(owners) - 1} more' if owners[1:] else '')
        if owners else what for what, owners in places.items()]
