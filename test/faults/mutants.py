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
import time

from faults import arm
from faults.mutation import Mutation
from forked import EXCHANGED, SIGN
from nodes.remote import Remote
from processes import Process
import pytest

TEST = Path(__file__).resolve().parents[1]
ROOT = TEST.parent
COPIES = WHOLE, DISABLED = 'whole', 'disabled'
# For what may never come where a row is disabled: seconds; or answers of the node and its reports,
# once a second and with each phase, which tell how much of a busy machine it has had. On whole
# copies all comes within them: HASTY=1 in the environment shows it. Before the first answer only
# reports count
PATIENCE, MOST, REPORTS = 8.0, 800, 3
PLAIN = 'control/', 'nodes/'    # what is not compiled
# nodes/middleware/services.py: a node that was connected and broke
UNANSWERED = 'no answer within'
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
    if request.param == DISABLED or 'HASTY' in os.environ:
        monkeypatch.setattr(Remote, 'until', until)
        monkeypatch.setattr(Process.wait_for_line, '__defaults__', (PATIENCE,))
        monkeypatch.setattr(Process.wait, '__defaults__', (PATIENCE,))
        monkeypatch.setattr(arm, 'ANSWER', PATIENCE / 2)        # it comes at once, or never
        monkeypatch.setattr(arm, 'PATIENCE', 0.0)               # ticks alone count
        monkeypatch.setattr(arm, 'MOST', MOST)
    monkeypatch.setenv('ROBODYN_PLAIN', '1')
    monkeypatch.setenv('PYTHONPATH', os.pathsep.join(
        [str(tmp_path), *os.environ.get('PYTHONPATH', '').split(os.pathsep)]))
    monkeypatch.chdir(tmp_path)                 # `python -m` looks there first


def until(remote: Remote, condition: Callable[[], object], what: str,
          deadline: float = PATIENCE) -> None:
    """Listen until the condition holds, as :meth:`Remote.until`, as long as it may still."""
    end, reports, answered = time.monotonic() + deadline, remote.reports, remote.command_count
    while not condition():
        assert time.monotonic() < end and (
            remote.reports - reports < REPORTS
            or 0 < remote.command_count - answered < MOST), what
        remote.executor.spin_once(0.05)


def copied(folder: Path, mutation: Mutation | None = None) -> None:
    """
    Copy the package into a folder, with a change: of links but for what changes, and its folders.

    :raises AssertionError: see :meth:`~.mutation.Mutation.applied`.
    """
    package, changed = folder / 'robodyn_ros', [Path('__init__.py')]
    if mutation is not None:
        changed.append(Path(mutation.file))
    # Bytecode of a changed file is written beside it
    own = {parent / name for path in changed for parent in path.parents
           for name in ('', '__pycache__')}
    fill(package, ROOT / 'robodyn_ros', own)
    for beside in ('urdf', 'package.xml'):
        (folder / beside).symlink_to(ROOT / beside)
    rewrite(package / '__init__.py', lambda text: f'{text}\nprint({SIGN!r})\n')
    if mutation is not None:
        rewrite(package / mutation.file, mutation.applied)


def fill(folder: Path, source: Path, own: set[Path], path: Path = Path()) -> None:
    """Make a folder of links to what is in another one; those in ``own`` are such folders too."""
    (folder / path).mkdir()
    for entry in os.scandir(source / path):
        if path / entry.name in own:
            fill(folder, source, own, path / entry.name)
        else:
            os.symlink(entry.path, folder / path / entry.name)


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
