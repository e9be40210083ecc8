# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
A pytest plugin under which the test of each row has to fail, because its row is disabled.

Rows of the library run with ROBODYN_PLAIN=1, the function of the row with other code. Processes
that the others start import another file as the module of the row. A test fails as it should by
what it asserts, or as a service gives no answer. The first row of each file also has to pass.
"""

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
import inspect
import os
from pathlib import Path
import re
import time

from faults import arm
from faults.rows import Mutation, PACKAGE
from nodes.remote import Remote
from processes import Process
import pytest
from robodyn_ros.control.cycle.compile_ahead import plain

BOTH = WHOLE, DISABLED = 'whole', 'disabled'
LIVE = {'remote', 'start', 'shared'}        # fixtures of tests of processes
# For what may never come where a row is disabled: seconds; or answers of the node and its reports,
# once a second and with each phase, which tell how much of a busy machine it has had. Before the
# first answer only reports count
PATIENCE, MOST, REPORTS = 8.0, 800, 3
# nodes/middleware/client_session.py: a node that was connected and broke
UNANSWERED = 'no answer within'
SIGN = 'this is a mutant'
# Startup of an interpreter that takes a module from another file
SITE = """
import sys
from importlib.util import spec_from_file_location

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {0!r}:
            print({1!r}, flush=True)
            return spec_from_file_location(name, {2!r})

sys.meta_path.insert(0, Finder())
"""
# Errors of a mutation that is none
MISTAKES = AttributeError, ImportError, NameError, SyntaxError, TypeError
NONSENSE = re.compile('^(Attribute|Import|Indentation|ModuleNotFound|Name|Syntax|Type|Unbound'
                      'Local)Error', re.MULTILINE)


def pytest_configure(config: pytest.Config) -> None:
    """Know the marker of pytest-xdist, which is not loaded."""
    config.addinivalue_line('markers', 'xdist_group(name): tests of one worker')


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run each test of a row twice."""
    metafunc.parametrize('package', BOTH, indirect=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the first parameters of each row, disabled, and the first row of a file as it is."""
    kept: dict[tuple, pytest.Item] = {}
    for item in items:
        live = not LIVE.isdisjoint(item.fixturenames)
        if hasattr(item.function, 'row') and live != plain() and not (
                live and item.get_closest_marker('skipif')):
            whole = item.callspec.params['package'] == WHOLE
            kept.setdefault((item.path, whole or item.originalname), item)
    items[:] = kept.values()


@pytest.fixture(autouse=True)
def package(request: pytest.FixtureRequest, tmp_path: Path,
            monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Disable the row: in this process, or in those that the test starts."""
    mutation = request.function.row.mutation if request.param == DISABLED else None
    if plain():
        monkeypatch.setattr(arm, 'MOST', MOST)
        with exchanged(mutation):
            yield
        return
    from faults import live_arm

    where = request.function.row.mutation
    text = (PACKAGE / where.file).read_text()
    changed = tmp_path / Path(where.file).name
    changed.write_text(mutation.applied(text) if mutation else text)
    module = '.'.join(('robodyn_ros', *Path(where.file).with_suffix('').parts))
    (tmp_path / 'sitecustomize.py').write_text(SITE.format(module, SIGN, str(changed)))
    if mutation:
        monkeypatch.setattr(Remote, 'until', until)
        monkeypatch.setattr(Process.wait_for_line, '__defaults__', (PATIENCE,))
        monkeypatch.setattr(Process.wait, '__defaults__', (PATIENCE,))
        monkeypatch.setattr(live_arm, 'ANSWER', PATIENCE / 2)        # it comes at once, or never
        monkeypatch.setattr(live_arm, 'PATIENCE', 0.0)               # ticks alone count
        monkeypatch.setattr(live_arm, 'MOST', MOST)
    monkeypatch.setenv('ROBODYN_MUTANT', '1')               # no forks: they have imported all
    monkeypatch.setenv('PYTHONPATH', os.pathsep.join(
        [str(tmp_path), *os.environ.get('PYTHONPATH', '').split(os.pathsep)]))
    yield


@contextmanager
def exchanged(mutation: Mutation | None) -> Iterator[None]:
    """Give a function the code of its mutation; its module is not imported anew."""
    if mutation is None:
        yield
        return
    function = inspect.unwrap(mutation.where)
    path = PACKAGE / mutation.file
    code = before = function.__code__
    code = compile(mutation.applied(path.read_text()), str(path), 'exec')
    for name in mutation.name.split('.'):
        code, = (c for c in code.co_consts if inspect.iscode(c) and c.co_name == name)
    function.__code__ = code
    try:
        yield
    finally:
        function.__code__ = before


def until(remote: Remote, condition: Callable[[], object], what: str,
          deadline: float = PATIENCE) -> None:
    """Listen until the condition holds, as :meth:`Remote.until`, as long as it may still."""
    end, reports, answered = time.monotonic() + deadline, remote.reports, remote.command_count
    while not condition():
        assert time.monotonic() < end and (
            remote.reports - reports < REPORTS
            or 0 < remote.command_count - answered < MOST), what
        remote.executor.spin_once(0.05)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, bool]:
    """Turn the outcome around where the row is disabled."""
    error = None
    try:
        yield
    except (AssertionError, pytest.fail.Exception) as failure:
        error = failure
    except Exception as failure:
        # In a node an exception of the control cycle, or a refusal, is no answer
        if isinstance(failure, MISTAKES) or not plain() and UNANSWERED not in str(failure):
            raise
        error = failure
    printed = [path.read_text(errors='replace')
               for path in sorted(pyfuncitem.funcargs['tmp_path'].glob('process*.txt'))]
    assert plain() or any(SIGN in text for text in printed), 'no process has imported the mutant'
    for text in printed:
        assert not NONSENSE.search(text), f'a mutant that cannot run shows nothing\n{text}'
    if pyfuncitem.callspec.params['package'] == DISABLED:
        assert error, f'the test passes in spite of {pyfuncitem.obj.row.mutation}'
        print('fails as it should:', error)         # pytest -rP shows it
    elif error:
        raise error
    return True
