# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The test of each row of the fault table fails where the row is disabled."""

import os
from pathlib import Path
import re
import sys

from faults.rows import with_rows
from processes import Process
import pytest

pytestmark = pytest.mark.slow

TEST = Path(__file__).resolve().parents[1]
FILES = sorted({test.__code__.co_filename for test in with_rows()})
# Rows of the library, in plain Python; with ALL_ROWS=1 those of nodes, too
PLAIN = ['1', '0'] if 'ALL_ROWS' in os.environ else ['1']


@pytest.mark.parametrize('plain', PLAIN)
@pytest.mark.parametrize('half', [0, 1])
def test_each_row_fails_where_it_is_disabled(tmp_path, plain, half):
    """Half of the files, so that two processors share them; prints how many mutants it killed."""
    env = {**os.environ, 'ROBODYN_PLAIN': plain, 'PYTEST_DISABLE_PLUGIN_AUTOLOAD': '1',
           'PYTHONPATH': os.pathsep.join(
               [str(TEST), *os.environ.get('PYTHONPATH', '').split(os.pathsep)])}
    process = Process([sys.executable, '-m', 'pytest', '-p', 'faults.mutants', '-p',
                       'no:cacheprovider', f'--basetemp={tmp_path / "tests"}', '-v',
                       *FILES[half::2]], tmp_path / 'output.txt', env, TEST.parent)
    try:
        assert process.wait(1200.0) == 0, process.text
        print(len(re.findall(r'disabled\] PASSED', process.text)), 'mutants killed')
    finally:
        process.kill()
