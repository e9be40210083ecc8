# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""XML tree of a URDF in any encoding, from a path or a text."""

from pathlib import Path
import re

from lxml import etree

from .tolerance import well_formed
from .xacro_file import expanded, is_xacro
from ..errors import UrdfError

MAX_BYTES = 10_000_000      # fifty times the largest known robot
MAX_MARKS = 60_000          # of < and of =, ten times that robot's: XML libraries before libxml2
# 2.12 take time quadratic in them, and all take memory
# Blanks at the start, which XML does not allow before its declaration, and every URDF parser skips
LEADING_BLANK = re.compile(rb'\A(\xef\xbb\xbf)?[ \t\r\n]+(?=<\?xml)')
UTF7 = re.compile(rb'encoding\s*=\s*["\'][^"\']*UTF-?7', re.IGNORECASE)      # may hide < and =


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
    content, encoding = _content(source)
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
                        remedy='give the path of a URDF file, or XML text with a <robot>')
    root, warnings = well_formed(content, encoding)
    if root.getroottree().docinfo.doctype:
        raise UrdfError('URDF has a DOCTYPE', name='DOCTYPE',
                        remedy='remove the <!DOCTYPE ...> and the entities it defines')
    return root, warnings


def _content(source: str | bytes | Path) -> tuple[bytes, str | None]:
    """Return the bytes of a document, and their encoding if it overrides the declaration."""
    if isinstance(source, str) and (not source.strip() or '<' in source):
        try:
            return source.lstrip('\ufeff \t\r\n').encode(), 'utf-8'
        except UnicodeEncodeError as error:
            raise UrdfError('URDF has lone surrogates, which are not characters', name='URDF',
                            remedy='give the bytes of the file, or its path') from error
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
                        remedy='give the path of a readable file, or the XML text') from error
