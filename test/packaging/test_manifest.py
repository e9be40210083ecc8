# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""package.xml and launch files: what ROS tools read, and the one place of the version."""

import ast
from fnmatch import fnmatch
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
import re
import subprocess
import sys
from xml.etree import ElementTree

from processes import node_names
import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
VERSION = ElementTree.parse(ROOT / 'package.xml').findtext('version')


def test_colcon_takes_it_for_a_ros_package(clean, tmp_path):
    pytest.importorskip('colcon_core', reason='needs pip install colcon-common-extensions')
    # A slip in package.xml is only a warning: the package would be built as plain Python
    listed = subprocess.run([sys.executable, '-m', 'colcon', 'list', '--base-paths', ROOT],
                            cwd=tmp_path, env=clean, text=True, capture_output=True,
                            check=True)
    assert '(ros.ament_python)' in listed.stdout
    assert 'package.xml' not in listed.stderr


def test_the_version_is_said_once(clean):
    shown = subprocess.run([sys.executable, 'setup.py', '--version'], cwd=ROOT, env=clean,
                           text=True, capture_output=True, check=True)
    assert shown.stdout.split()[-1] == VERSION
    headings = re.findall(r'^(\S+)(?: \(.*\))?\n-{3,}$', (ROOT / 'CHANGELOG.rst').read_text(),
                          re.MULTILINE)
    assert headings[0] in (VERSION, 'Forthcoming')
    # Version and date of CITATION.cff are those of the newest release in the changelog.
    released = dict(re.findall(r'^(\S+) \((.*)\)\n-{3,}$', (ROOT / 'CHANGELOG.rst').read_text(),
                               re.MULTILINE))
    citation = (ROOT / 'CITATION.cff').read_text()
    assert f'\nversion: {VERSION}\ndate-released: {released[VERSION]}\n' in citation
    elsewhere = [p for pattern in ('*.py', '*.cfg', '*.toml', 'robodyn_ros/**/*.py')
                 for p in ROOT.glob(pattern) if f"'{VERSION}'" in p.read_text()]
    assert elsewhere == []


def test_ros_tools_read_the_manifest():
    # `rosdep install`, and the packages of the build farm, take none that only pip has.
    keys = [element.text for element in ElementTree.parse(ROOT / 'package.xml').getroot()
            if element.tag.endswith('depend')]
    assert keys and not [key for key in keys if key.endswith('-pip')]
    # As `venv/` of the README; the other linters read .gitignore, or name what they check.
    (skipped,) = re.findall("^skip = '(.*)'$", (ROOT / 'pyproject.toml').read_text(), re.MULTILINE)
    ignored = [line.strip('/') for line in (ROOT / '.gitignore').read_text().splitlines()
               if line and line[0] != '#' and line.strip('/')[0] not in '._']
    assert 'venv' in ignored
    assert not [name for name in ignored
                if not any(fnmatch(name, pattern) for pattern in skipped.split(','))]


def test_colcon_test_runs_what_says_that_an_installation_works(pytestconfig):
    """Not everything, which takes far longer: colcon calls pytest without arguments."""
    paths = [ROOT / path for path in pytestconfig.getini('testpaths')]
    files = {file.relative_to(ROOT).as_posix() for path in paths
             for file in (path.rglob('test_*.py') if path.is_dir() else [path])}
    assert pytestconfig.inipath == ROOT / 'pyproject.toml' and all(p.exists() for p in paths)
    assert 'test/nodes/test_controller_life.py' in files and 4 < len(files) < 10, files


FILES = sorted((ROOT / 'launch').glob('*.launch.py'))
EXAMPLE = ROOT / 'examples' / 'launch' / 'my_arm.launch.xml'
# Files that only pass arguments on, and the one that they pass them to
INCLUDED = {'demo': 'simulation', 'simulation': 'controller', 'dual_arm': 'controller',
            'ros2_control': 'controller', 'gazebo': 'ros2_control',
            'mujoco_ros2_control': 'ros2_control'}


def constants(stem: str) -> dict:
    """Literal assignments of a launch file at module level."""
    found = {}
    for node in ast.parse((ROOT / 'launch' / f'{stem}.launch.py').read_text()).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            try:
                found[node.targets[0].id] = ast.literal_eval(node.value)
            except ValueError:          # CHOICES name tables of the package
                continue
    return found


@pytest.mark.parametrize('file', FILES, ids=lambda file: file.name)
def test_what_it_imports_from_this_package_exists(file):
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or '').startswith('robodyn_ros'):
            module = import_module(node.module)
            assert all(hasattr(module, alias.name) or find_spec(f'{node.module}.{alias.name}')
                       for alias in node.names), ast.dump(node)


@pytest.mark.parametrize('file', FILES, ids=lambda file: file.name)
def test_its_arguments_are_explained(file):
    arguments = constants(file.name.partition('.')[0])['ARGUMENTS']
    for name, (default, text) in arguments.items():
        assert re.fullmatch('[a-z_]+', name) and isinstance(default, str) and len(text) > 8, name
    assert 'ros2 launch robodyn_ros ' + file.name in (ast.get_docstring(
        ast.parse(file.read_text())) or '')


@pytest.mark.parametrize('stem', INCLUDED)
def test_no_argument_is_inherited_unasked(stem):
    """Each argument of an included file is given, or `launch` would pass on any of that name."""
    text = (ROOT / 'launch' / f'{stem}.launch.py').read_text()
    for name in constants(INCLUDED[stem])['ARGUMENTS']:
        assert re.search(rf"['\s]{name}(?:'|=)", text), name


def test_executables_are_those_of_the_package():
    named = {name for file in FILES for name in re.findall(
        r"package='robodyn_ros',\s+executable='(\w+)'", file.read_text())}
    assert named == {f'robodyn_{name}' for name in node_names()}


def test_xml_example_gives_arguments_of_the_file_that_it_includes():
    (include,) = ElementTree.parse(EXAMPLE).getroot().iter('include')
    assert include.get('file').endswith('/launch/controller.launch.py')
    assert {arg.get('name') for arg in include} <= {*constants('controller')['ARGUMENTS']}
