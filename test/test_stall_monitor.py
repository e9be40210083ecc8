# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A failing test shows its processes' words; one marked `alone` is repeated after a stall."""

import os
from pathlib import Path
import re
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

ROOM = Path(__file__).parent

# Each test counts its runs, and passes after so many; stalls come last, or one would excuse others
TESTS = """
from collections import Counter
import signal
import time

from conftest import WATCH
import pytest

runs = Counter()


def passes(request, after):
    runs[request.node.name] += 1
    return runs[request.node.name] > after


@pytest.mark.alone
def test_in_time(request):
    assert passes(request, 1)


@pytest.mark.parametrize('after', [
    *[pytest.param(k, marks=pytest.mark.alone, id=f'alone {k}') for k in range(3)], 0, 1])
def test_stall(request, after):
    watch, begin = request.config.stash[WATCH], time.monotonic()
    while watch.longest(begin) == 0.0:
        assert time.monotonic() < begin + 20.0
        watch.process.send_signal(signal.SIGSTOP)
        time.sleep(0.2)
        watch.process.send_signal(signal.SIGCONT)
        time.sleep(0.1)
    assert passes(request, after)


def test_words(start):
    start('echo', 'last', 'words').wait_for_line('last words')
    raise OSError('no stall')
"""


def test_what_is_alone_and_stalled_is_repeated_once(tmp_path):
    """Nothing else is; a failure shows what its processes have printed."""
    done = pytest_run(tmp_path, TESTS)
    found, said = outcomes(done), done.stdout + done.stderr
    passed = {name for name, outcome in found.items() if outcome == 'PASSED'}
    assert passed == {'test_stall[alone 0]', 'test_stall[alone 1]', 'test_stall[0]'}, said
    assert len(found) == 7, said
    assert re.findall(r'::test_stall\[(.*)\] failed while the machine stalled for \d+ ms: once '
                      'more', done.stderr) == ['alone 1', 'alone 2'], said
    assert '\n2 tests repeated\n' in done.stdout, said
    assert len(re.findall(r'printed by echo last words -+\nlast words', done.stdout)) == 1, said


def outcomes(done: subprocess.CompletedProcess[str]) -> dict[str, str]:
    """Return PASSED or FAILED of each test by its name."""
    return dict(re.findall(r'::(\w+(?:\[.*\])?) (PASSED|FAILED)', done.stdout))


def pytest_run(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    """Run a file of tests with our conftest."""
    test = folder / 'test_of_a_test.py'
    test.write_text(text)
    return subprocess.run(
        [sys.executable, '-m', 'pytest', '-v', '-p', 'no:cacheprovider', '-c', '/dev/null',
         '-p', 'conftest', str(test)], cwd=folder, capture_output=True, text=True,
        env={**os.environ, 'PYTHONPATH': str(ROOM)})
