# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`make bench` computes the same as others, and writes down how long each took. Not how long."""

import json
import os
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
# Nothing is compared with C++, which takes minutes to compile
WAYS = ('call', 'checked_call')
OPTIONAL = {'drake', 'dynibo', 'frax'}     # where they are installed
PEERS = {'inverse_dynamics': {'binding', 'mujoco', 'numpy'},
         'gravity': {'binding', 'mujoco', 'numpy'},
         'mass_matrix': {'binding', 'mujoco'}, 'forward_dynamics': {'binding', 'mujoco'}}


def bench(output: Path, *arguments: str):
    """Return what the command did, in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        patch.syspath_prepend(str(ROOT))
        from benchmarks.dynamics import bench

        command = typer.Typer()
        command.command()(bench)
        cpus = os.sched_getaffinity(0)          # it takes one for itself
        try:
            done = CliRunner().invoke(command, ['--quick', '--no-cpp', '--output', str(output),
                                                *arguments])
        finally:
            os.sched_setaffinity(0, cpus)
    assert done.exit_code == 0, done.output
    return done


@pytest.fixture(scope='module')
def run(tmp_path_factory):
    """Return what it printed and where it wrote, for the smallest robot that MuJoCo takes."""
    output = tmp_path_factory.mktemp('bench')
    return bench(output, 'double_pendulum').stdout, output


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
    assert (output / 'dynamics.png').read_bytes().startswith(b'\x89PNG')


def test_others_that_refuse_the_robot_are_left_out(tmp_path):
    done = bench(tmp_path, 'two_link')
    assert 'Without MuJoCo: MuJoCo refuses this robot: ' in done.stdout


def test_what_computes_something_else_is_not_timed(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks.dynamics import compare
    from benchmarks.interleaved_timer import Contestant, States
    from robodyn_ros import Dynamics, load_urdf
    from robodyn_ros.model.resources import robot_path

    model = load_urdf(robot_path('two_link'))
    states = States(model.nv)

    def gravity(factor):
        return {('gravity', 'call'): Contestant(
            lambda count: 1.0, lambda k: factor * Dynamics(model).gravity(states.q[k]))}
    compare(model, states, gravity(1.0 + 1e-13))
    for wrong in (1.0 + 1e-9, float('nan')):
        with pytest.raises(RuntimeError, match='two_link: gravity of call differs by'):
            compare(model, states, gravity(wrong))
