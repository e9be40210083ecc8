# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Editor of numbers of <inertial>, <dynamics> and <robodyn> that preserves all other text.

A parser that builds a tree forgets how the text was written. Expat tells at which byte each
element begins, and from there a start tag is read by its characters: it is well-formed by then.
"""

from collections.abc import Sequence
from dataclasses import dataclass
import re
from xml.parsers.expat import errors, ExpatError, ParserCreate
from xml.parsers.expat.errors import codes

from ..errors import UrdfError
from ..model.urdf_xml import MOMENTS, numbers

WHITESPACE = rb'[ \t\r\n]'
TAG = re.compile(rb'<[^ \t\r\n/>]+')
ATTRIBUTE = re.compile(WHITESPACE + rb'+([^ \t\r\n=]+)' + WHITESPACE + rb'*=' + WHITESPACE
                       + rb'*("[^"]*"|\'[^\']*\')')
WHITESPACES = re.compile(WHITESPACE + rb'*')
LINK_PATHS = {('robot', 'link', *rest) for rest in (
    (), ('inertial',), ('inertial', 'origin'), ('inertial', 'mass'), ('inertial', 'inertia'))}
JOINT_PATHS = {('robot', 'joint'), ('robot', 'joint', 'dynamics')}
INDENTATION = b'  '    # where the text has none
# Errors of expat: a prefix without a namespace, and one that is declared to have none
PREFIX_ERRORS = (codes[errors.XML_ERROR_UNBOUND_PREFIX],
                 codes[errors.XML_ERROR_UNDECLARING_PREFIX])
VECTOR_ROUNDING = 1e-15    # of its size: a closer number is the same


@dataclass(frozen=True)
class Tag:
    """
    A start tag, by the numbers of its bytes.

    :param named: where its name ends; ``end``: behind its >.
    :param empty: whether it ends with />.
    :param values: first byte and end of the value of each attribute, without quotes.
    """

    begin: int
    named: int
    end: int
    empty: bool
    values: dict[str, tuple[int, int]]


class UrdfText:
    """
    Changes of links and joints, gathered, and the text that comes of them.

    :param text: UTF-8 of a URDF that is plain and valid; links and joints are counted in its
        order.
    :raises UrdfError: expat does not take it for XML.
    """

    def __init__(self, text: bytes):
        self._text = text
        self._changes: list[tuple[int, int, bytes]] = []
        self._newline = b'\r\n' if b'\r\n' in text else b'\n'
        #: Start tags of each link, and in its inertial, by name.
        self.links: list[dict[str, Tag]] = []
        #: Start tags of each joint, and of its <dynamics>, by name.
        self.joints: list[dict[str, Tag]] = []
        # First byte and end of <robodyn>, if there is one, and first byte of </robot>
        self._extension: tuple[int, int] | None = None
        self._end = 0
        try:
            self._parse('}')
        except ExpatError as error:
            if error.code not in PREFIX_ERRORS:
                raise UrdfError(f'URDF is not well-formed XML ({error})', name='URDF',
                                remedy='correct the XML at that place') from error
            self.links.clear()
            self.joints.clear()
            self._parse(None)

    def _parse(self, separator: str | None) -> None:
        """
        Find the tags of each link.

        :param separator: of a namespace and a name, so that <inertial xmlns="..."> is as unknown
            as it is to the loader; None: prefixes need not be declared.
        """
        path: list[str] = []
        default = ''        # the namespace of <robot>, which the loader ignores

        def begin(name: str, attributes: dict[str, str]) -> None:
            nonlocal default
            if not path:
                default = name.removesuffix('robot')
            path.append(name.removeprefix(default))
            if tuple(path) in LINK_PATHS:
                if path[-1] == 'link':
                    self.links.append({})
                self.links[-1][path[-1]] = self._tag(parser.CurrentByteIndex)
            elif tuple(path) in JOINT_PATHS:
                if path[-1] == 'joint':
                    self.joints.append({})
                self.joints[-1][path[-1]] = self._tag(parser.CurrentByteIndex)
            elif path == ['robot', 'robodyn']:
                self._extension = parser.CurrentByteIndex, 0

        def end(name: str) -> None:
            at = parser.CurrentByteIndex
            if path == ['robot', 'robodyn'] and self._extension is not None:
                self._extension = self._extension[0], self._text.index(b'>', at) + 1
            elif path == ['robot']:
                self._end = at
            path.pop()

        parser = ParserCreate('utf-8', separator)
        parser.StartElementHandler = begin
        parser.EndElementHandler = end
        parser.Parse(self._text, True)

    def _tag(self, begin: int) -> Tag:
        name = TAG.match(self._text, begin)
        assert name is not None
        values, at = {}, name.end()
        while found := ATTRIBUTE.match(self._text, at):
            values[found[1].decode()] = found.start(2) + 1, found.end(2) - 1
            at = found.end()
        end = self._text.index(b'>', at) + 1
        return Tag(begin, name.end(), end, self._text[end - 2:end] == b'/>', values)

    def change(self, link: int, mass: float, moments: Sequence[float],
               com: Sequence[float] | None = None) -> None:
        """
        Give a link another inertial; what it lacks is put in, as its neighbours are.

        :param mass: [kg].
        :param moments: in the order of MOMENTS [kg·m²], in the axes of its <origin>.
        :param com: (3,) xyz of its <origin> [m]; None: as it is.
        """
        tags = self.links[link]
        if 'inertial' not in tags:
            self._put_in(tags['link'], mass, moments, (0.0, 0.0, 0.0) if com is None else com)
            return
        self._value(tags['mass'], 'value', [mass], abs(mass))
        for name, value in zip(MOMENTS, moments):
            self._value(tags['inertia'], name, [value], max(map(abs, moments)))
        if com is None:
            return
        if 'origin' in tags:
            self._value(tags['origin'], 'xyz', com, max(map(abs, com)))
        elif any(com):
            begin = tags['mass'].begin
            self._changes.append((begin, begin, _element('origin', xyz=com)
                                  + self._space_before(begin)))

    def change_friction(self, joint: int, damping: float, friction: float) -> None:
        """Give a joint another <dynamics> [N·m·s/rad | N·s/m, N·m | N]."""
        tags = self.joints[joint]
        if 'dynamics' in tags:
            for name, value in (('damping', damping), ('friction', friction)):
                self._value(tags['dynamics'], name, [value], abs(value))
        elif damping or friction:
            tag = tags['joint']         # a joint has children
            space = WHITESPACES.match(self._text, tag.end)
            new = (space[0] if space else b'') + _element('dynamics', damping=[damping],
                                                          friction=[friction])
            self._changes.append((tag.end, tag.end, new))

    def change_extension(self, element: bytes) -> None:
        """Put an element <robodyn> in place of the present one, or last into <robot>."""
        element = element.replace(b'\n', self._newline)
        if self._extension is None:
            self._changes.append((self._end, self._end, INDENTATION + element + self._newline))
        else:
            self._changes.append((*self._extension, element))

    def changed(self) -> bytes:
        """Return the text with the changes."""
        pieces, at = [], 0
        for begin, end, new in sorted(self._changes):
            pieces += [self._text[at:begin], new]
            at = end
        return b''.join([*pieces, self._text[at:]])

    def _value(self, tag: Tag, attribute: str, new: Sequence[float], size: float) -> None:
        """Write numbers where others stand; those equal but for rounding stay as they are."""
        if attribute not in tag.values:
            if any(new):
                self._changes.append((tag.named, tag.named, _attribute(attribute, new)))
            return
        begin, end = tag.values[attribute]
        present = numbers(self._text[begin:end].decode(), len(new), float('inf'))
        if present is None or any(
                abs(a - b) > VECTOR_ROUNDING * size for a, b in zip(present, new)):
            self._changes.append((begin, end, _words(new)))

    def _space_before(self, begin: int) -> bytes:
        return self._text[len(self._text[:begin].rstrip(b' \t\r\n')):begin]

    def _put_in(self, link: Tag, mass: float, moments: Sequence[float],
                com: Sequence[float]) -> None:
        """Put an inertial first into a link, on lines of its own where the link has some."""
        before = self._space_before(link.begin)
        space = WHITESPACES.match(self._text, link.end)
        after = space[0] if space and not link.empty else b''
        bare = link.empty or self._text[link.end + len(after):].startswith(b'</')
        outer = before.rpartition(b'\n')[2]
        inner = outer + (outer or INDENTATION) if bare or b'\n' not in after else \
            after.rpartition(b'\n')[2]
        step = inner[len(outer):] if inner.startswith(outer) and inner != outer else INDENTATION
        lines = b'\n' in before and (bare or b'\n' in after)
        children = [_element('origin', xyz=com), _element('mass', value=[mass]),
                    _element('inertia', **{k: [v] for k, v in zip(MOMENTS, moments)})]
        around, within = (self._newline + inner, self._newline + inner + step) if lines else (
            b'', b'')
        new = around + b'<inertial>' + b''.join(within + c for c in children) + around \
            + b'</inertial>'
        last = self._newline + outer if lines and b'\n' not in after else b''
        if link.empty:
            self._changes.append((link.end - 2, link.end, b'>' + new + last + b'</link>'))
        else:
            self._changes.append((link.end, link.end, new + (last if bare else b'')))


def _words(values: Sequence[float]) -> bytes:
    return ' '.join(repr(float(v) + 0.0) for v in values).encode()      # -0.0 is 0.0


def _attribute(name: str, values: Sequence[float]) -> bytes:
    return b' ' + name.encode() + b'="' + _words(values) + b'"'


def _element(name: str, **attributes: Sequence[float]) -> bytes:
    return b'<' + name.encode() + b''.join(
        _attribute(key, values) for key, values in attributes.items()) + b'/>'
