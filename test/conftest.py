# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Configuration of all tests: own ROS domain, clean-up of processes, markers.

This file also puts its folder on `sys.path`: tests can `import processes` and `import robots`.
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
import gc
import os
from pathlib import Path
import re
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from _pytest.runner import runtestprotocol
import forked
from hypothesis import HealthCheck, settings
from processes import claim_domain, Process
import pytest
from stall_monitor import Watch

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter
    from nodes.remote import Remote
    from viewer.browser import Browser
    from xdist.workermanage import WorkerController

WATCH = pytest.StashKey[Watch]()
REPEATED = pytest.StashKey[list[str]]()
STARTED = pytest.StashKey[list[Process]]()
CRASHED = pytest.StashKey[bool]()
PROCESS_FIXTURES = {'start', 'start_once', 'remote', 'terminal'}
ROS_MODULES = re.compile(r'rclpy|robodyn_ros\.(nodes|testing(?!\.(desk_arm|mit_motors)))|\w+_msgs')
# Imports of files that `make quick` skips without importing them
PROCESS_IMPORTS = re.compile(r'^(?:import subprocess$|from processes import .*\bProcess\b|'
                             fr'(?:from|import) (?:{ROS_MODULES.pattern})\b)', re.MULTILINE)
MARKED_FILES = re.compile(r'^pytestmark = .*\bmark\.(?:slow|alone)\b', re.MULTILINE)
TEST = Path(__file__).resolve().parent
# A busy machine is no reason for a property to fail
settings.register_profile('any machine', deadline=None,
                          suppress_health_check=[HealthCheck.too_slow])
settings.load_profile('any machine')
MAX_ID_LENGTH = 60          # characters
MAX_OUTPUT_LENGTH = 4000    # characters of process output in a failure report


def pytest_configure(config: pytest.Config) -> None:
    """Claim a ROS domain for this run and all processes that it starts."""
    domain, holder = claim_domain()
    config.add_cleanup(holder.close)
    os.environ['ROS_DOMAIN_ID'] = str(domain)
    os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
    for name in ('ROS_STATIC_PEERS', 'ROS_NAMESPACE'):
        os.environ.pop(name, None)
    # Ignored under nohup, and in the background of a shell. Unlike SIG_IGN, a handler is not
    # inherited by the nodes under test.
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: None)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    config.stash[REPEATED] = []
    config.add_cleanup(forked.close)
    if config.option.markexpr == 'alone':
        forked.server()         # prepares on the other processor, while tests are collected


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Skip files, and folders, without tests for `-m alone` or `make quick`: saves seconds."""
    chosen = config.option.markexpr
    if not collection_path.is_relative_to(TEST):
        return None
    if chosen == 'alone':
        # What conftest.py of a folder imports may take longer than all tests of the run do
        files = collection_path.rglob('*.py') if collection_path.is_dir() else [collection_path]
        return not any('pytest.mark.alone' in file.read_text() for file in files) or None
    if (chosen.startswith('not (') and 'slow' in chosen and 'alone' in chosen
            and collection_path.suffix == '.py'):
        text = collection_path.read_text()
        return bool(MARKED_FILES.search(text) or PROCESS_IMPORTS.search(text)) or None
    return None


def pytest_make_parametrize_id(val: object) -> str | None:
    """Truncate long parameter values in test names: workers exchange them, and some are MB."""
    if isinstance(val, (str, bytes)) and len(val) > MAX_ID_LENGTH:
        return repr(val[:MAX_ID_LENGTH]) + '...'
    return None


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """
    Exclude imported modules and collected tests from garbage collection.

    Garbage collection takes a quarter of the collection time in each pytest-xdist worker.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests as `process` and `ros` by their fixtures and imports."""
    modules: dict[object, list[str]] = {}
    for item in items:
        if not isinstance(item, pytest.Function):
            for marker in ('alone', 'ros', 'process'):      # of launch_testing
                item.add_marker(marker)
            continue
        module = item.module
        if module not in modules:
            values = list(vars(module).values())
            names = [getattr(value, '__module__', None) or getattr(value, '__name__', '')
                     for value in values]
            modules[module] = [
                *(['process'] if any(value is subprocess or value is Process for value in values)
                  else []),
                *(['ros'] if any(isinstance(n, str) and ROS_MODULES.match(n) for n in names)
                  else [])]
        for marker in modules[module]:
            item.add_marker(marker)
        if PROCESS_FIXTURES.intersection(item.fixturenames):
            item.add_marker('process')
        if 'remote' in item.fixturenames:
            item.add_marker('ros')
        if 'browser' in item.fixturenames:
            item.add_marker('slow')


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Repeat, once, a test marked `alone` that failed while the machine stalled; print why."""
    # Items of launch_testing cannot be run twice
    if not item.get_closest_marker('alone') or not hasattr(item, '_initrequest'):
        return None
    if WATCH not in item.config.stash:
        item.config.stash[WATCH] = watch = Watch()
        item.config.add_cleanup(watch.close)
    hook, begin = item.ihook, time.monotonic()
    hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports = runtestprotocol(item, nextitem=nextitem, log=False)
    failed = [report for report in reports if report.failed]
    if failed and (stall := item.config.stash[WATCH].longest(begin)):
        item.config.stash[REPEATED].append(item.nodeid)
        print(f'\n{item.nodeid} failed while the machine stalled for {1e3 * stall:.0f} ms: '
              'once more', file=sys.__stderr__, flush=True)
        for report in failed:
            print(report.longreprtext[-MAX_OUTPUT_LENGTH:], file=sys.__stderr__, flush=True)
        item._initrequest()     # as pytest-rerunfailures does
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
    for report in reports:
        hook.pytest_runtest_logreport(report=report)
    hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def pytest_terminal_summary(terminalreporter: 'TerminalReporter', config: pytest.Config) -> None:
    """Say how many tests have been repeated."""
    if config.option.markexpr == 'alone' or config.stash[REPEATED]:
        terminalreporter.write_line(f'{len(config.stash[REPEATED])} tests repeated')


@pytest.hookimpl(optionalhook=True)     # of pytest-xdist
def pytest_testnodedown(node: 'WorkerController', error: object | None) -> None:
    """End the run with INTERNAL_ERROR if a worker crashed: its remaining tests did not run."""
    if error:
        node.config.stash[CRASHED] = True


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Set the exit code."""
    if session.config.stash.get(CRASHED, False):
        session.exitstatus = pytest.ExitCode.INTERNAL_ERROR


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport,
                                                              pytest.TestReport]:
    """Add the output of the test's processes to the report of a failure."""
    report = yield
    if report.when == 'call' and report.failed:
        report.sections += [(f'printed by {" ".join(process.command)}',
                             process.text[-MAX_OUTPUT_LENGTH:]) for process in started(item)]
    return report


def started(item: pytest.Item) -> list[Process]:
    """Return the processes of a test, and those that it shares with others of its module."""
    return [process for node in (item, item.getparent(pytest.Module)) if node
            for process in node.stash.get(STARTED, [])]


@contextmanager
def starting(folder: Path, running: list[Process]) -> Iterator[Callable[..., Process]]:
    """
    Yield a function (command, *arguments, env={}, cwd=None, fresh=False) that runs a process.

    ``command`` is a program or the beginning of a command line; ``env`` extends the environment of
    the tests, where None removes a variable; ``fresh`` is passed to :class:`processes.Process`.
    Processes are listed in ``running``, write to ``folder`` and are killed at the end.
    """
    def start(command: str | Path | Sequence[str], *arguments: object,
              env: Mapping[str, str | None] | None = None, cwd: Path | None = None,
              fresh: bool = False) -> Process:
        head = [str(command)] if isinstance(command, (str, Path)) else list(command)
        # `remote` sets these variables; each process has to find its profiles by itself
        everything = {**os.environ, 'FASTDDS_DEFAULT_PROFILES_FILE': None,
                      'FASTRTPS_DEFAULT_PROFILES_FILE': None, 'PYTHONUNBUFFERED': '1',
                      'ROS_LOG_DIR': str(folder / 'log'), **(env or {})}
        process = Process([*head, *map(str, arguments)], folder / f'process{len(running)}.txt',
                          {k: v for k, v in everything.items() if v is not None}, cwd,
                          fresh=fresh)
        running.append(process)
        return process

    yield start
    for process in reversed(running):
        process.kill()


@pytest.fixture(scope='session')
def browser() -> Iterator['Browser']:
    """Yield Chromium, one for all tests of a process, each of which opens tabs of its own."""
    from viewer.browser import browsing, PROGRAM, PROGRAMS

    pytest.importorskip('websockets', reason='needs pip install websockets')
    if PROGRAM is None:
        pytest.skip(f'needs one of {", ".join(PROGRAMS)}')
    with browsing() as browser:
        yield browser


@pytest.fixture(scope='module')
def few_poses() -> Iterator[None]:
    """Judge and suggest gains at two poses, which is quicker."""
    from robodyn_ros.control.settings import settings as of_controllers, suggested_gains

    with pytest.MonkeyPatch.context() as patch:
        for module in (of_controllers, suggested_gains):
            patch.setattr(module, 'CHECKED_POSES', 2)
        yield


@pytest.fixture
def start(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Callable[..., Process]]:
    """Yield what starts processes that end with the test, see :func:`starting`."""
    running = request.node.stash[STARTED] = []
    with starting(tmp_path, running) as start:
        yield start


@pytest.fixture(scope='module')
def start_once(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
               ) -> Iterator[Callable[..., Process]]:
    """Yield what starts processes that all tests of a module share."""
    running = request.node.stash[STARTED] = []
    with starting(tmp_path_factory.mktemp('shared'), running) as start:
        yield start


@pytest.fixture
def remote(request: pytest.FixtureRequest) -> Iterator['Remote']:
    """Yield a ROS node that publishes to and listens to the nodes under test."""
    from nodes.remote import Remote  # most tests need no rclpy

    remote = Remote(processes=lambda: started(request.node))
    yield remote
    remote.close()
