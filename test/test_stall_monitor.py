# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A failing test shows its processes' words, and is repeated once if the machine stalled."""

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

from conftest import STALLED, UNANSWERED, WATCH
import pytest

runs = Counter()


def passes(request, after):
    runs[request.node.name] += 1
    return runs[request.node.name] > after


@pytest.mark.parametrize('after', [0, 1, 2])
def test_unheard(request, after):
    assert passes(request, after), f'service /x: {UNANSWERED} 20 s'


@pytest.mark.parametrize('after', [0, 1, 2])
def test_stalled(request, start, after):
    start('echo', f'FAULT LOOP_STALLED: {STALLED}').wait_for_line(STALLED)
    assert passes(request, after)


@pytest.mark.parametrize('after', [0, 1, 2])
def test_stall(request, after):
    watch, begin = request.config.stash[WATCH], time.monotonic()
    while watch.longest(begin) == 0.0:
        assert time.monotonic() < begin + 20.0
        watch.process.send_signal(signal.SIGSTOP)
        time.sleep(0.2)
        watch.process.send_signal(signal.SIGCONT)
        time.sleep(0.1)
    assert passes(request, after)
"""


@pytest.fixture(scope='module')
def run(tmp_path_factory):
    """Return what pytest said of all these tests, and the outcome of each."""
    done = pytest_run(tmp_path_factory.mktemp('run'), TESTS)
    return done, outcomes(done)


@pytest.mark.parametrize(('name', 'why'), [
    ('stall', r'while the machine stalled for \d+ ms'),
    ('unheard', 'because the middleware connected no service'),
    ('stalled', 'while a controller logged: control loop stalled')])
def test_what_fails_for_a_reason_outside_is_repeated_once(run, name, why):
    done, found = run
    assert [found[f'test_{name}[{after}]'] for after in (0, 1, 2)] == [
        'PASSED', 'PASSED', 'FAILED'], done.stdout + done.stderr
    said = re.findall(rf'::test_{name}\[(\d)\] failed (.*): once more', done.stderr)
    assert [after for after, _ in said] == ['1', '2'], done.stderr
    assert all(re.fullmatch(why, reason) for _, reason in said), done.stderr


UNKNOWN = """
def test_it(start, runs=[]):
    start('echo', 'last', 'words').wait_for_line('last words')
    runs.append(1)
    assert len(runs) > 1
"""


def test_no_other_failure_is_repeated(tmp_path):
    """And it shows what its processes have printed."""
    done = pytest_run(tmp_path, UNKNOWN)
    assert done.returncode == 1 and 'once more' not in done.stderr, done.stdout + done.stderr
    assert len(re.findall(r'printed by echo last words -+\nlast words', done.stdout)) == 1


def outcomes(done: subprocess.CompletedProcess[str]) -> dict[str, str]:
    """Return PASSED or FAILED of each test by its name."""
    return dict(re.findall(r'::(\S+) (PASSED|FAILED)', done.stdout))


def pytest_run(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    """Run a file of tests with our conftest."""
    test = folder / 'test_of_a_test.py'
    test.write_text(text)
    return subprocess.run(
        [sys.executable, '-m', 'pytest', '-v', '-p', 'no:cacheprovider', '-c', '/dev/null',
         '-p', 'conftest', str(test)], cwd=folder, capture_output=True, text=True,
        env={**os.environ, 'PYTHONPATH': str(ROOM)})
