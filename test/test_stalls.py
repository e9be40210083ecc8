# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A test is repeated where the machine stood still, once, and nowhere else."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOM = Path(__file__).parent

FAILING = '''
import os, signal, time
from conftest import WATCH

runs = []


def test_it(pytestconfig):
    runs.append(0)
    if {stall}:
        watch = pytestconfig.stash[WATCH]
        begin = time.monotonic()
        while watch.longest(0.0) == 0.0:
            assert time.monotonic() < begin + 20.0
            watch.process.send_signal(signal.SIGSTOP)
            time.sleep(0.2)
            watch.process.send_signal(signal.SIGCONT)
            time.sleep(0.1)
    assert len(runs) > {passes_after}
'''


@pytest.mark.parametrize(('stall', 'passes_after', 'code', 'said'), [
    (True, 1, 0, True), (True, 2, 1, True), (True, 0, 0, False)])
def test_what_fails_in_a_stall_is_repeated_once(tmp_path, stall, passes_after, code, said):
    test = tmp_path / 'test_of_a_test.py'
    test.write_text(FAILING.format(stall=stall, passes_after=passes_after))
    done = subprocess.run(
        [sys.executable, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', '-c', '/dev/null',
         '-p', 'conftest', str(test)], cwd=tmp_path, capture_output=True, text=True,
        env={**os.environ, 'PYTHONPATH': str(ROOM)})
    assert done.returncode == code, done.stdout + done.stderr
    assert ('once more' in done.stderr) == said
