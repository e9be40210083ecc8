# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The lowest and the newest Numba that setup.py admits run what `numba_smoke.py` lists."""

import os
from pathlib import Path
import re
import subprocess
import sys

import pytest
from thorough import seeds

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
LOWEST, BELOW = re.search(r"'numba>=([\d.]+),<([\d.]+)'", (ROOT / 'setup.py').read_text()).groups()
SMOKE = ROOT / 'test' / 'numba_smoke.py'


def smoke(python):
    """Run the script with a Python, with an empty cache; return what it prints at the end."""
    done = subprocess.run([python, SMOKE], text=True, capture_output=True, cwd=ROOT, env={
        **os.environ, 'PYTHONPATH': str(ROOT)}, timeout=900)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(seeds(0, 1) == 0, reason='compiles everything anew: only ROBODYN_THOROUGH=1')
def test_the_installed_version():
    """Minutes: all machine code of a controller is compiled for it."""
    assert 'passed with Numba' in smoke(sys.executable)


@pytest.mark.skipif(seeds(0, 1) == 0, reason='installs two versions: only ROBODYN_THOROUGH=1')
@pytest.mark.parametrize('version', [f'=={LOWEST}.*', f'<{BELOW}'])
def test_the_lowest_and_the_newest_version(tmp_path, version):
    """Minutes, too; an old Numba has no wheels for a new Python."""
    python = tmp_path / 'bin' / 'python'
    subprocess.run([sys.executable, '-m', 'venv', tmp_path], check=True)
    installed = subprocess.run([python, '-m', 'pip', 'install', '--prefer-binary', '--quiet',
                                f'numba{version}', f'{ROOT}[ros]'], text=True, capture_output=True)
    if installed.returncode:
        pytest.skip(f'numba{version} is not to be had here: {installed.stderr[-200:]}')
    assert 'passed with Numba' in smoke(python)
