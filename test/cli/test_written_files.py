# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Each file that a command writes is accepted by each command that reads it."""

from dataclasses import replace

from cli.commands import done
from cli.test_init import CHOSEN, taken
import numpy as np
import pytest
from robodyn_ros import load_urdf, Settings
from robodyn_ros.catalog.robots import load_robot
from robodyn_ros.cli.calibrate import learned, parameter_file
from robodyn_ros.cli.excite import recorded
from robodyn_ros.cli.options import console
from robodyn_ros.cli.verify import verification_case
from robodyn_ros.identification.excitation import trajectory_file
from robodyn_ros.identification.recordings import recording
from robodyn_ros.identification.recordings.read import read as read_recording
from robodyn_ros.identification.result_files import write_friction
from robodyn_ros.identification.urdf_update import corrected_urdf, urdf_with_friction
from robodyn_ros.model.friction_file import RANGES, read_friction
from robodyn_ros.model.resources import robot_path
from robodyn_ros.nodes.controller.parameters import settings
from robodyn_ros.realtime import statistics

pytestmark = pytest.mark.slow
ROBOT = load_urdf('two_link')
TIME = np.linspace(0.0, 3.0, 301)


def controller(path):
    """Start a node with this file, and one of `robodyn init` before it."""
    found = settings(taken(path.with_name('parameters.yaml')) | taken(path))
    found.joint_records(ROBOT)


def verify(**files):
    return verification_case('two_link', {}, files.get('config'), files.get('motion'),
                             files.get('worlds'), 0, console())


def results(path):
    """Run one world, or take it from this file."""
    done('verify', 'two_link', '--worlds', path.with_name('short.yaml'), '--runs', 1, '--jobs', 1,
         '--output', path)


READERS = {
    'parameters.yaml': {'controller': controller, 'verify': lambda path: verify(config=path)},
    'friction.yaml': {
        'controller': controller, 'identify': lambda path: read_friction(path, ROBOT),
        'load_urdf': lambda path: load_urdf('two_link', friction=path)},
    'collision.yaml': {'controller': controller},
    'trajectory.yaml': {'play': trajectory_file.read, 'verify': lambda path: verify(motion=path)},
    'taught.yaml': {'play': trajectory_file.read, 'verify': lambda path: verify(motion=path)},
    'motion.npz': {
        'identify': lambda path: read_recording(path, ROBOT),
        'verify': lambda path: verify(motion=path),
        'excite': lambda path: recorded(
            [path], load_robot('two_link', {}, []), {}, console())},
    'worlds.yaml': {'verify': lambda path: verify(worlds=path)},
    'results.sqlite': {'verify': results},
    'timing.npz': {
        'check-machine': lambda path: done('check-machine', '--timing', path, '--json')},
    'corrected.urdf': {
        'inspect': lambda path: done('inspect', path),
        'init': lambda path: done('init', path, '--output', path.with_suffix('.yaml'), CHOSEN)}}


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    """Return a folder with files as commands write them; of friction, the largest values."""
    folder = tmp_path_factory.mktemp('written')
    done('init', 'two_link', '--output', folder / 'parameters.yaml', CHOSEN)
    done('excite', 'two_link', '--output', folder / 'trajectory.yaml', '--starts', 1,
         '--harmonics', 2, '--shapes', 'none')
    done('verify', 'two_link', '--write-worlds', folder / 'worlds.yaml')
    (folder / 'short.yaml').write_text('seconds: 0.5\nmodes: [joint_impedance]\n')
    results(folder / 'results.sqlite')
    identified = replace(ROBOT, mass=1.1 * ROBOT.mass, load_friction=np.full(2, 0.5),
                         coulomb_friction=np.array([0.2, 0.1]))
    text = corrected_urdf(robot_path('two_link').read_text(), ROBOT,
                          identified.inertial_parameters.reshape(-1, 10))
    (folder / 'corrected.urdf').write_text(urdf_with_friction(text, ROBOT, identified))
    write_friction(folder / 'friction.yaml', {
        name: [high, high] for name, (_, high) in RANGES.items()}, ROBOT.joint_names)
    wave = 0.3 * np.column_stack([np.sin(3.0 * TIME), np.cos(2.0 * TIME)])
    motion = recording.Recording(ROBOT.joint_names, TIME, wave, np.gradient(wave, TIME, axis=0),
                                 0.6 * ROBOT.effort_limit * np.cos(3.0 * TIME)[:, None])
    recording.write(folder / 'motion.npz', motion)
    (folder / 'collision.yaml').write_text(parameter_file({
        name: value.tolist() for name, value in learned(
            motion, ROBOT, Settings(), 1.5)._asdict().items()}, ROBOT))
    trajectory_file.write(folder / 'taught.yaml', trajectory_file.through_poses(
        ROBOT.joint_names, wave[::100], np.ones(2), np.ones(2)))
    statistics.save(folder / 'timing.npz', statistics.no_cycles(30), statistics.TimingAbout(
        1000.0, 'timer', 'native', 'none', 30, 0, 0, 0))
    return folder


@pytest.mark.parametrize(('file', 'command'), [
    (file, command) for file, commands in READERS.items() for command in commands])
def test_a_written_file_is_read(folder, file, command):
    READERS[file][command](folder / file)
