# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Hooks of mkdocs for the API: one page a package, and references as links.

`api.md` lists what is documented. Docstrings refer to code by roles of Sphinx, which Markdown does
not know.
"""

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
import re
from typing import Any, TYPE_CHECKING

import griffe

if TYPE_CHECKING:
    from mkdocs.structure.files import Files

ROOT = Path(__file__).resolve().parents[1]
LIST = ROOT / 'docs' / 'api.md'
DIRECTIVE = re.compile(r'^::: (robodyn_ros\.([\w.]+))$', re.MULTILINE)
ROLE = re.compile(r':(?:class|func|meth|mod|data|attr|exc|ref):<code>(~?)\.*([\w.]+)</code>')
TAG = re.compile(r'(?<![`\w])</?[a-z]\w*(?: [^<>`\n]*)?/?>(?!`)')


def documented() -> list[str]:
    """Return the dotted names in api.md."""
    return [found[1] for found in DIRECTIVE.finditer(LIST.read_text())]


def packages() -> Iterator[tuple[str, list[str]]]:
    """Yield the packages that have a page, each with the dotted names on it."""
    def package(name: str) -> str:
        return name.split('.')[1]
    for name, group in groupby(sorted(documented(), key=package), package):
        yield name, list(group)


#: Members of a documented class that only this package uses.
INTERNAL = {'Controller': (
    'advance', 'basis_changes', 'changed', 'compiled', 'cycle_input', 'drive_fault', 'drives_damp',
    'history', 'inputs', 'memory', 'missed_periods', 'objection', 'pace', 'partner', 'policy',
    'pose', 'prepare_settings', 'put_in_force', 'records', 'scarcity', 'trajectory', 'vectors',
    'write_inputs')}


class Documented(griffe.Extension):
    """No internal members; elements of XML as code, which Markdown would take for its own."""

    def on_class_members(self, *, cls: Any, **_: Any) -> None:
        """Leave out the internal members of a class."""
        for name in INTERNAL.get(cls.name, ()):
            cls.members.pop(name, None)

    def on_object(self, *, obj: Any, **_: Any) -> None:
        """Mark the elements in the docstring of an object."""
        if obj.docstring:
            obj.docstring.value = TAG.sub(r'`\g<0>`', obj.docstring.value)


#: Dotted name of what is documented, by its last word.
KNOWN = {name.rpartition('.')[2]: name for name in documented()}


def on_config(config: Any) -> Any:
    """Put the pages of the packages into the navigation."""
    pages = [f'api/{name}.md' for name, _ in packages()]
    for section in config['nav']:
        for entries in section.values():
            if 'api.md' in entries:
                entries.remove('api.md')
    config['nav'].insert(-1, {'API': ['api.md', *pages]})
    return config


def on_files(files: 'Files', config: Any) -> 'Files':
    """Add the pages of the packages."""
    from mkdocs.structure.files import File

    for name, members in packages():
        text = '\n\n'.join([f'# robodyn_ros.{name}', *(f'::: {member}' for member in members)])
        files.append(File.generated(config, f'api/{name}.md', content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: 'Files') -> str:
    """Replace the list in api.md by one of the packages."""
    if page.file.src_uri != 'api.md':
        return markdown
    rows = [f'| [robodyn_ros.{name}](api/{name}.md) | ' + ', '.join(
        f'`{member.rpartition(".")[2]}`' for member in members) + ' |'
        for name, members in packages()]
    return '\n'.join([DIRECTIVE.sub('', markdown).rstrip(), '',
                      '| page | contents |\n|---|---|', *rows])


def on_page_content(html: str, page: Any, config: Any, files: 'Files') -> str:
    """Replace roles by the names that they mean, with a link to what has a page."""
    return ROLE.sub(_reference, html)


def _reference(role: re.Match[str]) -> str:
    short, target = role.groups()
    name = target.rpartition('.')[2] if short else target
    full = target if target.startswith('robodyn_ros.') else KNOWN.get(target.rpartition('.')[2])
    code = f'<code>{name.removeprefix("robodyn_ros.")}</code>'
    return f'<autoref identifier="{full}" optional>{code}</autoref>' if full else code
