# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Benchmarks of dynamics and robots compute the same as others, and write it down."""

import json
import re

from benchmarks import robots
from benchmarks.dynamics import bench, compare
from benchmarks.interleaved_timer import Contestant, States
import numpy as np
import pinocchio as pin
import pytest
from robodyn_ros import Dynamics, load_urdf
from robodyn_ros.model.resources import robot_path
from robots import ARM, GRIPPER, OWN

pytestmark = pytest.mark.slow

# Nothing is compared with C++, which takes minutes to compile
WAYS = ('call', 'checked_call')
OPTIONAL = {'drake', 'dynibo', 'frax'}     # where they are installed
PEERS = {'inverse_dynamics': {'binding', 'mujoco', 'numpy'},
         'gravity': {'binding', 'mujoco', 'numpy'},
         'mass_matrix': {'binding', 'mujoco'}, 'forward_dynamics': {'binding', 'mujoco'}}


@pytest.fixture(scope='module')
def run(tmp_path_factory, program):
    """Return what it printed and where it wrote, for the smallest robot that MuJoCo takes."""
    output = tmp_path_factory.mktemp('bench')
    done = program(bench, '--quick', '--no-cpp', '--output', output, 'double_pendulum', 'two_link')
    assert done.exit_code == 0, done.output
    return done.stdout, output


def test_every_row_is_written_down(run):
    _, output = run
    rows = json.loads((output / 'dynamics.json').read_text())['robots']['double_pendulum']['rows']
    found = {(row['quantity'], row['way']): set(row['against']) for row in rows}
    assert found.keys() == {(quantity, way) for quantity in PEERS for way in WAYS}
    for (quantity, _), against in found.items():
        assert against - OPTIONAL == PEERS[quantity]
    for row in rows:
        assert row['nanoseconds'] > 0
        for beside in row['against'].values():
            assert 0 < beside['lower'] <= beside['ratio'] <= beside['upper']


def test_it_is_shown(run):
    text, output = run
    assert 'double_pendulum, 2 joints' in text and 'Pinocchio' in text
    assert 'Without MuJoCo: MuJoCo refuses this robot: ' in text        # of two_link
    assert (output / 'dynamics.png').read_bytes().startswith(b'\x89PNG')


def test_what_computes_something_else_is_not_timed():
    model = load_urdf(robot_path('two_link'))
    states = States(model.nv)

    def gravity(factor):
        return {('gravity', 'call'): Contestant(
            lambda count: 1.0, lambda k: factor * Dynamics(model).gravity(states.q[k]))}
    compare(model, states, gravity(1.0 + 1e-13))
    for wrong in (1.0 + 1e-9, float('nan')):
        with pytest.raises(RuntimeError, match='two_link: gravity of call differs by'):
            compare(model, states, gravity(wrong))


@pytest.fixture
def folder(tmp_path):
    files = {
        'a/arm.urdf': ARM, 'a/gripper.urdf': GRIPPER, 'two_link.urdf': OWN['two_link'].read_text(),
        'empty.urdf': re.sub('<inertial>.*?</inertial>', '', ARM, flags=re.DOTALL),
        'loose.urdf': ARM.replace('parent link="base"', 'parent link="lost"'),
        'reversed.urdf': ARM.replace('lower="-2" upper="2"', 'lower="2" upper="-2"'),
        'blank.urdf': ARM.replace('izz="0.01"', 'izz="0.01\n"'), 'notes.txt': 'nothing'}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_every_file_is_counted_and_every_refusal_has_its_reason(folder, program):
    done = program(robots.main, folder)
    assert done.exit_code == 0, done.output
    assert '7 files: 5 loaded (1 of them with joints that no inertia resists), 2 refused ' \
        '(1 of them by Pinocchio, too)' in done.stdout
    assert 'loaded, or refused by Pinocchio too: 6 of 7 (85.7%)' in done.stdout
    assert "loose.urdf: refused (by Pinocchio, too): joint 'shoulder': its parent" in done.stdout
    assert 'refused by us alone, 1 times: lower limit _ is above the upper limit _' in done.stdout
    assert 'blank.urdf: 2 joints, agrees to ' in done.stdout
    assert 'compared with Pinocchio: 5, largest difference ' in done.stdout
    assert ', 0 above 1e-10' in done.stdout


def test_a_difference_is_found():
    other = pin.buildModelFromXML(ARM.replace('<mass value="2"/>', '<mass value="2.001"/>'))
    assert 1e-5 < robots.difference(load_urdf(ARM), other) < 1e-2
    assert robots.difference(load_urdf(ARM), pin.buildModelFromXML(ARM)) < 1e-14
    assert robots.difference(load_urdf(GRIPPER), pin.buildModelFromXML(ARM)) == np.inf


def test_a_folder_without_robots_is_refused(tmp_path, program):
    done = program(robots.main, tmp_path)
    assert done.exit_code == 2 and 'no .urdf file' in done.stderr
