# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Launch files as far as they can be read without launch.

What they import from this package exists, and so does what they name: executables, parameters,
files; what they include gets arguments that it declares.
"""

import ast
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
import re
from xml.etree import ElementTree

from processes import node_names
import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
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
