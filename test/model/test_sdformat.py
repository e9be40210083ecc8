# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Robots as Gazebo gets them: generated URDFs as sdformat, its reader, understands them.

Debian and Ubuntu have it: `apt install libsdformat-dev`.
"""

from pathlib import Path
import shutil
import subprocess

from lxml import etree
import numpy as np
import pytest
from robodyn_ros import load_urdf
from robodyn_ros.errors import RobodynError
from robodyn_ros.model.robot import RobotModel
from robodyn_ros.model.ros2_control import gazebo_description, STAND_IN_MASS
from robodyn_ros.model.urdf_source import urdf_text
from robots import LOCKED, OWN, REAL

pytestmark = pytest.mark.slow

DUMP = Path(__file__).with_name('sdformat_dump.cc')
# Those of config/, and all of example-robot-data
ROBOTS = OWN | {f'{path.parents[1].name.removesuffix("_description")}-{path.stem}': path
                for path in sorted(REAL['panda'].parents[2].glob('*/*/*.urdf'))}
# That Gazebo itself would refuse: the pattern of our message
REFUSED = {'romeo-romeo_small': 'inertia of RShoulderYawLink',
           'icub-icub_reduced': 'inertia of r_hip_2',
           'so_arm-so100': "joint 'gripper' has the name of a link",
           'anymal_c_simple-anymal': "joint 'LF_HAA' has the name of a link"}
BOUNDS = 'lower', 'upper'
PLUGIN = ['gz_ros2_control-system', 'gz_ros2_control::GazeboSimROS2ControlPlugin']


def sdformat() -> str:
    """Name of an installed sdformat for pkg-config, or skip."""
    for program in ('g++', 'pkg-config'):
        if shutil.which(program) is None:
            pytest.skip(f'needs {program}, to ask sdformat')
    for version in range(16, 11, -1):
        if not subprocess.run(['pkg-config', '--exists', f'sdformat{version}']).returncode:
            return f'sdformat{version}'
    pytest.skip('needs sdformat, the reader of Gazebo: apt install libsdformat-dev')


@pytest.fixture(scope='module')
def dump(tmp_path_factory):
    """Return what sdformat makes of URDF texts: for each name its lines, as lists of fields."""
    flags = subprocess.run(['pkg-config', '--cflags', '--libs', sdformat()], check=True,
                           capture_output=True, text=True).stdout.split()
    folder = tmp_path_factory.mktemp('sdformat')
    program = folder / 'dump'
    subprocess.run(['g++', '-O0', str(DUMP), '-o', str(program), *flags], check=True)

    def ask(texts: dict[str, str]) -> dict[str, list[list[str]]]:
        paths = {name: folder / f'{name}.urdf' for name in texts}
        for name, path in paths.items():
            path.write_text(texts[name])
        said = subprocess.run([program, *paths.values()], check=True, capture_output=True,
                              text=True).stdout
        parts = said.split('file\t')[1:]
        return {name: [line.split('\t') for line in part.splitlines()[1:]]
                for name, part in zip(texts, parts, strict=True)}
    return ask


@pytest.fixture(scope='module')
def described(dump):
    """Return the lines of sdformat for every robot, or our error."""
    given = {}
    for name, path in ROBOTS.items():
        try:
            given[name] = gazebo_description(path, 'c.yaml', locked=LOCKED.get(path.stem))
        except RobodynError as error:
            given[name] = error
    return given | dump({name: text for name, text in given.items() if isinstance(text, str)})


def bodies(model: RobotModel) -> list[tuple[np.ndarray, np.ndarray]]:
    """Rotation and origin of each body in the frame of the base, at zero of every joint."""
    found = []
    for i in range(model.nb):
        above, at = found[model.parent[i]] if model.parent[i] >= 0 else (np.eye(3), np.zeros(3))
        found.append((above @ model.joint_rotation[i], at + above @ model.joint_origin[i]))
    return found


def numbers(lines: list[list[str]], kind: str) -> dict[str, np.ndarray]:
    """Numbers of each link or joint by name."""
    return {fields[1]: np.array(fields[2:], float) for fields in lines if fields[0] == kind}


@pytest.mark.parametrize('name', ROBOTS)
def test_gazebo_gets_the_robot(name, described):
    lines, path = described[name], ROBOTS[name]
    if isinstance(lines, RobodynError):
        if name not in REFUSED:         # as everywhere
            with pytest.raises(type(lines)):
                load_urdf(path, locked=LOCKED.get(path.stem, {}))
        assert REFUSED.get(name, '') in str(lines) and lines.remedy
        return
    # Two sensors of one name are in the files of talos_reduced themselves
    assert [line for line in lines if line[0] == 'error' and 'sensor' not in line[1]] == []
    model = load_urdf(path, massless='warn')
    links, joints = numbers(lines, 'link'), numbers(lines, 'joint')
    assert joints.keys() == set(model.body_joint_names)
    for i, (turn, origin) in enumerate(bodies(model)):
        found = joints[model.body_joint_names[i]]
        np.testing.assert_allclose(found[:3], origin, atol=1e-7)
        np.testing.assert_allclose(found[3:6], turn @ model.joint_axis[i], atol=1e-7)
        found = links[model.link_names[i]]
        np.testing.assert_allclose(found[0], model.mass[i], atol=STAND_IN_MASS, rtol=1e-9)
        com = origin + turn @ model.com[i]
        np.testing.assert_allclose(found[0] * found[1:4], model.mass[i] * com, rtol=1e-9,
                                   atol=STAND_IN_MASS * 10)
        np.testing.assert_allclose(found[4:].reshape(3, 3), turn @ model.inertia[i] @ turn.T,
                                   rtol=1e-7, atol=1e-8)
    for joint in etree.fromstring(urdf_text(path)).iterfind('joint'):
        found, limit = joints.get(joint.get('name')), joint.find('limit')
        if found is None or limit is None:
            continue
        assert found[8:10] == pytest.approx([float(limit.get(k)) for k in ('effort', 'velocity')])
        if joint.get('type') != 'continuous':
            assert found[6:8] == pytest.approx([float(limit.get(k, 0)) for k in BOUNDS])
        if (friction := joint.find('dynamics')) is not None:
            assert found[10:] == pytest.approx([
                float(friction.get(k, 0)) for k in ('damping', 'friction')])
    assert [PLUGIN + ['hold_joints', '1', 'parameters', 'c.yaml']] == [
        line[1:] for line in lines if line[0] == 'plugin' and line[1] == PLUGIN[0]]
