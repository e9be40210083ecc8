# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameter files: search by name, checks of what they give, one file for several nodes."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
import re
from typing import Any

import yaml

from ...errors import close_names, ParameterError, reading, UnknownNameError
from ...model.resources import OWN_ROBOTS, share_path

OPTION, ONE = '--params-file', ('-p', '--param')
SECTION, MAPPING = 'ros__parameters', 'tag:yaml.org,2002:map'
MIN_NAME_SIMILARITY = 0.8    # difflib ratio above which a name is a misspelling
# A key of a file as rcl matches it with the full name of a node
WILDCARDS = {'**': r'(/\w+)*', '*': r'/\w+'}
GRAVITY_PARAMETER = 'robot_compensates_gravity'


def config_path(name_or_path: str) -> Path:
    """
    Return the parameter file of a path, or of a name among those of this package's config folder.

    launch_ros only warns of a file that is not there, and the node would start with defaults.

    :raises ParameterError: neither is a file.
    """
    if (path := Path(name_or_path).expanduser()).is_file():
        return path.absolute()
    folder = share_path('config')
    try:
        if not path.is_absolute() and (ours := share_path('config', name_or_path)).is_file():
            return ours
    except UnknownNameError:
        pass
    known = ', '.join(sorted(file.name for file in folder.glob('*.yaml')))
    raise ParameterError(
        f'no parameter file {name_or_path!r}: {path.absolute()} is no file, and {folder} has none '
        'of that name', name='config', value=name_or_path,
        remedy=f'pass the path of a file, or one of {known}')


def check_sections(arguments: Sequence[str], node: str) -> None:
    """
    Refuse parameter files without a section for a node, which would run with defaults.

    :param arguments: of the node, as in sys.argv.
    :param node: full name of the node, e.g. ``/left/controller``.
    :raises ParameterError: naming the file and the nodes that are in it.
    """
    for file in _values(arguments, OPTION):
        _sections(Path(file), node)


def unread(arguments: Sequence[str], node: str, known: Collection[str]) -> list[str]:
    """
    Return a warning for each parameter that a node is given and does not have.

    One of a section for several nodes may be meant for another node; it is reported only where
    it resembles a parameter of this node.

    :param arguments, node: as of :func:`check_sections`.
    :param known: names of the parameters that the node has.
    """
    found: dict[str, str] = {}
    for file in _values(arguments, OPTION):
        for section_name, section in _matching(Path(file), node):
            for name, _ in _flat(section):
                if (section_name.rpartition('/')[2] not in WILDCARDS
                        or get_close_matches(name, known, 1, MIN_NAME_SIMILARITY)):
                    found.setdefault(name, f'in {file} ')
    for option in ONE:
        for rule in _values(arguments, option):
            whose, colon, name = rule.partition(':=')[0].rpartition(':')
            if not colon or _matches(f'/{whose.strip("/")}', node) or whose == _base(node):
                found.setdefault(name, '')
    return [f'parameter {name} {where}is not read: {_base(node)} has no such parameter'
            f'{meant(name, known)}'
            for name, where in found.items() if name not in known]


def check_gravity_given(given: Collection[str], robot: str) -> None:
    """
    Refuse a robot for which the parameter is not set.

    Robots of this package exist only in its simulator, which does not compensate by default.

    :param given: names of the parameters that were set.
    :param robot: name of the robot.
    :raises ParameterError: the parameter is not set; with a wrong value, g(q) would act twice and
        throw a real arm.
    """
    if GRAVITY_PARAMETER in given or robot in OWN_ROBOTS:
        return
    raise ParameterError(
        f'nothing says whether robot {robot} compensates gravity itself', name=GRAVITY_PARAMETER,
        remedy=f'set {GRAVITY_PARAMETER}: true where zero effort holds the arm (Franka, UR: the '
               'presets franka.yaml and ur.yaml do), false where it sinks; docs/robots.md says '
               'how to tell')


def meant(name: str, names: Iterable[str]) -> str:
    """Return the question which of some names was meant, '' if none resembles the given one."""
    close = close_names(name, names)
    return f'; did you mean {" or ".join(close)}?' if close else ''


def value_in(file: Path, node: str, name: str) -> Any:
    """
    Return the value that a file gives to a parameter of a node, None if it gives none.

    :raises ParameterError: the file has no section for the node.
    """
    found = _newest(_sections(file, node)).get(name)
    return None if found is None else yaml.load(yaml.serialize(found), _RclLoader)


def values_in(file: Path, node: str) -> dict[str, Any]:
    """
    Return all parameters that a file gives to a node, without ROS.

    :raises ParameterError: the file cannot be read, or has no section for the node.
    """
    with reading(file, ParameterError, '--config', 'correct it; `robodyn init` writes one'):
        return {name: yaml.load(yaml.serialize(value), _RclLoader)
                for name, value in _newest(_sections(file, node)).items()}


class _RclLoader(yaml.SafeLoader):
    """Loader that takes 1e-3 for a number, as rcl does and YAML 1.1 does not."""


_RclLoader.add_implicit_resolver('tag:yaml.org,2002:float', re.compile(
    r'[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+$'), list('-+.0123456789'))


def one_file(nodes: Mapping[str, tuple[Sequence[Path], Mapping[str, object]]]) -> str:
    """
    Return the text of one parameter file for several nodes of a process, a section for each.

    Given to the process one by one, files with wildcards would be for all of its nodes, and the
    last one would apply.

    :param nodes: by full name: the files of the node, and values that override them.
    :raises ParameterError: a file has no section for its node.
    """
    sections = []
    for name, (files, values) in nodes.items():
        found = [section for file in files for section in _sections(file, name)]
        found.append(yaml.compose(yaml.safe_dump(dict(values))))
        sections.append((_text(name), yaml.MappingNode(MAPPING, [
            (_text(SECTION), yaml.MappingNode(MAPPING, [
                (_text(key), value) for key, value in _newest(found).items()]))])))
    # Not as Python values: the types of scalars are rcl's, which takes 1e-3 for a number
    return yaml.serialize(yaml.MappingNode(MAPPING, sections))


def _newest(sections: Iterable[yaml.Node | None]) -> dict[str, yaml.Node]:
    """Return the value of each parameter by its name, as rcl reads them: the last one counts."""
    return dict(pair for section in sections for pair in _flat(section))


def _text(text: str) -> yaml.ScalarNode:
    return yaml.ScalarNode('tag:yaml.org,2002:str', text)


def _flat(section: yaml.Node | None, prefix: str = '') -> Iterator[tuple[str, yaml.Node]]:
    """Yield name and value of each parameter, the names of nested ones with dots."""
    for key, value in section.value if isinstance(section, yaml.MappingNode) else ():
        if isinstance(value, yaml.MappingNode):
            yield from _flat(value, f'{prefix}{key.value}.')
        else:
            yield f'{prefix}{key.value}', value


def _sections(file: Path, node: str) -> list[yaml.Node | None]:
    """Return the parameters that a file has for a node, in its order; refuse one without any."""
    found = [section for _, section in _matching(file, node)]
    if not found:
        names = [name for name, _ in _all_sections(file)]
        raise ParameterError(
            f'parameter file {file} has no section for node {node}, only for '
            f'{", ".join(names) or "none"}', name=node, value=names,
            remedy=f'name the section /**/{_base(node)}, or the node as the file does')
    return found


def _all_sections(file: Path) -> list[tuple[str, yaml.Node | None]]:
    with file.open(encoding='utf-8') as text:
        return list(_named(yaml.compose(text)))


def _matching(file: Path, node: str) -> list[tuple[str, yaml.Node | None]]:
    return [found for found in _all_sections(file) if _matches(found[0], node)]


def _base(node: str) -> str:
    return node.rpartition('/')[2]


def _values(arguments: Sequence[str], option: str) -> Iterator[str]:
    """Values of an option between ``--ros-args`` and ``--``, as rcl reads the arguments."""
    for_ros = False
    for word, following in zip(arguments, [*arguments[1:], '']):
        if for_ros and word == option and following:
            yield following
        for_ros = word == '--ros-args' or for_ros and word != '--'


def _named(content: Any, above: str = '') -> Iterator[tuple[str, yaml.Node | None]]:
    """Full names of the nodes, with wildcards, that have a section, and the section."""
    for key, value in content.value if isinstance(content, yaml.MappingNode) else ():
        if key.value == SECTION:
            yield above, value
        else:
            yield from _named(value, f'{above}/{str(key.value).strip("/")}')


def _matches(name: str, node: str) -> bool:
    tokens = [WILDCARDS.get(token, '/' + re.escape(token)) for token in name.split('/')[1:]]
    return re.fullmatch(''.join(tokens), node) is not None
