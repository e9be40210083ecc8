# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Kinematic tree of the links and joints of a URDF, and checks of their names."""

from collections import Counter, defaultdict

from urdf_parser_py.urdf import Joint, URDF

from ..errors import UrdfError
from ..text import appearance


def check_tree(robot: URDF) -> str:
    """
    Return the root link of a URDF.

    :raises UrdfError: links and joints do not form one tree, or names are not unique.
    """
    def refuse(problem: str, name: str, remedy: str) -> None:
        raise UrdfError(problem, name=name, remedy=remedy)

    links = {link.name for link in robot.links}
    for kind, elements in (('link', robot.links), ('joint', robot.joints)):
        for name, count in Counter(e.name for e in elements).items():
            if count > 1:
                refuse(f'{count} {kind}s are called {name!r}', name, 'give each its own name')
    above: dict[str, Joint] = {}
    for joint in robot.joints:
        for role, link in (('parent', joint.parent), ('child', joint.child)):
            if link not in links:
                refuse(f'joint {joint.name!r}: its {role} link {link!r} does not exist',
                       joint.name, f'add <link name="{link}"/> or correct the name')
        if joint.child in above:
            refuse(f'link {joint.child!r} is moved by the joints {above[joint.child].name!r} and '
                   f'{joint.name!r}', joint.child, 'a URDF is a tree: keep one of them')
        above[joint.child] = joint
    roots = [link.name for link in robot.links if link.name not in above]
    if len(roots) > 1:
        refuse(f'there are {len(roots)} root links: {", ".join(map(repr, roots))}', roots[1],
               'connect them by (fixed) joints, or remove those that are not needed')
    if not links:
        refuse(f'robot {robot.name!r} has no link', robot.name, 'add links and joints')
    reached, todo = set(roots), roots[:]
    below = child_joints(robot)
    while todo:
        children = [joint.child for joint in below[todo.pop()]]
        reached.update(children)
        todo += children
    for joint in robot.joints:
        if joint.child not in reached:
            refuse(f'joint {joint.name!r} is in or behind a closed loop of links', joint.name,
                   'a URDF is a tree: cut the loop by removing a joint')
    return roots[0]


def lookalike_warnings(robot: URDF) -> list[str]:
    """Return warnings of different names that look the same."""
    warnings = []
    for kind, elements in (('link', robot.links), ('joint', robot.joints)):
        seen: dict[str, str] = {}
        pairs = [(seen.setdefault(appearance(e.name), e.name), e.name) for e in elements]
        alike = [(one, other) for one, other in pairs if one != other]
        for one, other in alike[:1]:
            warnings.append(f'{kind}s {one!a} and {other!a} look alike, but are two'
                            + (f'; so do {len(alike) - 1} more' if alike[1:] else ''))
    return warnings


def child_joints(robot: URDF) -> dict[str, list[Joint]]:
    """Return the joints by the link that carries them, in document order."""
    below: dict[str, list[Joint]] = defaultdict(list)
    for joint in robot.joints:
        below[joint.parent].append(joint)
    return below


def joints_between(robot: URDF, base: str, tip: str) -> set[str]:
    """
    Return the names of the joints between two links of a tree.

    :raises UrdfError: ``tip`` is not below ``base``.
    """
    above = {joint.child: joint for joint in robot.joints}
    names, link = set(), tip
    while link != base:
        if link not in above:
            raise UrdfError(f'tip {tip!r} is not below the root {base!r}', name=tip,
                            remedy='choose a tip in the part of the tree that root carries')
        names.add(above[link].name)
        link = above[link].parent
    return names
