# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
XML tree of a URDF in any encoding, from a path or a text, also of xacro.

Deviations from the format that do not affect the physics are corrected, with warnings.
"""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
import re

from lxml import etree
import numpy as np

from .rigid_body import quaternion_matrix, rotation_rpy
from ..errors import UrdfError
from ..extras import pip_install

NONZERO = re.compile('[1-9]')      # in the text of a number
UNNAMED = 'robot'       # name of a robot without name
DEFAULT_AXIS = '1 0 0'  # of the URDF format
# Attributes for the lower triangle of an inertia, which the format does not have
LOWER_TRIANGLE = {'iyx': 'ixy', 'izx': 'ixz', 'izy': 'iyz'}
# Elements of xacro with which a document is not URDF
DEFINITIONS = {'include', 'macro', 'if', 'unless', 'insert_block', 'call'}
EXPRESSION = re.compile(r'\$[{(]')      # of xacro
RUN_XACRO = 'run `xacro FILE > robot.urdf` first, or give the path of the .xacro file'
LIMITS = ('effort', 'velocity')     # unlimited in URDF 1.2 if they are absent
QUATERNION_TOLERANCE = 1e-3    # of the norm of a quaternion with few digits
NO_NAMESPACE = (etree.ErrorTypes.NS_ERR_UNDEFINED_NAMESPACE,    # a prefix that is not declared,
                etree.ErrorTypes.NS_ERR_XML_NAMESPACE)          # or declared as empty
SUFFIXES = '.xacro', '.xacro.urdf'
MAX_BYTES = 10_000_000      # fifty times the largest known robot
MAX_MARKS = 60_000          # of < and of =, ten times that robot's: XML libraries before libxml2
# 2.12 take time quadratic in them, and all take memory
# Blanks at the start, which XML does not allow before its declaration, and every URDF parser skips
LEADING_BLANK = re.compile(rb'\A(\xef\xbb\xbf)?[ \t\r\n]+(?=<\?xml)')
UTF7 = re.compile(rb'encoding\s*=\s*["\'][^"\']*UTF-?7', re.IGNORECASE)      # may hide < and =


def well_formed(content: bytes, encoding: str | None) -> tuple[etree._Element, list[str]]:
    """
    Return the root of an XML document, in which declarations of prefixes may be missing.

    :raises UrdfError: the XML is not well-formed otherwise.
    """
    options = {'resolve_entities': False, 'no_network': True, 'remove_comments': True,
               'remove_pis': True, 'encoding': encoding}
    try:
        return etree.fromstring(content, etree.XMLParser(**options)), []
    except etree.XMLSyntaxError as error:
        parser = etree.XMLParser(recover=True, **options)
        with suppress(etree.XMLSyntaxError):
            root = etree.fromstring(content, parser)
            if root is not None and all(entry.type in NO_NAMESPACE for entry in parser.error_log):
                without_undeclared(root)
                return root, [f'XML namespaces: {error.msg}']
        remedy = ('correct the XML at that place; a document type definition or an entity may not '
                  'be used')
        if error.code == etree.ErrorTypes.ERR_INVALID_ENCODING:
            remedy = ('save the file as UTF-8, or declare its encoding in the first line, for '
                      'instance <?xml version="1.0" encoding="ISO-8859-1"?>')
        raise UrdfError(f'URDF is not well-formed XML ({error.msg})', name='URDF',
                        remedy=remedy) from error


def without_namespace(root: etree._Element) -> list[str]:
    """Remove the default namespace of a document from its elements; return warnings."""
    namespace = etree.QName(root).namespace
    if namespace is None:
        return []
    for element in list(root.iter(f'{{{namespace}}}*')):
        element.tag = etree.QName(element).localname
    etree.cleanup_namespaces(root)
    return [f'the namespace {namespace!r} of <{root.tag}> is ignored']


def without_undeclared(root: etree._Element) -> None:
    """Remove elements and attributes with an undeclared prefix, except those of xacro."""
    for element in list(root.iter()):
        for name in [str(name) for name in element.attrib if ':' in str(name).split('}')[-1]]:
            del element.attrib[name]
        above = element.getparent()
        if ':' in str(element.tag).split('}')[-1] and above is not None and (
                xacro_name(element) is None):
            above.remove(element)


def left_over_macros(root: etree._Element) -> list[str]:
    """
    Remove the macro calls that are left in an expanded document; return warnings.

    :raises UrdfError: the document is not expanded: it has macros, conditions or includes, names
        are expressions, or calls stand for all of its joints.
    """
    calls = {}
    for element in list(root.iter()):
        name = xacro_name(element)
        if name in DEFINITIONS:
            raise UrdfError(f'<{name}> is xacro, not URDF', name=str(name),
                            remedy=RUN_XACRO)
        if name is not None and (above := element.getparent()) is not None:
            calls[name] = f'xacro:{name} is not expanded: its content is missing'
            above.remove(element)
    calls = {name: text for name, text in calls.items() if name not in ('property', 'arg')}
    if calls and root.find('joint') is None:
        raise UrdfError(f'xacro:{next(iter(calls))} is not expanded, and there is no <joint>',
                        name=next(iter(calls)), remedy=RUN_XACRO)
    for element in root.iter('link', 'joint', 'parent', 'child', 'mimic'):
        for name, value in element.items():
            if EXPRESSION.search(value):
                raise UrdfError(f'{name}="{value}" of <{element.tag}> is xacro, not URDF',
                                name=value, remedy=RUN_XACRO)
    return [*calls.values()]


def xacro_name(element: etree._Element) -> str | None:
    """Return the name of a xacro element, with declared prefix or not; None for others."""
    tag = str(element.tag)
    for prefix in ('xacro}', 'xacro:'):
        if prefix in tag:
            return tag.rpartition(prefix)[2]
    return None


def tolerated(element: etree._Element) -> list[str]:
    """
    Correct a link or joint in place; return a warning for each deviation.

    Unknown attributes of <axis> and <mass> are dropped, as are ``iyx``, ``izx`` and ``izy`` of
    <inertia>; an <axis> without ``xyz`` gets the default of the format.
    """
    where = f'{element.tag} {element.get("name", "")!r}'
    warnings = []
    if element.tag == 'link' and any(
            NONZERO.search(str(text)) for origin in element.findall('origin')
            for text in origin.attrib.values()):
        warnings.append(f'{where}: <origin> is not read, a <link> has none: give it to the joint '
                        'above, or to <inertial>, <visual> and <collision>')
    for axis in element.findall('axis'):
        warnings += [f'{where}: {text}' for text in _dropped(axis, ('xyz',))]
        if not axis.get('xyz', '').strip():
            axis.set('xyz', DEFAULT_AXIS)
            warnings.append(f'{where}: <axis> has no xyz and is taken as {DEFAULT_AXIS}')
    for mass in element.findall('inertial/mass'):
        warnings += [f'{where}: {text}' for text in _dropped(mass, ('value',))]
    for inertia in element.findall('inertial/inertia'):
        warnings += [f'{where}: {text}' for text in _symmetric(inertia)]
    return warnings


def motor_inertias(root: etree._Element) -> list[str]:
    """Return warnings of motor inertias in <transmission>, which no standard defines."""
    warnings = []
    for transmission in root.findall('transmission'):
        found = [element for element in transmission.iter()
                 if 'inertia' in str(element.tag).lower() and NONZERO.search(element.text or '')]
        if found:
            joint = transmission.find('joint')
            name = '' if joint is None else joint.get('name', '')
            warnings.append(f'<{found[0].tag}> in the <transmission> of joint {name!r} is not '
                            f'read: write <robodyn><joint name="{name}" rotor_inertia="..." '
                            'gear_ratio="..."/></robodyn>')
    return warnings


def without_limits(joint: etree._Element) -> list[str]:
    """Set missing limits of effort and velocity to infinity; return warnings."""
    warnings = []
    for limit in joint.findall('limit'):
        for name in LIMITS:
            if name not in limit.attrib:
                limit.set(name, 'inf')
                warnings.append(f'joint {joint.get("name", "")!r}: <limit> has no {name}, which '
                                'is taken as unlimited')
    return warnings


def _dropped(element: etree._Element, known: Sequence[str]) -> list[str]:
    """Remove all attributes except the known ones; return warnings."""
    unknown = [str(name) for name in element.attrib if name not in known]
    for name in unknown:
        del element.attrib[name]
    return [f'attribute {name} of <{element.tag}> is not read' for name in unknown]


def _symmetric(inertia: etree._Element) -> list[str]:
    """Remove the lower triangle of an inertia; return warnings."""
    warnings = []
    for below, above in LOWER_TRIANGLE.items():
        if (text := inertia.attrib.pop(below, None)) is not None:
            differs = text.strip() != inertia.get(above, '').strip()
            warnings.append(f'attribute {below} of <inertia> is not read, {above} is used'
                            + (f', which differs ({inertia.get(above)})' if differs else ''))
    return warnings


def quaternion_rpy(text: Sequence[float]) -> str | None:
    """Return ``quat_xyzw`` of URDF 1.2 as a value of ``rpy``; None if it is not a rotation."""
    quaternion = np.array(text)
    if abs(np.linalg.norm(quaternion) - 1.0) > QUATERNION_TOLERANCE:
        return None
    rpy = rotation_rpy(quaternion_matrix(quaternion))
    return ' '.join(repr(float(angle)) for angle in rpy)


def is_xacro(path: str | Path) -> bool:
    """Return whether a path has a suffix of a xacro file."""
    return str(path).lower().endswith(SUFFIXES)


def expanded(path: str | Path) -> str:
    """
    Return the URDF text of a xacro file with the default values of its arguments.

    :raises UrdfError: `xacro` is not installed, or cannot expand the file, or it has macros alone.
    """
    try:
        import xacro
    except ImportError:
        raise UrdfError(f'{path} is xacro, which is not installed', name=str(path),
                        remedy=f'run `{pip_install("xacro")}`, or give a URDF: `xacro FILE > '
                               'robot.urdf`') from None
    try:
        text = xacro.process_file(str(path)).toxml()
    except Exception as error:      # of many kinds: XML, YAML, Python expressions, packages
        cause = getattr(error, 'exc', None)     # which xacro also repeats in some of its messages
        repeated = cause is not None and error.args[0] and (
            isinstance(cause, OSError) or str(cause) in error.args[0])
        why = ' '.join(str(cause if repeated else error).split()) or type(error).__name__
        raise UrdfError(f'{path} cannot be expanded by xacro ({why})', name=str(path),
                        remedy='source the workspace of the packages it refers to, or run '
                               '`xacro FILE argument:=value > robot.urdf` and give that '
                               'file') from error
    if '<link' not in text:
        raise UrdfError(f'{path} defines macros and calls none: it has no link', name=str(path),
                        remedy='give the .xacro file that includes it and calls its macros')
    return str(text)


def urdf_text(source: str | bytes | Path) -> str:
    """
    Return the text of a URDF in any encoding, without declaration and comments.

    It is what nodes and launch files hand on: ``read`` takes it as it would take the source.

    :param source: XML text or bytes, or the path of a file; a .xacro file is expanded.
    :raises UrdfError: the source cannot be read, or is not XML.
    """
    return etree.tostring(document(source)[0], encoding='unicode')


def document(source: str | bytes | Path) -> tuple[etree._Element, list[str]]:
    """
    Return the root element of a document of bounded size, and warnings.

    :raises UrdfError: the source cannot be read, is too large, or is not XML.
    """
    content, encoding = content_of(source)
    if len(content) > MAX_BYTES:
        raise UrdfError(f'URDF has more than {MAX_BYTES} bytes', name='URDF',
                        remedy='leave out what is not links and joints')
    if max(content.count(b'<'), content.count(b'=')) > MAX_MARKS:
        raise UrdfError(f'URDF has more than {MAX_MARKS} tags or attributes', name='URDF',
                        remedy='leave out what is not links and joints')
    if UTF7.search(content):
        raise UrdfError('URDF is in UTF-7', name='URDF', remedy='write it in UTF-8')
    if not content.strip():
        raise UrdfError('URDF is empty', name='URDF',
                        remedy='pass the path of a URDF file, or XML text with a <robot>')
    root, warnings = well_formed(content, encoding)
    if root.getroottree().docinfo.doctype:
        raise UrdfError('URDF has a DOCTYPE', name='DOCTYPE',
                        remedy='remove the <!DOCTYPE ...> and the entities it defines')
    return root, warnings


def content_of(source: str | bytes | Path) -> tuple[bytes, str | None]:
    """
    Return the bytes of a document, and their encoding if it overrides the declaration.

    :raises UrdfError: the source cannot be read; its size is checked by :func:`document`.
    """
    if isinstance(source, str) and (not source.strip() or '<' in source):
        try:
            return source.lstrip('\ufeff \t\r\n').encode(), 'utf-8'
        except UnicodeEncodeError as error:
            raise UrdfError('URDF has lone surrogates, which are not characters', name='URDF',
                            remedy='pass the bytes of the file, or its path') from error
    if isinstance(source, bytes):
        return LEADING_BLANK.sub(rb'\1', source), None
    if is_xacro(source) and Path(source).is_file():
        return expanded(source).encode(), 'utf-8'
    try:
        with open(source, 'rb') as file:
            return LEADING_BLANK.sub(rb'\1', file.read(MAX_BYTES + 1)), None
    except (OSError, ValueError) as error:
        raise UrdfError(f'URDF file {str(source)[:200]!r} cannot be read ({error})',
                        name=str(source), value=source,
                        remedy='pass the path of a readable file, or the XML text') from error
