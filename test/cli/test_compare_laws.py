# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""One trajectory under every law: the table, the picture, and that figures are reproducible."""

from dataclasses import replace
import json
from pathlib import Path
from shutil import copytree
import subprocess
import sys

from cli.commands import done, refused, robodyn
import numpy as np
import pytest
from robodyn_ros import Dynamics, law_comparison, load_urdf, Settings
from robodyn_ros.catalog.robots import load_robot
from robodyn_ros.control.laws import registry
from robodyn_ros.control.laws.registry import FOLLOWING
from robodyn_ros.control.references import sine_motion as motion
from robodyn_ros.law_comparison import compensated_share, drive, scenes, settings_of
from robodyn_ros.model.resources import robot_path
import yaml

pytest.importorskip('mujoco')
pytest.importorskip('matplotlib')

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def hardly_at_rest(monkeypatch):
    """Whether figures are good is tested elsewhere: an arm need not be long at rest."""
    monkeypatch.setattr(law_comparison, 'REST_TIME', 0.1)


def run(*words):
    return robodyn('compare-laws', 'two_link', '--duration', 0.5, *words)


def test_every_law_is_compared(tmp_path):
    picture = tmp_path / 'pictures' / 'laws.png'
    result = run('--picture', picture)
    assert result.exit_code == 0, result.output
    rows = [line.split() for line in result.output.splitlines()]
    figures = [row for row in rows if any(law in row for law in FOLLOWING) and len(row) >= 6]
    assert [next(law for law in FOLLOWING if law in row) for row in figures] == 2 * list(FOLLOWING)
    assert picture.read_bytes()[:4] == b'\x89PNG'


def test_a_law_that_fails_does_not_end_the_comparison(tmp_path, monkeypatch):
    """One that faults, and one whose arm is not armed; the third has its figures."""
    def settings(law, model, pose):
        failing = {FOLLOWING[0]: {'following_error': [1e-4]}, FOLLOWING[1]: {
            'arming_samples': 10_000}}
        return replace(settings_of(law, model, pose), **failing.get(law, {}))
    monkeypatch.setattr(registry, 'FOLLOWING', FOLLOWING[:3])
    monkeypatch.setattr(law_comparison, 'settings_of', settings)
    result = run('--picture', tmp_path / 'laws.png')
    assert result.exit_code == 1, result.output
    rows = [line.split() for line in result.output.splitlines() if line.startswith(' ')]
    failed = [row for row in rows if 'faulted:' in row]
    assert len(failed) == 2 and all(row[-4:-2] == ['FOLLOWING_ERROR', 'at'] for row in failed)
    assert len([row for row in rows if FOLLOWING[1] in row and row[-2:] == ['not', 'armed']]) == 2
    assert len([row for row in rows if FOLLOWING[2] in row and len(row) >= 6]) == 2
    assert 'does not follow its reference' in result.output
    assert 'not armed: the simulated arm does not start (' in result.output


def test_laws_of_a_user_and_parameter_files_are_compared(tmp_path, monkeypatch):
    """A law of `robodyn new law` with the stiffness of the others; a file with its own gains."""
    done('new', 'law', 'springy', '--output', tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    soft = {'mode': 'pd', 'stiffness': [40.0, 10.0], 'damping': [8.0, 1.0],
            'robot_compensates_gravity': False}
    locked = {'locked_joints': ['joint2'], 'locked_positions': [0.5]}
    file, other = tmp_path / 'soft.yaml', tmp_path / 'other.yaml'
    for path, values in ((file, soft), (other, soft | locked)):
        path.write_text(yaml.safe_dump({'/**/controller': {'ros__parameters': values}}))
    found = json.loads(run('--law', 'springy:SPRINGY', '--config', file, '--json', '--picture',
                           tmp_path / 'a.png').stdout)
    assert [row['law'] for row in found] == 2 * ['springy:SPRINGY', 'soft']
    assert 0.0 < found[0]['rms'] < found[1]['rms']      # of the arm with less stiffness
    assert 'Gains: --config, else' in run('--config', file, '--picture', tmp_path / 'a.png').stdout
    arm = {'root': 'link1', 'gravity': [0.0, 0.0, -9.81], 'stiffness': [10.0], 'damping': [1.0]}
    file.write_text(yaml.safe_dump({'/**/controller': {'ros__parameters': soft | arm}}))
    words = '--root', 'link1', '--gravity', '0,0,-9.81', '--picture', tmp_path / 'a.png'
    assert 'exact model, RMS' in run('--config', file, *words).stdout
    file.write_text('/**/controller: {ros__parameters: {mode: gravity_compensation}}')
    for wrong, said in (('--law gravity_compensation', 'gravity_compensation follows no'),
                        (f'--config {file}', f'of {file.stem} follows no trajectory'),
                        ('--law sprngy:X', 'PYTHONPATH'),
                        (f'--config {other}', 'choose files for joint1, joint2')):
        assert said in refused('compare-laws', 'two_link', *wrong.split(), '--picture',
                               tmp_path / 'a.png')


OWN = """
from dataclasses import dataclass

from .law import Judged, Law
from ..declare import gain, PerJoint


@dataclass(frozen=True)
class SagGains:
    sag_stiffness: PerJoint = gain('N·m/rad or N/m', 0.0, 1e6, 'Stiffness of sag.')
    sag_damping: PerJoint = gain('N·m·s/rad or N·s/m', 0.0, 1e5, 'Damping of sag.')
    sag_share: PerJoint = gain('', 0.0, 1.0, 'Share of gravity.', 0.9)


def sag(arm, gains, memory, tau):
    for i in range(tau.shape[0]):
        tau[i] = (gains.sag_share[i] * arm.gravity[i] - gains.sag_damping[i] * arm.qd[i]
                  + gains.sag_stiffness[i] * (arm.q_reference[i] - arm.q[i]))


LAW = Law('sag', sag, 'tau = s g(q) + K e - D qd', 'a test', gains=SagGains,
          judged=(Judged('sag_stiffness', 'sag_damping'),))
"""
COMPARED = """
import sys

from robodyn_ros.cli.app import app
from robodyn_ros.control.laws import registry
from robodyn_ros.verification.arm import arm_of, gains
import robodyn_ros

package, *lines = sys.argv[1:]
assert robodyn_ros.__file__.startswith(package)
arm = arm_of('two_link', robodyn_ros.load_urdf('arm.urdf'))
robodyn_ros.Settings(mode='sag', **gains(arm, 0.25, 0.002, 1000.0)).gain_rows(arm.model)
registry.FOLLOWING = registry.FOLLOWING[-1:]
for line in lines:
    try:
        app(line.split())
    except SystemExit as end:
        if end.code:
            raise
"""


def test_a_law_that_is_added_is_compared_verified_and_has_gains(tmp_path):
    """The files of the recipe in docs/architecture.md are enough."""
    package = Path(copytree(Path(law_comparison.__file__).parent, tmp_path / 'robodyn_ros'))
    laws = package / 'control' / 'laws'
    (laws / 'sag.py').write_text(OWN)
    text = (laws / 'registry.py').read_text()
    for old, new in (('from . import (', 'from . import (sag, '),
                     ('.LAW)\n#: Names', '.LAW, sag.LAW)\n#: Names'),
                     ('class LawGains(', 'class LawGains(sag.SagGains, ')):
        assert text.count(old) == 1
        text = text.replace(old, new)
    (laws / 'registry.py').write_text(text)

    lines = ('compare-laws arm.urdf --duration 0.5 --picture laws.png',
             'init arm.urdf --output arm.yaml')
    (tmp_path / 'arm.urdf').write_text(robot_path('two_link').read_text())
    both = subprocess.run([sys.executable, '-c', COMPARED, package, *lines], cwd=tmp_path,
                          capture_output=True, text=True)
    rows = [line.split() for line in both.stdout.splitlines() if line.startswith(' ')]
    assert len([row for row in rows if row[-6:-5] == ['sag']]) == 2, both.stderr
    assert both.returncode == 0, both.stderr
    written = (tmp_path / 'arm.yaml').read_text()
    assert 'sag_stiffness: [' in written and 'sag_share' not in written


def test_figures_are_reproducible():
    model, pose = load_urdf('two_link'), np.array([0.3, 0.5])
    asked = motion.plan(Dynamics(model), pose, 0.5)
    first, second = (drive(scenes(model)[1], FOLLOWING[-1], pose, asked, 0.1) for _ in range(2))
    assert first[:8] == second[:8]


def test_every_law_may_compensate_the_known_friction():
    """That of the Panda is in its URDF; a guided law compensates it at the measured velocity."""
    model = load_robot('panda', {}, []).model
    for law in FOLLOWING:
        share = Settings(mode=law, friction_compensation=compensated_share(law, model)
                         ).joint_records(model)['friction_compensation']
        assert (share > 0.5).all()
    assert compensated_share(FOLLOWING[0], scenes(model)[1].known) == ()
