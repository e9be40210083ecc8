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


def replace(text: bytes, rng: Random) -> bytes:
    """Put nothing, other bytes of the text or of none in a place; now and then, end there."""
    start, end = _span(text, rng)
    new = rng.choice((b'', text[start:end] * rng.choice((2, 3, 100)), text[slice(*_span(
        text, rng))], rng.randbytes(rng.randint(1, 40)), rng.choice(urdfs.RAW)))
    return text[:start] + new + (text[rng.choice((start, end)):] if rng.random() < 0.8 else b'')


def quoted(text: bytes, rng: Random) -> bytes:
    """Change what stands between two quotes, without a look at the rest."""
    words = list(re.finditer(rb'"([^"<]*)"', text))
    if not words:
        return text
    start, end = rng.choice(words).span(1)
    other = rng.choice(words).group(1)
    return text[:start] + rng.choice((*urdfs.RAW, other, other, other)) + text[end:]


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
    doctype, new = rng.choice((
        (b'<!DOCTYPE robot SYSTEM "%s">', b''),
        (b'<!DOCTYPE robot [<!ENTITY x SYSTEM "%s">]>', b'&x;'),
        (b'<!DOCTYPE robot PUBLIC "-//W3C" "%s" [<!ENTITY %% p SYSTEM "nowhere"> %%p;]>', b''),
        (b'<?xml-stylesheet type="text/xsl" href="%s"?>', b''),
        (b'', b'<include xmlns="http://www.w3.org/2001/XInclude" href="%s" parse="text"/>'),
        (b'', b'<b xmlns:i="http://www.w3.org/2001/XMLSchema-instance" '
              b'i:noNamespaceSchemaLocation="%s"/>')))
    text = text.replace(b'</link>', new.replace(b'%s', place) + b'</link>', 1)
    return with_doctype(text, doctype % place) if doctype else text


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
    flip, *5 * (replace,), quoted, quoted, declare, encode, entities, external)
