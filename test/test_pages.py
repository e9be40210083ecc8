# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""README.md and docs/: code that runs, figures, pictures, names, links; the site of them."""

import doctest
from importlib import import_module
import json
from pathlib import Path
import re
import runpy
import subprocess
import sys

import numpy as np
import pytest
from robodyn_ros import Dynamics, load_urdf, testing
from robodyn_ros.control.laws.registry import MODES
from robodyn_ros.nodes.controller.parameters import TABLE
from robodyn_ros.nodes.simulator import parameters as simulator_parameters
from viewer.browser import wait_for
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


def test_pages_of_the_site():
    assert len((ROOT / 'README.md').read_text().splitlines()) <= MOST_LINES
    text = (ROOT / 'mkdocs.yml').read_text().partition('\nnav:')[2]
    assert not [page for page in PAGES if f'{page}.md' not in text]


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
    site = tmp_path / 'site'
    controller = pages[site / 'api/control.html']
    assert 'Controller.step' in controller and 'Controller.write_inputs' not in controller
    assert '<a href="laws.html">Control laws</a>' in pages[site / 'index.html']
    assert '"data-md-color-scheme": "slate"' in pages[site / 'index.html'] or (
        'data-md-color-scheme="slate"' in pages[site / 'index.html'])
    assert (site / 'search/search_index.js').exists()       # which pages from the disk can load
    drawn = 'class="mermaid"' in pages[site / 'architecture.html']
    assert drawn == (site / 'npm/mermaid/dist/mermaid.min.js').exists()
    assert not (site / 'npm').exists() or (site / 'npm/iframe-worker/shim/index.js').exists()
    typeset = 'data-tex="' in pages[site / 'theory.html']
    assert typeset == (site / 'npm/katex/dist/katex.min.js').exists()


MOVE = """(() => {{ const inputs = document.querySelectorAll('#gravity-{robot} input');
  [...inputs].forEach((one, i) => {{ one.value = {q}[i]; }});
  inputs[0].dispatchEvent(new Event('input', {{bubbles: true}})); }})()"""
SHOWN = """[...document.querySelectorAll('#gravity-{robot} tbody tr')].map(row =>
  [Number(row.querySelector('input').value), row.cells[3].textContent])"""


def test_a_browser_computes_the_torques_of_the_page(browser, tmp_path):
    """What the sliders show is to four decimals that of Python, what is computed to 1e-12."""
    hooks = runpy.run_path(str(DOCS / 'site_hooks.py'))
    robots = hooks['GRAVITY'].search((DOCS / 'library.md').read_text())[1]
    page = tmp_path / 'gravity.html'
    page.write_text(f'<!DOCTYPE html><meta charset="utf-8">{hooks["gravity_page"](robots)}')
    with browser.tab(page.as_uri()) as tab:
        for robot in robots.split():
            wait_for(lambda name=robot: tab.run(SHOWN.format(robot=name)))
            model, rng = load_urdf(robot), np.random.default_rng(2)
            dynamics = Dynamics(model)
            for _ in range(5):
                wanted = rng.uniform(np.maximum(model.position_lower, -3.0),
                                     np.minimum(model.position_upper, 3.0))
                tab.run(MOVE.format(robot=robot, q=json.dumps(wanted.tolist())))
                rows = tab.run(SHOWN.format(robot=robot))
                q = np.array([value for value, _ in rows])
                assert q == pytest.approx(wanted, abs=1e-9)
                right = dynamics.gravity(q)
                shown = [float(re.sub(' N·m$', '', text)) for _, text in rows]
                assert shown == pytest.approx(right, abs=6e-5)
                found = tab.run(f'Array.from(gravity_{robot}({json.dumps(q.tolist())}))')
                assert np.abs(found - right).max() <= 1e-12 * max(1.0, np.abs(right).max())


THEORY = (ROOT / 'docs' / 'theory.md').read_text()
PACKAGE = ROOT / 'robodyn_ros'
MODULES = {path.stem: '.'.join(path.relative_to(ROOT).with_suffix('').parts)
           for room in ('control', 'dynamics') for path in (PACKAGE / room).rglob('*.py')}
FUNCTIONS = sorted({name for name in re.findall(r'`([a-z_]+\.[a-z_]+)`', THEORY)
                    if not name.endswith('.py')})


@pytest.mark.parametrize('name', FUNCTIONS)
def test_functions_of_the_theory(name):
    module, function = name.split('.')
    assert hasattr(import_module(MODULES[module]), function)


def test_files_and_tests_are_where_the_theory_says():
    assert len(FUNCTIONS) > 15
    named = re.findall(r'`((?:[a-z]+/)*[a-z_]+\.py)(?:::([a-z_]+))?`', THEORY)
    assert {'test_textbook_forms.py', 'model/dh.py', 'control/steps/friction_compensation.py'} <= {
        file for file, _ in named}
    for file, test in named:
        found = list((ROOT / 'test').glob(f'*/{file}')) or [PACKAGE / file]
        assert found[0].is_file(), file
        assert f'def {test}' in found[0].read_text(), (file, test)


@pytest.mark.slow
def test_the_picture_of_the_references_is_drawn_by_its_script(tmp_path):
    matplotlib = pytest.importorskip('matplotlib')
    with matplotlib.rc_context():
        runpy.run_path(str(DOCS / 'reference_frames.py'))['draw'](tmp_path / 'new.svg')
    new, kept = ((folder / name).read_text() for folder, name in (
        (tmp_path, 'new.svg'), (ROOT / 'docs', 'reference_frames.svg')))
    for reference in ('aligned', 'body', 'world'):
        assert reference in new and reference in kept


EXAMPLES = ['dynamics.api', 'dynamics.queries', 'dynamics.evaluation',
           'closed_loop', 'control.controller.controller_batch', 'model.robot', 'model.urdf',
           'model.dh', 'model.dh_file', 'model.resources']


@pytest.mark.slow
@pytest.mark.parametrize('name', EXAMPLES)
def test_the_examples_run(name):
    failed, tried = doctest.testmod(import_module(f'robodyn_ros.{name}'))
    assert tried and not failed
