# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A failing test shows its processes' words, and is repeated once if the machine stood still."""

import os
from pathlib import Path
import re
import subprocess
import sys

import pytest
from stall_monitor import REPEATS

ROOM = Path(__file__).parent

FAILING = """
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
"""


@pytest.mark.parametrize(('stall', 'passes_after', 'code', 'said'), [
    (True, 1, 0, True), (True, 2, 1, True), (True, 0, 0, False)])
def test_what_fails_in_a_stall_is_repeated_once(tmp_path, stall, passes_after, code, said):
    done = run(tmp_path, FAILING.format(stall=stall, passes_after=passes_after))
    assert done.returncode == code, done.stdout + done.stderr
    assert ('once more' in done.stderr) == said


UNHEARD = """
from conftest import UNHEARD

runs = []


def test_it():
    runs.append(0)
    assert len(runs) > {passes_after}, f'service /x: {{UNHEARD}} 20 s'
"""


@pytest.mark.parametrize(('passes_after', 'code', 'said'), [(1, 0, True), (2, 1, True),
                                                            (0, 0, False)])
def test_what_fails_for_want_of_a_service_is_repeated_once(tmp_path, passes_after, code, said):
    done = run(tmp_path, UNHEARD.format(passes_after=passes_after))
    assert done.returncode == code, done.stdout + done.stderr
    assert ('connected no service: once more' in done.stderr) == said


STALLED = """
from conftest import STALLED

runs = []


def test_it(start):
    runs.append(0)
    start('echo', f'FAULT: {{STALLED}}').wait_for_line(STALLED)
    assert len(runs) > {passes_after}
"""


@pytest.mark.parametrize(('passes_after', 'code', 'said'), [(1, 0, True), (2, 1, True),
                                                            (0, 0, False)])
def test_what_fails_with_a_stalled_controller_is_repeated_once(tmp_path, passes_after, code, said):
    done = run(tmp_path, STALLED.format(passes_after=passes_after))
    assert done.returncode == code, done.stdout + done.stderr
    assert ('the control loop stood still: once more' in done.stderr) == said


UNKNOWN = """
import pytest

runs = dict.fromkeys(range({tests}), 0)


@pytest.mark.parametrize('k', runs)
def test_it(start, k):
    runs[k] += 1
    assert runs[k] > 1
"""


@pytest.mark.parametrize(('tests', 'code'), [(REPEATS, 0), (REPEATS + 1, 1)])
def test_few_tests_of_processes_may_fail_once(tmp_path, tests, code):
    done = run(tmp_path, UNKNOWN.format(tests=tests))
    assert done.returncode == code, done.stdout + done.stderr
    assert done.stderr.count('for no known reason: once more') == REPEATS
    assert done.stderr.count('AssertionError') >= REPEATS       # each is shown


SAYING = """
def test_it(start):
    start('echo', 'last', 'words').wait_for_line('last words')
    assert {passes}
"""


@pytest.mark.parametrize('passes', [False, True])
def test_a_failure_shows_what_its_processes_have_printed(tmp_path, passes):
    done = run(tmp_path, SAYING.format(passes=passes))
    assert done.returncode == (not passes)
    assert bool(re.search(r'printed by echo last words -+\nlast words', done.stdout)) != passes


def run(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    """Run a test with our conftest."""
    test = folder / 'test_of_a_test.py'
    test.write_text(text)
    return subprocess.run(
        [sys.executable, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', '-c', '/dev/null',
         '-p', 'conftest', str(test)], cwd=folder, capture_output=True, text=True,
        env={**os.environ, 'PYTHONPATH': str(ROOM)})
