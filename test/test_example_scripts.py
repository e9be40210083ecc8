# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The scripts in examples/: each runs, teaches what it says, and saves a picture."""

import importlib
from pathlib import Path
import runpy
import sys

import numpy as np
import pytest

pytest.importorskip('matplotlib')
pytest.importorskip('mujoco')

pytestmark = pytest.mark.slow
FOLDER = Path(__file__).parents[1] / 'examples'
MOST_LINES = 80


def angles(names):
    return [abs(angle[0]) for angle in names['final'].values()]


# What is true of the results of each script, its variables by name
CLAIMS = {
    'adaptive_payload': lambda n: n['errors']['adaptive'][-1] < 3.0 < 100.0
    < n['errors']['computed_torque'][-1],
    'batch_dynamics': lambda n: 0.3 < n['share'].max() < 1.0 and (n['M'][:, 0, 0] > 0.0).all(),
    'collision': lambda n: [*n['reasons'].values()][1] == 'COLLISION'
    and [*n['peak'].values()][1] < 0.8 * [*n['peak'].values()][0],
    'controller_without_ros': lambda n: 'contradict each other' in n['reason'],
    'dh_conventions': lambda n: n['difference'] < 1e-12,
    'disturbance_observer': lambda n: angles(n)[0] > 2.0 and max(angles(n)[2:]) < 0.01,
    'driver_readings': lambda n: {*n['reasons'].values()} == {'none'}
    and abs(np.array([*n['positions'].values()]) - n['POSE']).max() < 0.05,
    'energy': lambda n: n['drift'] < 1e-4 and abs(n['x'] - n['other']).max() > 0.1,
    'feedback_policy': lambda n: np.degrees([*n['final'].values()][0]).max() < 0.01
    and [*n['final'].values()][1].min() > 0.05 and [*n['held'].values()][1].max() < 1e-3,
    'friction': lambda n: n['errors']['100% compensated'] < 0.15 * n['errors']['0% compensated'],
    'gravity_workspace': lambda n: n['worst']['without a load'] < n['worst']['with 5 kg'] < 1.0,
    'identification': lambda n: (abs(n['values'][-1] - n['TRUE']) < 4 * n['errors'][-1]).all()
    and n['rank'] == 6,
    'inverse_kinematics': lambda n: n['off'].max() < 2.0 and n['end'] < 0.5,
    'iterative_learning': lambda n: n['history'][-1] < 0.1 * n['history'][0]
    and abs(n['efforts']).max() > 1.0 and not n['efforts'][[0, -1]].any(),
    'lagrange': lambda n: n['difference'] < 1e-12,
    'leader_follower': lambda n: abs(n['felt'] / n['HAND'] - 1.0) < 0.1
    and min(n['energy']) > -1e-3 and n['reasons'] == 2 * ['PARTNER_LOST'],
    'newton_euler': lambda n: n['difference'] < 1e-12,
    'own_law': lambda n: n['sag']['stiffening spring'][-1] < 0.3 * n['sag']['linear spring'][-1],
    'payload': lambda n: 15.0 < [*n['sag'].values()][0] and abs([*n['sag'].values()][1]) < 1.0,
    'pd_and_computed_torque': lambda n: np.all(
        np.diff([*n['errors'].values()]) < 0.0) and n['errors']['computed_torque'] < 0.002,
    'rp_arm': lambda n: n['change'] < 2e-3 and np.ptp(n['speeds']) > 1.0,
    'task_space': lambda n: 'cannot move along' in n['refused'],
    'ur5_torque_pd': lambda n: n['final']['computed_torque'].max() < 1e-4
    and n['final']['pd'].max() > 0.1 and 'unstable' in n['refused'],
    'wiping': lambda n: [*n['force'].values()] == pytest.approx([16.0, 8.0], rel=0.1),
}


@pytest.mark.parametrize('name', sorted(CLAIMS))
def test_it_teaches_what_it_says(name, tmp_path, monkeypatch):
    """Together they take about 30 s: they are simulations, whose results are what is judged."""
    import matplotlib
    from matplotlib import pyplot as plt

    if name == 'inverse_kinematics':
        pytest.importorskip('mink')
    picture = tmp_path / 'picture.png'
    monkeypatch.setattr('robodyn_ros.closed_loop.MAX_PHYSICS_STEP', 0.5e-3)     # half the steps
    monkeypatch.setattr(sys, 'argv', [f'{name}.py', '--save', str(picture)])
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.delitem(sys.modules, 'picture', raising=False)      # it reads the options
    plt.switch_backend('Agg')
    with matplotlib.rc_context():           # the style is that of the examples only
        importlib.import_module('picture')      # the style, less what takes half of the drawing
        plt.rcParams['figure.constrained_layout.use'] = False
        assert CLAIMS[name](runpy.run_path(str(FOLDER / f'{name}.py')))
    plt.close('all')
    assert picture.read_bytes().startswith(b'\x89PNG')


def test_the_library_that_an_example_needs_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, 'mink', None)
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.setattr(sys, 'argv', ['inverse_kinematics.py'])
    monkeypatch.delitem(sys.modules, 'picture', raising=False)
    with pytest.raises(SystemExit, match='needs mink: run `pip install mink`'):
        runpy.run_path(str(FOLDER / 'inverse_kinematics.py'))


def test_all_scripts_are_run_and_short():
    scripts = {path.stem: path.read_text() for path in FOLDER.glob('*.py')}
    assert scripts.keys() - {'picture'} == CLAIMS.keys()
    for name, text in scripts.items():
        assert len(text.splitlines()) <= MOST_LINES and '\n"""\n' in text or name == 'picture'
