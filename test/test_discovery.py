# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Interactive discovery: names, representations, signatures, robots by name, lazy loading."""

from dataclasses import is_dataclass
import importlib
import inspect
import subprocess
import sys
from xml.etree import ElementTree

import pytest
import robodyn_ros
from robodyn_ros import Dynamics, load_urdf, robot_names, Settings
from robodyn_ros.errors import UrdfError
from robodyn_ros.extras import from_modules
from robodyn_ros.model import resources
from robodyn_ros.model.resources import share_path

# What importing the package must not load, and what asking for a name loads
LAZY = """
import sys
import robodyn_ros
assert not {'numba', 'mujoco', 'numpy', 'rclpy', 'scipy'} & sys.modules.keys()
robodyn_ros.Controller, robodyn_ros.load_urdf
assert not {'mujoco', 'rclpy'} & sys.modules.keys()
"""
DESCRIPTIONS = """
from types import SimpleNamespace
DESCRIPTIONS = {'toy_description': SimpleNamespace(has_urdf=True),
                'offline_description': SimpleNamespace(has_urdf=True),
                'xacro_description': SimpleNamespace(has_urdf=True),
                'mesh_mj_description': SimpleNamespace(has_urdf=False)}
"""


def test_the_package_lists_what_it_offers():
    assert set(robodyn_ros.__all__) == set(dir(robodyn_ros)) >= {
        'Controller', 'Dynamics', 'RobotModel', 'Settings', 'load_urdf', 'simulate'}
    manifest = ElementTree.parse(share_path('package.xml'))
    assert robodyn_ros.__version__ == manifest.findtext('version')
    for name in robodyn_ros.__all__:
        assert getattr(robodyn_ros, name) is not None
    with pytest.raises(AttributeError, match='Dynamic'):
        _ = robodyn_ros.Dynamic
    subprocess.run([sys.executable, '-c', LAZY], check=True, timeout=60)


@pytest.mark.parametrize(('name', 'joints'), [('two_link', 2), ('talos_reduced', 32)])
def test_a_model_is_told_in_a_line(name, joints):
    text = repr(load_urdf(name))
    assert len(text) < 300 and f'nv={joints}' in text and 'joint_names=[' in text


def public_functions():
    """Yield public functions, classes and methods, but for records, which have many fields."""
    public = [getattr(robodyn_ros, name) for name in robodyn_ros.__all__]
    kinds = [one for one in public if inspect.isclass(one)]
    yield from (one for one in public if callable(one) and not (
        is_dataclass(one) or hasattr(one, '_fields')))
    for kind in (*kinds, type(Dynamics(load_urdf('two_link')).kernels)):
        yield from (f for name, f in inspect.getmembers(kind, inspect.isfunction)
                    if not name.startswith('_'))


@pytest.mark.parametrize('function', public_functions(), ids=lambda f: f.__qualname__)
def test_signatures_fit_a_tooltip(function):
    """Names and defaults in 200 characters, with annotations in 300."""
    found = inspect.signature(function)
    text = str(found)
    assert '_typing' not in text and len(text) <= 300, text
    plain = [one.replace(annotation=one.empty) for one in found.parameters.values()]
    assert len(str(found.replace(parameters=plain, return_annotation=found.empty))) <= 200


def test_settings_are_told_by_what_was_changed():
    assert repr(Settings()) == 'Settings()'
    assert repr(Settings(mode='pd', rate=500.0)) == "Settings(mode='pd', rate=500.0)"


def test_robots_by_name(tmp_path, monkeypatch):
    names = robot_names()
    assert len(names) == len(set(names)) > 50 and {'two_link', 'panda', 'ur5', 'xarm7'} <= {*names}
    assert load_urdf('xarm7').nv == 7
    assert load_urdf('ur10').joint_names[0] == 'shoulder_pan_joint'
    with pytest.raises(UrdfError, match='did you mean xarm7.*robot_names'):
        load_urdf('xarm')
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'panda').write_text(resources.robot_path('rp').read_text())
    assert load_urdf('panda').name == load_urdf('rp').name


@pytest.fixture
def described(tmp_path, monkeypatch):
    """Return a package that has the interface of robot_descriptions, and needs no network."""
    folder = tmp_path / 'robot_descriptions'
    folder.mkdir()
    (folder / '__init__.py').write_text(DESCRIPTIONS)
    urdf = resources.robot_path('arm6')
    (folder / 'toy_description.py').write_text(f'URDF_PATH = {str(urdf)!r}')
    (folder / 'xacro_description.py').write_text("XACRO_PATH = '/robots/arm.urdf.xacro'")
    (folder / 'offline_description.py').write_text("raise OSError('no route to host')")
    monkeypatch.syspath_prepend(tmp_path)
    for name in [n for n in sys.modules if n.partition('.')[0] == 'robot_descriptions']:
        monkeypatch.delitem(sys.modules, name)
    yield
    for name in [n for n in sys.modules if n.partition('.')[0] == 'robot_descriptions']:
        del sys.modules[name]


@pytest.mark.usefixtures('described')
def test_robots_of_robot_descriptions():
    assert load_urdf('toy').joint_names == load_urdf('toy_description').joint_names \
        == load_urdf('arm6').joint_names
    assert 'toy_description' in robot_names() and 'mesh_mj_description' not in robot_names()
    with pytest.raises(UrdfError, match='no route to host'):
        load_urdf('offline')
    with pytest.raises(UrdfError, match=r'arm\.urdf\.xacro.*expand it'):
        load_urdf('xacro')
    with pytest.raises(UrdfError, match="no robot 'mesh'"):
        load_urdf('mesh')


@pytest.fixture
def load(tmp_path, monkeypatch):
    """Return the ``__getattr__`` of a package with a good module and a broken one."""
    package = tmp_path / 'lazy_package'
    package.mkdir()
    (package / '__init__.py').write_text('')
    (package / 'good.py').write_text('VALUE = 1\n')
    (package / 'broken.py').write_text('import math\nVALUE = math.no_such_function\n')
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    return from_modules('lazy_package', {'VALUE': '.good', 'BROKEN': '.broken'})


def test_a_name_is_loaded(load):
    assert load('VALUE') == 1
    with pytest.raises(AttributeError, match="module 'lazy_package' has no attribute 'OTHER'"):
        load('OTHER')


def test_the_cause_of_a_broken_module_is_shown(load):
    """An AttributeError would become "cannot import name"."""
    with pytest.raises(ImportError, match=r'lazy_package\.BROKEN cannot be loaded.*no_such_func'):
        load('BROKEN')
