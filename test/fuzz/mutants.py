# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Mutant number i of a seed: always the same, made of a real robot and a few accidents."""

from functools import cache
from random import Random
from typing import Any, NamedTuple

from fuzz import malformed_urdfs as urdfs, texts, trees
from lxml import etree
from robodyn_ros import load_urdf
from robots import ARM, EXTENDED, GRIPPER, OWN, random_tree, REAL


class Mutant(NamedTuple):
    """What is given to ``load_urdf``, and how it came about."""

    source: str | bytes
    options: dict[str, Any]
    history: tuple[str, ...]


@cache
def _sources() -> dict[str, bytes]:
    """URDF texts by name."""
    found = {'arm': ARM.encode(), 'gripper': GRIPPER.encode(), 'tree': random_tree(1, 6).encode(),
             'extended': EXTENDED.encode(),
             'written': load_urdf(random_tree(2, 5)).to_urdf().encode()}
    for name, path in {**OWN, **REAL}.items():
        root = etree.fromstring(path.read_bytes(), etree.XMLParser(remove_comments=True))
        found[name] = etree.tostring(root)
    return found


def mutant(seed: int, index: int) -> Mutant:
    rng = Random(f'{seed}:{index}')
    name = rng.choice([*_sources(), 'arm'])
    root = etree.fromstring(_sources()[name])
    history = [name]
    if rng.random() < 0.7:          # pictures would take most of the accidents
        for element in [*root.iter('visual', 'collision')]:
            element.getparent().remove(element)
    kind = rng.random()
    for _ in range(0 if kind > 0.85 else 1 + int(rng.expovariate(0.7))):
        mutate = rng.choice(trees.ALL + trees.OFTEN)
        mutate(root, rng)
        history.append(mutate.__name__)
    options = _options(root, rng)
    text = etree.tostring(root, encoding=rng.choice(('us-ascii', 'utf-8')))
    while (mark := trees.MARK.encode()) in text:
        text = text.replace(mark, rng.choice(urdfs.RAW), rng.choice((1, -1)))
    for _ in range(0 if kind < 0.7 else 1 + int(rng.expovariate(0.7))):
        change = rng.choice(texts.ALL)
        text = change(text, rng)
        history.append(change.__name__)
    if rng.random() < 0.02:
        text = texts.splice(text, rng, rng.choice([*_sources().values()]))
        history.append('splice')
    if rng.random() < 0.02:
        text = texts.bulk(text, rng)
        history.append('bulk')
    return Mutant(_written(text, rng), options, tuple(history))


def _written(text: bytes, rng: Random) -> str | bytes:
    """Return it as bytes, or as a text in which bytes that are no UTF-8 are lone surrogates."""
    if b'<' not in text or rng.random() < 0.6:      # without a < a text is the path of a file
        return text
    return text.decode('utf-8', rng.choice(('replace', 'surrogateescape')))


def _options(root: etree._Element, rng: Random) -> dict[str, Any]:
    """Return arguments for ``load_urdf`` besides the text: mostly none."""
    if rng.random() < 0.75:
        return {}
    links = [e.get('name') or 'base' for e in root.iter('link')] or ['base']
    joints = [e.get('name') or 'joint' for e in root.iter('joint')] or ['joint']
    choices = {'root': rng.choice(links), 'tip': rng.choice(links),
               'locked': {rng.choice(joints): rng.choice((0.0, 0.01, -3.0, 1e300, float('nan')))
                          for _ in range(rng.randint(1, 4))}}
    return {name: value for name, value in choices.items() if rng.random() < 0.5}
