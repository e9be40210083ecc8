# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
A pytest plugin under which each fault's test runs twice, its nodes on copies of the package.

On the copy that is `whole` the test has to pass. On the one where its row is `disabled` it has to
fail, by what it asserts or as a service gives no answer: it is then reported as passed. The
control cycle of a copy is plain Python, for compiling it would take 20 s; the rest is compiled,
and on the disk already where its sources are unchanged. With ROBODYN_PLAIN=1 in the environment of
pytest, nodes are forked (test/forked.py), and only the function of the row is exchanged in those
whose copy is plain Python.
"""

from collections.abc import Callable, Generator
import os
from pathlib import Path
import re
import shutil

from faults import arm
from faults.mutation import Mutation
from forked import EXCHANGED, SIGN
from nodes.remote import Remote
from processes import Process
import pytest

TEST = Path(__file__).resolve().parents[1]
ROOT = TEST.parent
COPIES = WHOLE, DISABLED = 'whole', 'disabled'
PATIENCE, MOST = 8.0, 600      # s and ticks, for what may never come where a row is disabled
PLAIN = 'control/', 'nodes/'    # what is not compiled
UNANSWERED = 'no answer within'         # nodes/services.py: a node that was connected and broke
NONSENSE = re.compile('^(Attribute|Import|Indentation|ModuleNotFound|Name|Syntax|Type|Unbound'
                      'Local)Error', re.MULTILINE)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run each test of a row on both copies."""
    copies = COPIES if hasattr(metafunc.function, 'row') else (WHOLE,)
    metafunc.parametrize('package', copies, indirect=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Unless ALL_ROWS is set, keep the first parameters of a test, on either copy."""
    if 'ALL_ROWS' in os.environ:
        return
    first: dict[tuple, pytest.Item] = {}
    for item in items:
        first.setdefault((item.location[0], item.originalname, item.callspec.params['package']),
                         item)
    items[:] = first.values()


@pytest.fixture(autouse=True)
def package(request: pytest.FixtureRequest, tmp_path: Path,
            monkeypatch: pytest.MonkeyPatch) -> None:
    """Make processes that the test starts import the copy; the test itself does not."""
    mutation = request.function.row.mutation if hasattr(request.function, 'row') else None
    copied(tmp_path, mutation if request.param == DISABLED else None)
    if mutation and mutation.name and mutation.file.startswith(PLAIN):
        monkeypatch.setenv(EXCHANGED, f'{mutation.where.__module__}:{mutation.name}')
    if request.param == DISABLED:
        monkeypatch.setattr(Remote.until, '__defaults__', (PATIENCE,))
        monkeypatch.setattr(Process.wait_for_line, '__defaults__', (PATIENCE,))
        monkeypatch.setattr(Process.wait, '__defaults__', (PATIENCE,))
        monkeypatch.setattr(arm, 'PATIENCE', PATIENCE / 2)     # answers come at once, or never
        monkeypatch.setattr(arm, 'MOST', MOST)
    monkeypatch.setenv('ROBODYN_PLAIN', '1')
    monkeypatch.setenv('PYTHONPATH', os.pathsep.join(
        [str(tmp_path), *os.environ.get('PYTHONPATH', '').split(os.pathsep)]))
    monkeypatch.chdir(tmp_path)                 # `python -m` looks there first


def copied(folder: Path, mutation: Mutation | None = None) -> None:
    """
    Copy the package into a folder, with a change.

    :raises AssertionError: see :meth:`~.mutation.Mutation.applied`.
    """
    package = folder / 'robodyn_ros'
    shutil.copytree(ROOT / 'robodyn_ros', package, copy_function=os.symlink)
    for beside in ('urdf', 'package.xml'):
        (folder / beside).symlink_to(ROOT / beside)
    rewrite(package / '__init__.py', lambda text: f'{text}\nprint({SIGN!r})\n')
    if mutation is not None:
        rewrite(package / mutation.file, mutation.applied)


def rewrite(path: Path, change: Callable[[str], str]) -> None:
    """Replace a link by a changed copy of what it leads to."""
    text = path.read_text()
    path.unlink()
    path.write_text(change(text))


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, bool]:
    """Turn the outcome around where the row is disabled."""
    error = None
    try:
        yield
    except (AssertionError, pytest.fail.Exception) as failure:
        error = failure
    except TimeoutError as failure:
        if UNANSWERED not in str(failure):
            raise
        error = failure
    printed = [path.read_text(errors='replace')
               for path in sorted(pyfuncitem.funcargs['tmp_path'].glob('process*.txt'))]
    assert printed, 'the test starts no process: it should be about the real node'
    for text in printed:
        assert SIGN in text, f'this process is not of the copy\n{text}'
        assert not NONSENSE.search(text), f'a copy that cannot run shows nothing\n{text}'
    if pyfuncitem.callspec.params['package'] == DISABLED:
        assert error, f'the test passes in spite of {pyfuncitem.obj.row.mutation}'
        print('fails as it should:', error)         # pytest -rP shows it
    elif error:
        raise error
    return True
