# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`robodyn simulate`: a parameter file and a trajectory in MuJoCo; its CSV is a recording."""

from cli.commands import done, robodyn
import numpy as np
import pytest
from robodyn_ros import load_urdf
from robodyn_ros.identification.excitation.trajectory_file import JointTrajectory, write
from robodyn_ros.identification.recordings.read import read
import yaml

pytest.importorskip('mujoco')

pytestmark = pytest.mark.slow

COMPUTED_TORQUE = {'mode': 'computed_torque', 'acceleration_kp': [100.0],
                   'acceleration_kd': [20.0], 'robot_compensates_gravity': False}


def config(path, **values):
    path.write_text(yaml.safe_dump({'/**/controller': {'ros__parameters': {
        **COMPUTED_TORQUE, **values}}}))
    return path


@pytest.fixture
def motion(tmp_path):
    """Return the path of a motion of 0.8 s by 0.1 rad and back, twice."""
    t = np.linspace(0.0, 0.8, 17)
    angle = np.pi * t / 0.4
    x, xd, xdd = (np.column_stack(2 * [0.1 * row]) for row in (
        3.5 - 0.5 * np.cos(angle), 0.5 * (np.pi / 0.4) * np.sin(angle),
        0.5 * (np.pi / 0.4)**2 * np.cos(angle)))
    file = tmp_path / 'motion.yaml'
    write(file, JointTrajectory(('joint1', 'joint2'), t, x, xd, xdd))
    return file


def test_a_motion_is_followed_and_its_file_is_a_recording(tmp_path, motion):
    file = tmp_path / 'run.csv'
    output = done('simulate', 'two_link', '--config', config(tmp_path / 'a.yaml'), '--motion',
                  motion, '--csv', file).output
    rows = [line.split() for line in output.splitlines() if line.strip().startswith('joint')]
    assert all(0.0 < float(row[1]) < float(row[2]) < 5.0 for row in rows[-2:])
    found = read(file, load_urdf('two_link'))
    assert found.joint_names == ('joint1', 'joint2')
    assert np.isclose(found.position[0], 0.3, atol=2e-3).all()
    assert found.effort is not None and found.velocity is not None


def test_a_run_is_a_flight_recording_whose_cycles_are_a_recording(tmp_path, motion):
    """By --mcap, and --csv of `replay`: states, efforts and references of all periods."""
    flight, file, run = (tmp_path / name for name in ('run.mcap', 'flight.csv', 'run.csv'))
    done('simulate', 'two_link', '--config', config(tmp_path / 'a.yaml'), '--motion', motion,
         '--mcap', flight, '--csv', run)
    output = done('replay', flight, '--csv', file).output
    assert 'robodyn simulate' in output and 'cycles agree bit by bit' in output
    of_flight, of_run = (np.genfromtxt(path, delimiter=',', names=True) for path in (file, run))
    assert of_flight.dtype.names == of_run.dtype.names and len(of_flight) > len(of_run) == 801
    last = of_flight[-801:]
    for name in of_run.dtype.names[1:]:
        assert np.array_equal(last[name][1:], of_run[name][1:], equal_nan=True), name


def test_a_fault_is_an_error_that_names_it(tmp_path, motion):
    result = robodyn('simulate', 'two_link', '--config', config(
        tmp_path / 'a.yaml', following_error=[1e-6]), '--motion', motion)
    assert result.exit_code == 1
    assert 'FOLLOWING_ERROR' in result.stderr and 'robodyn verify' in result.stderr
