# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Figures in the documentation, from the results in docs/benchmarks/: `python -m benchmarks.pages`.

They are the page docs/benchmarks.md and the tables of :mod:`.figures` within other pages. `--docs`
of a benchmark puts its results there and writes all of them anew.
"""

from collections.abc import Callable, Mapping
import json
from pathlib import Path
import shutil
from typing import Any, NamedTuple

from . import (
    figures, generated_c_results, live_view_results, loop_results, many_arms_results, results)

ROOT = Path(__file__).resolve().parents[1]
LEFT_OUT = 'raw',           # of results: what the others are computed from
HEAD = """# Benchmarks

<!-- Written by `python -m benchmarks.pages` from docs/benchmarks/: do not edit. -->

Alternatives were measured in turns, in one run. Each section begins with its command.
"""


class Section(NamedTuple):
    """
    Section of docs/benchmarks.md.

    :param command: that measures it; ``text``: of its results.
    :param picture: name of the file in docs/, '' for none, and ``caption``: what it shows.
    """

    title: str
    command: str
    text: Callable[[dict[str, Any]], str]
    picture: str = ''
    caption: str = ''
    read: Callable[[str], dict[str, Any]] = json.loads


# By the name of the file of results
SECTIONS = {
    'dynamics': Section('Dynamics compared with other libraries', 'make bench ARGS=dynamics',
                        results.markdown, 'benchmark.png', 'speed relative to Pinocchio'),
    'loop': Section('Control loop compared with rclpy nodes', 'make bench ARGS=loop',
                    loop_results.markdown, 'loop.png',
                    'round trips, processor time, states answered and wake-up errors',
                    loop_results.read),
    'generated_c': Section('Dynamics compared with generated C code',
                           'python -m benchmarks.generated_c', generated_c_results.markdown),
    'many_arms': Section('Many arms on one machine', 'make bench ARGS=many_arms',
                         many_arms_results.markdown, 'many_arms.png',
                         'states answered and processor time by arms, joints and rate',
                         many_arms_results.read),
    'live_view': Section('Live viewer', 'make bench ARGS=live_view',
                         live_view_results.markdown)}


def found(root: Path = ROOT) -> dict[str, dict[str, Any]]:
    """Return the results in the documentation, by the name of their file."""
    files = {name: root / 'docs' / 'benchmarks' / f'{name}.json' for name in SECTIONS}
    return {name: SECTIONS[name].read(file.read_text()) for name, file in files.items()
            if file.exists()}


def page(known: Mapping[str, dict[str, Any]]) -> str:
    """Return docs/benchmarks.md of these results."""
    parts = [HEAD]
    for name, section in SECTIONS.items():
        if name in known:
            picture = f'\n![{section.caption}]({section.picture})\n' if section.picture else ''
            parts.append(f'## {section.title}\n\n`{section.command}`\n\n'
                         f'{section.text(known[name])}{picture}')
    return '\n'.join(parts)


def pages(root: Path = ROOT) -> dict[Path, str]:
    """Return what each page with figures has to be, by its file."""
    known = found(root)
    texts = {file: figures.filled(file.read_text(), known)
             for file in (root / 'README.md', *sorted((root / 'docs').glob('*.md')))}
    return {**texts, root / 'docs' / 'benchmarks.md': page(known)}


def write(root: Path = ROOT) -> None:
    """Write the pages whose figures have changed."""
    for file, text in pages(root).items():
        if not file.exists() or file.read_text() != text:
            file.write_text(text)


def publish(file: Path, root: Path = ROOT) -> None:
    """
    Put results into the documentation, and write the pages anew.

    :param file: of results; their picture is beside it, with the suffix .png.
    """
    folder = root / 'docs' / 'benchmarks'
    folder.mkdir(exist_ok=True)
    kept = {name: value for name, value in json.loads(file.read_text()).items()
            if name not in LEFT_OUT}
    (folder / file.name).write_text(json.dumps(kept, indent=1) + '\n')
    if picture := SECTIONS[file.stem].picture:
        shutil.copy(file.with_suffix('.png'), root / 'docs' / picture)
    write(root)


if __name__ == '__main__':
    write()
