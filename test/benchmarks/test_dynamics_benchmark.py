# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`make bench` computes the same as others, and writes down how long each took. Not how long."""

import json

from benchmarks.dynamics import bench, compare
from benchmarks.interleaved_timer import Contestant, States
import pytest
from robodyn_ros import Dynamics, load_urdf
from robodyn_ros.model.resources import robot_path

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
