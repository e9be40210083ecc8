# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Editor of <inertial>, <dynamics> and <robodyn> that preserves order, comments and attributes."""

from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Sequence
import re

from lxml import etree

from ..errors import UrdfError
from ..model.urdf_xml import MOMENTS, numbers

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
