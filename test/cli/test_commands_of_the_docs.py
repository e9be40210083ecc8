# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Commands of `robodyn` in the README and in docs/: each runs as it stands, here or in a test."""

from pathlib import Path
import shlex

import numpy as np
import pytest
from robodyn_ros import load_urdf
from robodyn_ros.cli.app import app
from robodyn_ros.model.resources import robot_path
from robodyn_ros.realtime.statistics import no_cycles
from robodyn_ros.realtime.timing_log import About, save
from test_documented_commands import inline_commands, METAVARIABLE, PAGES, shell_lines
from typer.testing import CliRunner

pytestmark = pytest.mark.slow

TEST = Path(__file__).resolve().parents[1]
HERE = {'derive', 'export', 'init', 'inspect', 'loop-report', 'new-driver', 'new-law', 'repair'}
# Those that need a running robot, a recording, a browser or minutes: a test that runs each
ELSEWHERE = {
    'calibrate-collision': 'nodes/test_contact_live.py', 'calibrate-float':
        'nodes/test_payload_live.py', 'check-machine': 'cli/test_check_machine.py',
    'compare-laws': 'cli/test_compare_laws.py', 'demo': 'demo/test_demo.py',
    'excite': 'identification/test_excitation.py', 'find-payload': 'nodes/test_payload_live.py',
    'identify': 'identification/test_identify_command.py', 'jog': 'nodes/test_jog.py',
    'play': 'nodes/test_play.py', 'record': 'nodes/test_record.py',
    'replay': 'cli/test_replay.py', 'set-payload': 'nodes/test_payload_live.py',
    'teach': 'nodes/test_teach.py', 'validate': 'identification/test_identify_command.py',
    'view': 'viewer/test_control_page.py', 'warmup': 'cli/test_warmup.py'}


def commands():
    """Return the commands in blocks of all pages, without the word `robodyn`."""
    found = [words[1:] for page in PAGES for words in shell_lines(page.read_text())
             if words[0] == 'robodyn']
    return list(dict.fromkeys(shlex.join(words) for words in found if words[0][0] != '-'))


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Return a folder with the files that the commands are about, which is the current one."""
    monkeypatch.chdir(tmp_path)
    panda = load_urdf(robot_path('panda'), locked={
        'panda_finger_joint1': 0.02, 'panda_finger_joint2': 0.02})
    (tmp_path / 'my_arm.urdf').write_text(panda.to_urdf())
    cycles = no_cycles(200)
    cycles['woke'], cycles['wake_up'] = 5.0 + 1e-3 * np.arange(200), 1e-5
    cycles['cycle'] = cycles['age'] = 1e-4
    save(tmp_path / 'timing.npz', cycles, About(1000.0, 'timer', 'python', '', 200, 0, 0, 0))
    return tmp_path


# A library takes a minute of compiling: c_library/test_library.py exports one
@pytest.mark.parametrize('line', [line for line in commands() if line.split()[0] in HERE
                                  and not line.startswith('export my_arm.urdf --config')])
def test_it_runs_as_it_stands(line, place):
    """But for /tmp, which is the folder of the test."""
    pytest.importorskip('mujoco')
    words = [METAVARIABLE.sub('3', word).replace('/tmp/', f'{place}/')
             for word in shlex.split(line)]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output


def test_every_other_command_is_run_by_a_test():
    named = {line.split()[0] for line in commands()} | {
        words[0] for page in PAGES for words in inline_commands(page.read_text())}
    assert {line.split()[0] for line in commands()} & HERE
    assert named <= HERE | ELSEWHERE.keys() | {'drive-gains'}
    for name, file in ELSEWHERE.items():
        text = (TEST / file).read_text()
        assert f"'{name}'" in text or name.replace('-', '_') in text, f'{file} runs no {name}'
