# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The commands and results in the README and in docs/library.md."""

from pathlib import Path
import re

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
MOST_LINES = 150


@pytest.mark.parametrize('page', ['README.md', 'docs/library.md'])
def test_library_example(page, monkeypatch):
    """The Python of a page runs as it stands, and the numbers in its comments are true."""
    pytest.importorskip('mujoco')
    monkeypatch.chdir(ROOT)
    text = (ROOT / page).read_text()
    code = '\n'.join(re.findall(r'```python\n(.*?)```', text, re.DOTALL))
    names: dict = {}
    exec(code, names)
    said = re.search(r'dyn\.gravity\((\[.*?\])\)\s+# \[(.*?)\]', code)
    assert said
    q, numbers = eval(said[1]), np.array(said[2].split(), float)
    assert names['dyn'].gravity(q) == pytest.approx(numbers, abs=1e-7)
    assert names['run'].fault == '' and abs(names['run'].position - [0.3, 0.5]).max() < 1e-6
    if page != 'README.md':
        still = names['arm6'].gravity(names['arm'].qpos)
        assert len(still) == 6 and names['efforts'] == pytest.approx(still, abs=1e-7)


@pytest.mark.parametrize('page', ['README.md', 'CONTRIBUTING.md', *sorted(
    f'docs/{path.name}' for path in (ROOT / 'docs').glob('*.md'))])
def test_files_and_links(page):
    """Every file that a page links to is there, and every heading."""
    for link in re.findall(r'\]\((?!https?:)([^)]+)\)', (ROOT / page).read_text()):
        path, _, anchor = link.partition('#')
        target = (ROOT / page).parent / path if path else ROOT / page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target.read_text()), link


def anchors(text: str) -> set[str]:
    """Return the anchors of the headings of a page, as GitHub makes them."""
    headings = re.findall(r'^#+ (.*)$', text, re.MULTILINE)
    return {re.sub(r'[^\w -]', '', heading.lower()).replace(' ', '-') for heading in headings}


@pytest.mark.parametrize('heading, folder', [('## Subpackages', 'robodyn_ros'),
                                             ('### Packages of control', 'robodyn_ros/control')])
def test_the_architecture_lists_the_packages_there_are(heading, folder):
    text = (ROOT / 'docs' / 'architecture.md').read_text().partition(f'{heading}\n')[2]
    items = re.findall(r'^- (`[^:]*):', re.split(r'\n###? ', text)[0], re.MULTILINE)
    named = {path.rstrip('/') for item in items for path in re.findall(r'`([^`]+)`', item)}
    assert {path.parent.name for path in (ROOT / folder).glob('*/__init__.py')} <= named
    assert all((ROOT / folder / path).exists() for path in named)


def test_the_readme_stays_short():
    assert len((ROOT / 'README.md').read_text().splitlines()) <= MOST_LINES
