# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Mutations of a URDF that leave it XML: each takes the root and a source of random numbers."""

from collections.abc import Callable
from copy import deepcopy
from random import Random

from fuzz import malformed_urdfs as urdfs
from lxml import etree

Element = etree._Element
FACTORS = (-1, 0, 0.5, 1.1, 3, 1e-9, 1e-30, 1e-160, 1e-320, 1e6)
MARK = 'RAW-BYTES-HERE'         # becomes one of urdfs.RAW when the tree is bytes


def _some(root: Element, rng: Random, *tags: str) -> Element:
    """Return a random element below the root, of these tags if there are any; else the root."""
    found = [*root.iterdescendants(*tags or '*')] or [*root.iterdescendants('*')]
    return rng.choice(found) if found else root


def _names(root: Element, tag: str) -> list[str]:
    return [e.get('name', '') for e in root.iter(tag)] or ['base']


def _attribute(root: Element, rng: Random) -> tuple[Element, str]:
    places = [(e, a) for e in root.iter('*') for a in e.attrib] or [(root, 'name')]
    return rng.choice(places)


def _number(root: Element, rng: Random) -> tuple[Element, str]:
    tags = ('origin', 'axis', 'mass', 'inertia', 'limit', 'dynamics', 'mimic', 'gravity',
            'backward')
    elements = [*root.iter(*tags), *root.iterfind('robodyn/joint')]
    places = [(e, a) for e in elements for a in e.attrib if a != 'name'] or [(root, 'name')]
    return rng.choice(places)


def _multiply(element: Element, name: str, factor: float) -> None:
    try:
        numbers = [float(word) for word in element.get(name, '').split()]
    except ValueError:
        return
    element.set(name, ' '.join(repr(x * factor) for x in numbers))


def delete(root: Element, rng: Random) -> None:
    """Take an element out, with all it holds."""
    if (element := _some(root, rng)) is not root:
        element.getparent().remove(element)


def duplicate(root: Element, rng: Random) -> None:
    """Write an element twice, or a few times."""
    if (element := _some(root, rng)) is not root:
        for _ in range(rng.choice((1, 1, 2, 30))):
            element.addnext(deepcopy(element))


def move(root: Element, rng: Random) -> None:
    """Hang a copy of an element somewhere else."""
    _some(root, rng).append(deepcopy(_some(root, rng)))


def shuffle(root: Element, rng: Random) -> None:
    """Change the order of siblings, which has no meaning."""
    element = rng.choice([root, _some(root, rng)])
    children = list(element.iterchildren('*'))
    rng.shuffle(children)
    element[:] = children


def retag(root: Element, rng: Random) -> None:
    """Call an element something else; now and then the root."""
    (root if rng.random() < 0.05 else _some(root, rng)).tag = rng.choice(urdfs.TAGS)


def insert(root: Element, rng: Random) -> None:
    """Add an element that does not belong there."""
    element = etree.SubElement(rng.choice([root, _some(root, rng)]), rng.choice(urdfs.TAGS))
    for _ in range(rng.randrange(4)):
        element.set(rng.choice(urdfs.ATTRIBUTES), rng.choice(urdfs.NUMBERS + urdfs.NAMES))


def nest(root: Element, rng: Random) -> None:
    """Put elements into elements: a robot into the robot, or something into itself, deep."""
    inner = deepcopy(rng.choice([root, _some(root, rng)]))
    for _ in range(rng.choice((0, 1, 5, 60, 240))):
        outer = etree.Element(inner.tag)
        outer.append(inner)
        inner = outer
    _some(root, rng).append(inner)


def attribute(root: Element, rng: Random) -> None:
    """Take an attribute away, or give an element another one."""
    if rng.random() < 0.5:
        element, name = _attribute(root, rng)
        element.attrib.pop(name, None)
    else:
        _some(root, rng).set(rng.choice(urdfs.ATTRIBUTES), rng.choice(urdfs.NUMBERS + urdfs.NAMES))


def number(root: Element, rng: Random) -> None:
    """Write something else where a number is."""
    element, name = _number(root, rng)
    words = element.get(name, '').split()
    value = rng.choice(urdfs.NUMBERS)
    if len(words) == 3 and rng.random() < 0.7:
        words[rng.randrange(3)] = value
        value = ' '.join(words)
    element.set(name, value)


def scale(root: Element, rng: Random) -> None:
    """Change a number a little or a lot, so that many mutants stay robots."""
    _multiply(*_number(root, rng), rng.choice(FACTORS))


def grow(root: Element, rng: Random) -> None:
    """Change all masses, all moments or all lengths, beyond what machines are."""
    tag, names = rng.choice((('mass', ('value',)), ('origin', ('xyz',)),
                             ('inertia', ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz'))))
    factor = rng.choice(FACTORS)
    for element in root.iter(tag):
        for name in names:
            _multiply(element, name, factor)


def anything(root: Element, rng: Random) -> None:
    """Write some word where any attribute is."""
    element, name = _attribute(root, rng)
    element.set(name, rng.choice(urdfs.NAMES + urdfs.NUMBERS + urdfs.TYPES + (MARK, MARK)))


def call(root: Element, rng: Random) -> None:
    """Give a link or a joint another name, everywhere: the robot stays the same."""
    tag = rng.choice(('link', 'joint'))
    old, new = rng.choice(_names(root, tag)), rng.choice(urdfs.NAMES + (MARK,))
    places = {'link': (('link', 'name'), ('parent', 'link'), ('child', 'link')),
              'joint': (('joint', 'name'), ('mimic', 'joint'))}[tag]
    for place, attribute in places:
        for element in root.iter(place):
            if element.get(attribute) == old:
                element.set(attribute, new)


def retype(root: Element, rng: Random) -> None:
    """Make a joint one of another type."""
    _some(root, rng, 'joint').set('type', rng.choice(urdfs.TYPES))


def rewire(root: Element, rng: Random) -> None:
    """Turn joints, or hang them elsewhere: branches, forests, cycles, links that move twice."""
    end = _some(root, rng, 'parent', 'child')
    if rng.random() < 0.5:
        end.set('link', rng.choice(_names(root, 'link') + ['nowhere']))
    else:
        for other in end.getparent() if end is not root else ():
            other.tag = {'parent': 'child', 'child': 'parent'}.get(other.tag, other.tag)


def mimic(root: Element, rng: Random) -> None:
    """Let joints mimic one another: chains, cycles, themselves, nobody."""
    names = _names(root, 'joint') + ['nobody']
    for _ in range(rng.randint(1, 3)):
        etree.SubElement(_some(root, rng, 'joint'), 'mimic', joint=rng.choice(names),
                         multiplier=rng.choice(urdfs.NUMBERS + ('1', '-0.5', '2', '-1')),
                         offset=rng.choice(urdfs.NUMBERS + ('0', '0', '0.01', '-0.2')))


def xacro(root: Element, rng: Random) -> None:
    """Leave something of xacro behind."""
    if rng.random() < 0.5:
        element, name = _attribute(root, rng)
        element.set(name, rng.choice(('${pi/2}', '$(arg side)', '${prefix}joint')))
    else:
        etree.SubElement(_some(root, rng), '{http://www.ros.org/wiki/xacro}'
                         + rng.choice(('macro', 'include', 'property', 'if')), name='x')


def say(root: Element, rng: Random) -> None:
    """Write text between elements."""
    element = _some(root, rng)
    element.text, element.tail = rng.choice(urdfs.NAMES), rng.choice(urdfs.NAMES)


ALL: tuple[Callable[[Element, Random], None], ...] = (
    delete, duplicate, move, shuffle, retag, insert, nest, attribute, attribute, number, scale,
    grow, anything, call, retype, rewire, mimic, xacro, say)
# What leaves many robots valid has to come often: what is behind the first checks is met by them.
OFTEN = (shuffle, scale, scale, grow, number, call, call, retype, rewire)
