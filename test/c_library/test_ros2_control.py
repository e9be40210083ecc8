# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Package for ros2_control: its files fit together, and its C++ compiles where the headers are.

test_plugin.py runs it. It was also run in a controller manager with MuJoCo, which cannot be
installed from PyPI: docs/ros2_control_plugin.md has the results.
"""

import ast
import os
from pathlib import Path
import re
import shutil
import subprocess
import sys
from xml.etree import ElementTree

from cli.commands import refused
import pytest
from robodyn_ros import load_urdf, Settings
from robodyn_ros.c_library import library
from robodyn_ros.c_library.library import TEMPLATES, write_package
from robodyn_ros.errors import ArgumentError, ParameterError
import yaml

PACKAGE = 'my_arm_controller'
SETTINGS = Settings(mode='joint_impedance', rate=500.0, stiffness=(100.0, 60.0),
                    damping=(8.0, 4.0), arming_samples=1)
# As ros2_controllers are formatted
STYLE = ('{Language: Cpp, BasedOnStyle: Google, ColumnLimit: 100, AccessModifierOffset: -2, '
         'AlignAfterOpenBracket: AlwaysBreak, BreakBeforeBraces: Allman, '
         'ConstructorInitializerIndentWidth: 0, ContinuationIndentWidth: 2, '
         'DerivePointerAlignment: false, PointerAlignment: Middle, ReflowComments: true, '
         'IncludeBlocks: Preserve}')


@pytest.fixture(scope='module')
def package(tmp_path_factory):
    """Return a folder with the files of a package, without those of the C library."""
    folder = tmp_path_factory.mktemp('workspace') / PACKAGE
    write_package(load_urdf('two_link'), {'stiff': SETTINGS}, folder)
    return folder


def test_templates_and_declarations_agree(package):
    for file in package.rglob('*'):
        if file.is_file():
            text = str(file.relative_to(package)) + file.read_text()
            assert 'robot_controller' not in text and not re.search(r'@\w+@', text), file
    file = package / 'src' / f'{PACKAGE}_parameters.yaml'
    declared = yaml.safe_load(file.read_text())[PACKAGE]
    text = (package / 'config' / f'{PACKAGE}.yaml').read_text()
    mentioned = {*yaml.safe_load(text)[PACKAGE]['ros__parameters'],
                 *re.findall(r'^    # (\w+): [\d\']', text, re.MULTILINE)}
    assert declared.keys() == mentioned - {'type'}
    kinds = {'string': str, 'string_array': list, 'bool': bool, 'double': float}
    assert all(type(one['default_value']) is kinds[one['type']] for one in declared.values())
    for name, value in re.findall(r"^    # (\w+): ([\d'].*)", text, re.MULTILINE):
        assert declared[name]['default_value'] == yaml.safe_load(value), name
    assert {name for name, one in declared.items() if not one.get('read_only')} == {'settings'}
    assert declared['joints']['default_value'] == ['joint1', 'joint2']
    header = (library.SOURCES / library.HEADER).read_text()
    for source in (package / 'src').iterdir():
        for function in re.findall(r'\brobodyn_controller_\w+(?=\()', source.read_text()):
            assert f'{function}(' in header, function


def test_names_of_manifest_plugin_and_parameters_agree(package):
    manifest = ElementTree.parse(package / 'package.xml')
    assert manifest.findtext('name') == PACKAGE
    plugin = ElementTree.parse(package / f'{PACKAGE}_plugin.xml').getroot()
    declared = plugin.find('class')
    source = (package / 'src' / f'{PACKAGE}.cpp').read_text()
    exported = re.search(r'PLUGINLIB_EXPORT_CLASS\(\s*([\w:]+), ([\w:]+)\)', source).groups()
    assert (declared.get('type'), declared.get('base_class_type')) == exported
    assert plugin.get('path') == PACKAGE
    cmake = (package / 'CMakeLists.txt').read_text()
    assert f'project({PACKAGE} ' in cmake and f'{PACKAGE}_plugin.xml' in cmake.replace(
        '${PROJECT_NAME}', PACKAGE)
    parameters = yaml.safe_load((package / 'config' / f'{PACKAGE}.yaml').read_text())
    manager, controller, trajectory = (parameters[name]['ros__parameters'] for name in (
        'controller_manager', PACKAGE, f'{PACKAGE}_trajectory'))
    assert controller['type'] == manager[PACKAGE]['type'] == declared.get('name')
    assert controller['settings'] == 'stiff'
    assert manager['update_rate'] == 500
    assert controller['fallback_controllers'] == ['joint_trajectory_controller']
    assert controller['joints'] == ['joint1', 'joint2']
    assert trajectory['joints'] == ['joint1', 'joint2']
    assert trajectory['constraints'] == {
        'goal_time': 2.0, 'joint1': {'goal': 0.05}, 'joint2': {'goal': 0.05}}
    assert trajectory['command_joints'] == [f'{PACKAGE}/joint1', f'{PACKAGE}/joint2']
    assert trajectory['interpolate_from_desired_state'], 'for streams'
    ast.parse((package / 'launch' / f'{PACKAGE}.launch.py').read_text())
    parse_package = pytest.importorskip('catkin_pkg.package').parse_package
    warnings = []
    assert parse_package(package, warnings=warnings).get_build_type() == 'ament_cmake'
    assert not warnings
    manifest = ElementTree.parse(package / 'package.xml')
    depends = {element.text for element in manifest.findall('depend')}
    cmake = (package / 'CMakeLists.txt').read_text()
    found = set(re.search(r'set\(DEPENDENCIES(.*?)\)', cmake, re.DOTALL)[1].split())
    linked = set(re.findall(r'\$\{(\w+)_TARGETS\}|(\w+)::\w+', cmake))
    included = set(re.findall(r'#include "(\w+)/', ''.join(
        file.read_text() for file in (package / 'src').iterdir())))
    assert depends == found == {a or b for a, b in linked} | {'generate_parameter_library'}
    assert included <= depends | {PACKAGE, 'rcl_interfaces', 'controller_manager'}
    sources = {str(file.relative_to(package)) for file in package.rglob('*.cpp')}
    assert sources == set(re.findall(r'\w+/\w+\.cpp', cmake.replace(
        '${PROJECT_NAME}', PACKAGE)))


@pytest.mark.parametrize('name', ['My_arm', 'my-arm', '1arm', 'a', 'my__arm', 'arm_'])
def test_a_folder_that_names_no_package_is_refused(name, tmp_path):
    with pytest.raises(ArgumentError, match='not a valid name of a ROS package'):
        write_package(load_urdf('two_link'), {'stiff': SETTINGS}, tmp_path / name)
    assert not (tmp_path / name).exists()


def test_what_is_refused_or_quoted(tmp_path):
    pytest.importorskip('rclpy')
    assert 'not a valid name of a ROS package' in refused(
        'export', 'two_link', '--config', 'two_link.yaml', '-o', tmp_path / 'My-Arm')
    with pytest.raises(ParameterError, match='update_rate'):
        write_package(load_urdf('two_link'), {'a': Settings(rate=333.5)},
                      tmp_path / 'arm_controller')
    text = (Path(load_urdf.__code__.co_filename).parents[2] / 'urdf/two_link.urdf').read_text()
    slow = Settings(rate=500.0, arming_samples=500)         # 2.0 s, and a number with a point
    write_package(load_urdf('two_link'), {'stiff': SETTINGS, 'slow': slow}, tmp_path / 'slow_arm')
    file = tmp_path / 'slow_arm/src/slow_arm_parameters.yaml'
    timeout = yaml.safe_load(file.read_text())['slow_arm']['arming_timeout']['default_value']
    assert type(timeout) is float and timeout == 2.0
    model = load_urdf(text.replace('"joint1"', '"on"').replace('"two_link"', '"a&amp;b &lt;c"'))
    write_package(model, {'stiff': SETTINGS}, tmp_path / PACKAGE)
    ElementTree.parse(tmp_path / PACKAGE / 'package.xml')
    file = yaml.safe_load((tmp_path / PACKAGE / 'config' / f'{PACKAGE}.yaml').read_text())
    assert file[f'{PACKAGE}_trajectory']['ros__parameters']['joints'] == ['on', 'joint2']


def test_the_sources_are_formatted():
    formatter = shutil.which('clang-format', path=os.pathsep.join(
        [str(Path(sys.executable).parent), os.environ['PATH']]))
    if not formatter:
        pytest.skip('needs clang-format: pip install clang-format')
    sources = *(TEMPLATES / 'src').glob('*pp'), *(TEMPLATES / 'test').iterdir()
    done = subprocess.run([formatter, '--dry-run', '-Werror', f'--style={STYLE}', *sources],
                          text=True, capture_output=True)
    assert done.returncode == 0, done.stderr


def test_the_plugin_compiles(package):
    prefixes = [Path(p) for p in os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep) if p]
    if not any((p / 'include/controller_interface').is_dir() for p in prefixes):
        pytest.skip('needs the headers of ros2_control: source a workspace that has them')
    if not (compiler := shutil.which('c++')):
        pytest.skip('needs a C++ compiler')
    if not (generator := shutil.which('generate_parameter_library_cpp')):
        pytest.skip('needs generate_parameter_library')
    name = f'{PACKAGE}_parameters'
    (package / 'include' / PACKAGE).mkdir(parents=True)
    subprocess.run([generator, package / 'include' / PACKAGE / f'{name}.hpp',
                    package / 'src' / f'{name}.yaml'], check=True)
    places = [folder for p in prefixes for folder in (p / 'include', *(p / 'include').glob('*/'))]
    for source in (package / 'src').glob('*.cpp'):
        done = subprocess.run(
            [compiler, '-std=c++17', '-fsyntax-only', '-Wall', '-Wextra', '-Werror',
             f'-I{library.SOURCES}', f'-I{package}/include',
             *(word for p in places for word in ('-isystem', p)), source],
            text=True, capture_output=True)
        assert done.returncode == 0, done.stderr
