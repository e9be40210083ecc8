# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""README.md and docs/: code that runs, figures, pictures, parameters, links; the site of them."""

from pathlib import Path
import re
import runpy
import subprocess
import sys

import numpy as np
import pytest
from robodyn_ros import testing
from robodyn_ros.control.laws.registry import MODES
from robodyn_ros.nodes.controller.parameters import TABLE
from robodyn_ros.nodes.simulator import parameters as simulator_parameters
import yaml

ROOT = Path(__file__).parents[1]
DOCS = ROOT / 'docs'
MOST_LINES = 150
BRING_UP = (DOCS / 'bring_up.md').read_text()
BLOCKS = re.findall(r'```yaml\n# (\S+):? .*?\n(.*?)```', BRING_UP, re.DOTALL)
PAGES = {path.stem for path in DOCS.glob('*.md')} | {'index', 'contributing'}


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
    f'docs/{path.name}' for path in DOCS.glob('*.md'))])
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


def test_the_architecture_lists_the_packages_there_are():
    text = (DOCS / 'architecture.md').read_text().partition('## Rooms\n')[2]
    items = re.findall(r'^(?:- (?=`)|\| \w+ \| )([^:|]*)[:|]', re.split(r'\n## ', text)[0],
                       re.MULTILINE)
    named = {path.rstrip('/') for item in items for path in re.findall(r'`([^`]+)`', item)}
    package = ROOT / 'robodyn_ros'
    packages = {str(path.parent.relative_to(package)) for folder in ('*', 'control/*')
                for path in package.glob(f'{folder}/__init__.py')}
    assert packages <= named
    assert all((package / path).exists() for path in named)


def test_the_readme_stays_short():
    assert len((ROOT / 'README.md').read_text().splitlines()) <= MOST_LINES


def test_each_law_is_on_its_page_with_a_picture_that_shows_what_it_says():
    """Four seconds of simulation for one of them: the motion under both laws."""
    pytest.importorskip('mujoco')
    pytest.importorskip('matplotlib')
    text, pictures = (DOCS / 'laws.md').read_text(), {
        path.stem: path for path in (DOCS / 'laws').glob('*.svg')}
    assert [law for law in MODES if f'`{law}`' not in text] == []
    for law, picture in pictures.items():
        assert law in MODES and f'{law}: ' in picture.read_text()
        assert f'[`{law}`](laws/{law}.svg)' in text
    script = runpy.run_path(str(DOCS / 'law_pictures.py'))
    assert script['PICTURES'].keys() == pictures.keys()
    (_, with_model), (_, springs) = script['PICTURES']['computed_torque']().curves.values()
    assert 0.0 < with_model.max() < 0.02 * springs.max()


@pytest.mark.parametrize('block', dict(BLOCKS).values(), ids=dict(BLOCKS))
def test_parameters_are_those_of_the_node(block):
    known = {p.name: p for p in TABLE}
    for section, values in yaml.safe_load(block).items():
        assert section.startswith('/**')
        for key, value in (values['ros__parameters'] if section == '/**/controller' else {}
                           ).items():
            known[key].check(value)


def test_the_lockstep_recipe_is_for_both_nodes():
    """docs/faq.md: its parameters exist, and have allowed values."""
    page = (DOCS / 'faq.md').read_text()
    sections = yaml.safe_load(re.search(r'# lockstep.yaml\n(.*?)```', page, re.DOTALL)[1])
    for node, table in (('simulator', simulator_parameters.TABLE), ('controller', TABLE)):
        values = sections[f'/**/{node}']['ros__parameters']
        for parameter in table:
            parameter.check(values.pop(parameter.name, parameter.default))
        assert values in ({}, {'use_sim_time': True})


def test_bring_up_lists_every_launch_file_and_has_the_example_of_the_module():
    assert len(BLOCKS) == BRING_UP.count('```yaml') == 2
    for file in (ROOT / 'launch').glob('*.launch.py'):
        assert f'`{file.name}`' in BRING_UP
    example, module = (re.sub(r'\s+', ' ', text) for text in (
        re.search(r'(def test_.*)```', BRING_UP, re.DOTALL)[1], testing.__doc__ + ' '))
    assert example in module


def test_every_page_is_in_the_navigation():
    text = (ROOT / 'mkdocs.yml').read_text().partition('\nnav:')[2]
    assert not [page for page in PAGES if f'{page}.md' not in text]


@pytest.mark.slow
def test_every_page_is_in_the_site_and_no_link_is_broken(tmp_path):
    pytest.importorskip('material', reason='needs pip install mkdocs-material')
    done = subprocess.run([sys.executable, '-m', 'mkdocs', 'build', '--strict', '--site-dir',
                           str(tmp_path / 'site')], cwd=ROOT, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert {page.stem for page in (tmp_path / 'site').glob('*.html')} >= PAGES
    pages = {path: path.read_text() for path in (tmp_path / 'site').rglob('*.html')}
    assert {'control', 'dynamics', 'model'} <= {path.stem for path in pages
                                                if path.parent.name == 'api'}
    for path, text in pages.items():
        assert not re.search(':(class|func|meth|mod|data|attr):', text), path
        assert not re.search(r'<(script|link)[^>]+(src|href)="https?:', text), path
    model = pages[tmp_path / 'site/api/model.html']
    assert '&lt;robodyn&gt;' in model and '<robodyn>' not in model
    assert 'href="#robodyn_ros.model.resources.robot_names"' in model
    drawn = 'class="mermaid"' in pages[tmp_path / 'site/architecture.html']
    assert drawn == (tmp_path / 'site/javascripts/mermaid.min.js').exists()
