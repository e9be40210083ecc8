# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Mutations of a URDF that know only bytes, and documents made to exhaust a reader."""

from collections.abc import Callable
from random import Random
import re

from fuzz import malformed_urdfs as urdfs

SPLICED = re.compile(rb'(?=<robot[\s>])')
DECLARATION = re.compile(rb'^\s*<\?xml[^>]*\?>')


def _span(text: bytes, rng: Random) -> tuple[int, int]:
    start = rng.randrange(len(text) + 1)
    return start, min(len(text), start + int(2 ** rng.uniform(0, 10)))


def flip(text: bytes, rng: Random) -> bytes:
    """Change bits."""
    changed = bytearray(text)
    for _ in range(rng.choice((1, 1, 3, 20))):
        if changed:
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def cut(text: bytes, rng: Random) -> bytes:
    """Leave some bytes out."""
    start, end = _span(text, rng)
    return text[:start] + text[end:]


def truncate(text: bytes, rng: Random) -> bytes:
    """End in the middle."""
    return text[:rng.randrange(len(text) + 1)]


def repeat(text: bytes, rng: Random) -> bytes:
    """Say something again."""
    start, end = _span(text, rng)
    return text[:end] + text[start:end] * rng.choice((1, 2, 100)) + text[end:]


def noise(text: bytes, rng: Random) -> bytes:
    """Put bytes in that mean nothing, or too much."""
    at = rng.randrange(len(text) + 1)
    new = rng.choice((rng.randbytes(rng.randint(1, 40)), rng.choice(urdfs.RAW)))
    return text[:at] + new + text[at:]


def quoted(text: bytes, rng: Random) -> bytes:
    """Change what stands between two quotes, without a look at the rest."""
    words = list(re.finditer(rb'"([^"<]*)"', text))
    if not words:
        return text
    start, end = rng.choice(words).span(1)
    other = rng.choice(words).group(1)
    return text[:start] + rng.choice((*urdfs.RAW, other, other, other)) + text[end:]


def swap(text: bytes, rng: Random) -> bytes:
    """Exchange two places."""
    (a, b), (c, d) = sorted((_span(text, rng), _span(text, rng)))
    return text if c < b else text[:a] + text[c:d] + text[b:c] + text[a:b] + text[d:]


def declare(text: bytes, rng: Random) -> bytes:
    """Claim an encoding, a version, a stand-alone document."""
    encoding = rng.choice(urdfs.ENCODINGS).encode()
    version = rng.choice((b'1.0', b'1.0', b'1.0', b'1.1', b'9', b''))
    return (b'<?xml version="' + version + b'" encoding="' + encoding + b'"?>'
            + DECLARATION.sub(b'', text))


def encode(text: bytes, rng: Random) -> bytes:
    """Write in another encoding, with or without saying so, with or without a mark."""
    encoding = rng.choice(('utf-16', 'utf-16-le', 'utf-16-be', 'utf-32', 'utf-7', 'utf-8-sig',
                           'latin-1', 'cp037', 'shift_jis'))
    words = text.decode('utf-8', 'replace')
    if rng.random() < 0.6:
        words = f'<?xml version="1.0" encoding="{encoding}"?>' + DECLARATION.sub(
            b'', text).decode('utf-8', 'replace')
    return words.encode(encoding, 'replace')


def with_doctype(text: bytes, doctype: bytes) -> bytes:
    """Return the document with a document type definition, which it may not have."""
    return doctype + DECLARATION.sub(b'', text)


def entities(text: bytes, rng: Random) -> bytes:
    """Define entities that grow: billion laughs, one very long, one that holds itself."""
    doctype, use = rng.choice((
        (LAUGHS, b'&e29;'),
        (b'<!DOCTYPE robot [<!ENTITY a "' + b'x' * 50_000 + b'">]>', b'&a;' * 999),
        (b'<!DOCTYPE robot [<!ENTITY a "&b;"><!ENTITY b "&a;">]>', b'&a;'),
        (b'<!DOCTYPE robot [<!ATTLIST mass value CDATA "1">]>', b''),
        (b'<!DOCTYPE robot>', b'')))
    old, new = rng.choice(((b'name="', b'name="' + use), (b'</link>', use + b'</link>')))
    return with_doctype(text.replace(old, new, 1), doctype)


def external(text: bytes, rng: Random) -> bytes:
    """Point to a file or an address that nobody may open."""
    place = rng.choice((b'file://' + urdfs.CANARY_FILE, urdfs.CANARY_FILE, urdfs.CANARY_HTTP))
    kind = rng.randrange(6)
    if kind == 0:
        return with_doctype(text, b'<!DOCTYPE robot SYSTEM "' + place + b'">')
    if kind == 1:
        return with_doctype(text.replace(b'</link>', b'&x;</link>', 1),
                            b'<!DOCTYPE robot [<!ENTITY x SYSTEM "' + place + b'">]>')
    if kind == 2:
        return with_doctype(text, b'<!DOCTYPE robot PUBLIC "-//W3C" "' + place + b'" ['
                                  b'<!ENTITY % p SYSTEM "' + place + b'"> %p;]>')
    if kind == 3:
        return text.replace(b'</robot>', b'<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" '
                                         b'href="' + place + b'" parse="text"/></robot>')
    if kind == 4:
        return (b'<?xml-stylesheet type="text/xsl" href="' + place + b'"?>'
                + DECLARATION.sub(b'', text))
    return text.replace(b'<robot', b'<robot xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
                                   b'xsi:noNamespaceSchemaLocation="' + place + b'"', 1)


def bulk(text: bytes, rng: Random) -> bytes:
    """Put in more of something than any robot has."""
    many = rng.choice(MANY)(int(10 ** rng.uniform(3, 5.3)))
    at = text.find(rng.choice((b'</robot>', b'</link>')))
    return text[:at] + many + text[at:]


def splice(text: bytes, rng: Random, other: bytes) -> bytes:
    """Begin as one file and end as another."""
    return text[:rng.randrange(len(text) + 1)] + other[rng.randrange(len(other) + 1):]


LAUGHS = (b'<!DOCTYPE robot [<!ENTITY e0 "ha">' + b''.join(
    b'<!ENTITY e%d "%s">' % (i, b'&e%d;' % (i - 1) * 10) for i in range(1, 30)) + b']>')
MANY: tuple[Callable[[int], bytes], ...] = (
    lambda n: b'<b>' * n + b'</b>' * n,
    lambda n: b'<b/>' * n,
    lambda n: b'x' * (30 * n),
    lambda n: b'<!---->' * n,
    lambda n: b'<visual/>' * n,
    lambda n: b''.join(b'<b%d/>' % i for i in range(n)),
    lambda n: b'</link>' + b''.join(b'<link name="%d"/>' % i for i in range(n)) + b'<link>',
    lambda n: b'<link name="n" ' + b' '.join(b'a%d="1"' % i for i in range(n)) + b'/>',
    lambda n: b'<b ' + b' '.join(b'xmlns:a%d="%d"' % (i, i) for i in range(n)) + b'/>',
    lambda n: b''.join(b'<link name="n%d"/><joint name="n%d" type="fixed"><parent link="n%d"/>'
                       b'<child link="n%d"/></joint>' % (i, i, i, i + 1) for i in range(n // 4)))
ALL: tuple[Callable[[bytes, Random], bytes], ...] = (
    flip, cut, truncate, repeat, noise, quoted, quoted, swap, declare, encode, entities, external)
