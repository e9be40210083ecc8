# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The test of each row of the fault table fails where the row is disabled."""

from collections.abc import Callable
from functools import cache
import os
from pathlib import Path
import sys
from xml.etree import ElementTree

from faults.mutants import DISABLED, TEST, WHOLE
from faults.rows import with_rows
from processes import Process
import pytest

pytestmark = pytest.mark.slow

# The rows of the control cycle, its guard and its limits, with ALL_ROWS=1 the others too; without
# those that need compiled code
TESTS = {test.__name__: test for test in with_rows()
         if (test.row.mutation.file.startswith('control/') or 'ALL_ROWS' in os.environ)
         and 'skipif' not in {mark.name for mark in getattr(test, 'pytestmark', ())}}
# That tests pass on a whole copy is seen once a file; all of them on both copies:
# PYTHONPATH=test python -m pytest -p faults.mutants test/faults/test_state_faults.py
FIRST = {test.__code__.co_filename: name for name, test in reversed(TESTS.items())}.values()

# They mostly wait, for what never comes: one process runs every second one of them for all
PROCESSES = 2
CASES = [pytest.param(k % PROCESSES, copy, name, id=f'{copy}-{name}',
                      marks=pytest.mark.xdist_group(f'mutants{k % PROCESSES}'))
         for k, (copy, name) in enumerate([*((WHOLE, name) for name in FIRST),
                                           *((DISABLED, name) for name in TESTS)])]


@pytest.fixture(scope='module')
def reports(request, tmp_path_factory) -> Callable[[int], dict[str, ElementTree.Element]]:
    """Return what became of the tests of a process, by name with parameters."""
    @cache
    def reports(process: int) -> dict[str, ElementTree.Element]:
        asked = [item.callspec.params for item in request.session.items
                 if item.originalname == test_of_a_row.__name__
                 and item.callspec.params['process'] == process]
        try:
            return run(asked, tmp_path_factory.mktemp('mutants'))
        except AssertionError as error:         # not once more for each test
            return {str(error): ElementTree.Element('none')}
    return reports


def run(asked: list[dict], folder: Path) -> dict[str, ElementTree.Element]:
    """Run tests on the copies that are asked for."""
    wanted = sorted({f'{TESTS[a["name"]].__code__.co_filename}::{a["name"]}' for a in asked})
    which = ' or '.join(f'{a["name"]} and {a["copy"]}' for a in asked)
    # Plain Python from the start, or the nodes of copies would not be forked
    env = {**os.environ, 'ROBODYN_PLAIN': '1', 'PYTEST_DISABLE_PLUGIN_AUTOLOAD': '1',
           'PYTHONPATH': os.pathsep.join(
               [str(TEST), *os.environ.get('PYTHONPATH', '').split(os.pathsep)])}
    path = folder / 'reports.xml'
    process = Process(
        [sys.executable, '-m', 'pytest', '-p', 'faults.mutants', '-p', 'no:cacheprovider',
         f'--basetemp={folder / "tests"}', f'--junitxml={path}', '-k', which, *wanted],
        folder / 'output.txt', env, TEST.parent)
    try:
        process.wait(1200.0)
        assert path.exists(), process.text
        return {case.attrib['name']: case for case in ElementTree.parse(path).iter('testcase')}
    finally:
        process.kill()


@pytest.mark.parametrize(('process', 'copy', 'name'), CASES)
def test_of_a_row(reports, process, copy, name):
    """It passes on a copy of the package, and fails where the row is disabled."""
    cases = [case for full, case in reports(process).items()
             if full.split('[')[0] == name and copy in full]
    problems = [case[0].text for case in cases if len(case)]
    assert cases, reports(process)
    assert not problems or copy == DISABLED and len(problems) < len(cases), problems[0]
