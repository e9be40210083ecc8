# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Configuration of all tests: an own ROS domain, processes that cannot outlive a test, markers.

Being here also puts this folder on the path of every test: `import processes`, `import robots`.
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from functools import cache
import gc
import os
from pathlib import Path
import re
import signal
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING

from _pytest.runner import runtestprotocol
import forked
from processes import claim_domain, Process
import pytest
from stall_monitor import Watch

if TYPE_CHECKING:
    from nodes.remote import Remote
    from xdist.workermanage import WorkerController

WATCH = pytest.StashKey[Watch]()
STARTED = pytest.StashKey[list[Process]]()
CRASHED = pytest.StashKey[bool]()
PROCESS = {'start', 'remote', 'terminal'}       # fixtures that start processes, or speak with them
ROS = re.compile(r'rclpy|robodyn_ros\.(nodes|testing)|\w+_msgs')     # packages that need ROS
# The same in the text of a file, which `make quick` then need not import: it has no others
ELSEWHERE = re.compile(r'^(?:import subprocess$|from processes import .*\bProcess\b|'
                       fr'(?:from|import) (?:{ROS.pattern})\b)', re.MULTILINE)
# Markers of all tests of a file, which is not read then
WHOLE = re.compile(r'^pytestmark = .*\bmark\.(?:slow|alone)\b', re.MULTILINE)
# Tests that are given to the processes of pytest-xdist one by one; of elsewhere a file goes to one
# process, which makes its fixtures and caches once
SPREAD = {'faults', 'nodes'}
# What takes longest, to be started first: then no process is left alone with it at the end
LONGEST = ('faults', 'nodes', 'identification', 'packaging', 'adversary', 'dynamics')
TEST = Path(__file__).resolve().parent
# nodes/middleware/services.py: Fast DDS did not connect
UNHEARD = 'its node has not answered within'
STALLED = 'the control loop stood still'        # control/steps/guard.py: who says so was stopped
LONGEST_NAME = 60       # characters of a text, as a parameter in the name of a test
SHOWN = 4000        # characters of what a process has printed, in the report of a failure


def pytest_configure(config: pytest.Config) -> None:
    """Give this run, and every process that it starts, a ROS domain that nobody else hears."""
    domain, holder = claim_domain()
    config.add_cleanup(holder.close)
    os.environ['ROS_DOMAIN_ID'] = str(domain)
    os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
    for name in ('ROS_STATIC_PEERS', 'ROS_NAMESPACE'):
        os.environ.pop(name, None)
    folder = tempfile.TemporaryDirectory()
    config.add_cleanup(folder.cleanup)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        # Of nohup: a handler, unlike that, is not inherited by nodes, some of which are to obey
        signal.signal(signal.SIGHUP, lambda *_: None)
    config.stash[WATCH] = watch = Watch(Path(folder.name) / 'stalls')
    config.add_cleanup(watch.close)
    config.add_cleanup(forked.close)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not read files whose tests `-m alone` and `make quick` leave out, which takes seconds."""
    chosen = config.option.markexpr
    if collection_path.suffix != '.py' or not collection_path.is_relative_to(TEST):
        return None
    text = collection_path.read_text()
    if chosen == 'alone':
        return 'pytest.mark.alone' not in text or None
    if chosen.startswith('not (') and 'slow' in chosen and 'alone' in chosen:
        return WHOLE.search(text) is not None or ELSEWHERE.search(text) is not None or None
    return None


def pytest_make_parametrize_id(val: object) -> str | None:
    """Name texts by their beginning: names go from process to process, and some texts are MB."""
    if isinstance(val, (str, bytes)) and len(val) > LONGEST_NAME:
        return repr(val[:LONGEST_NAME]) + '...'
    return None


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """
    Keep what is imported and collected out of the garbage collector's sight: all of it stays.

    Looking through thousands of tests and hundreds of modules again and again is a quarter of the
    processor time of collecting them, in each process of pytest-xdist.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)         # before pytest-xdist reads its marker
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests as `process` and `ros` by their fixtures and imports; sort them."""
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
                *(['ros'] if any(isinstance(name, str) and ROS.match(name) for name in names)
                  else [])]
        place = within(item.path)
        if place.split('/')[0] not in SPREAD:
            item.add_marker(pytest.mark.xdist_group(place))
        for marker in modules[module]:
            item.add_marker(marker)
        if PROCESS.intersection(item.fixturenames):
            item.add_marker('process')
        if 'remote' in item.fixturenames:
            item.add_marker('ros')
    items.sort(key=lambda item: rank(within(item.path).split('/')[0]))


for _place in {*SPREAD, *LONGEST}:
    assert (TEST / _place).exists(), f'test/{_place} is named in test/conftest.py'


@cache
def within(path: Path) -> str:
    """Return a path below test/; elsewhere its name."""
    return (path.relative_to(TEST) if path.is_relative_to(TEST) else Path(path.name)).as_posix()


def rank(room: str) -> int:
    """Return the place of a room of the tests in the order of their run."""
    return LONGEST.index(room) if room in LONGEST else len(LONGEST)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool:
    """Repeat, once, a test that failed while the machine stood still, and print why it failed."""
    hook, begin = item.ihook, time.monotonic()
    hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports = runtestprotocol(item, nextitem=nextitem, log=False)
    failed = [report for report in reports if report.failed]
    # Items of launch_testing cannot be run twice
    if failed and hasattr(item, '_initrequest') and (why := excuse(item, failed, begin)):
        print(f'\n{item.nodeid} failed {why}: once more', file=sys.__stderr__, flush=True)
        for report in failed:
            print(report.longreprtext[-SHOWN:], file=sys.__stderr__, flush=True)
        item._initrequest()     # as pytest-rerunfailures does
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
    for report in reports:
        hook.pytest_runtest_logreport(report=report)
    hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def excuse(item: pytest.Item, failed: Sequence[pytest.TestReport], begin: float) -> str:
    """Return why a test that failed may be repeated, '' if it may not."""
    if stall := item.config.stash[WATCH].longest(begin):
        return f'while the machine stood still for {1e3 * stall:.0f} ms'
    if any(UNHEARD in str(report.longrepr) for report in failed):
        return 'because the middleware connected no service'
    if any(STALLED in process.text for process in item.stash.get(STARTED, [])):
        return f'while a controller said that {STALLED}'
    return ''


@pytest.hookimpl(optionalhook=True)     # of pytest-xdist
def pytest_testnodedown(node: 'WorkerController', error: object | None) -> None:
    """Have the run end with INTERNAL_ERROR if a process crashed: tests are left that none runs."""
    if error:
        node.config.stash[CRASHED] = True


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Set the exit code."""
    if session.config.stash.get(CRASHED, False):
        session.exitstatus = pytest.ExitCode.INTERNAL_ERROR


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport,
                                                              pytest.TestReport]:
    """Show with a failure what the processes of the test have printed."""
    report = yield
    if report.when == 'call' and report.failed:
        report.sections += [(f'printed by {" ".join(process.command)}', process.text[-SHOWN:])
                            for process in item.stash.get(STARTED, [])]
    return report


@pytest.fixture(scope='session')
def compiler_server() -> Iterator[forked.Server]:
    """Return what forks processes that have compiled nothing of this package yet."""
    server = forked.Server('prepare_compiler')
    yield server
    server.close()


@pytest.fixture
def start(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Callable[..., Process]]:
    """
    Yield a function (command, *arguments, env={}, cwd=None, fresh=False) that runs a process.

    ``command`` is a program or the beginning of a command line; ``env`` is added to the
    environment of the tests, a value None takes a variable out; ``fresh``, also a
    marker, as of :class:`processes.Process`. Killed when the test ends.
    """
    running = request.node.stash[STARTED] = []

    def start(command: str | Path | Sequence[str], *arguments: object,
              env: Mapping[str, str | None] | None = None, cwd: Path | None = None,
              fresh: bool = False) -> Process:
        head = [str(command)] if isinstance(command, (str, Path)) else list(command)
        # `remote` names the profiles of this package, which every process names for itself
        everything = {**os.environ, 'FASTDDS_DEFAULT_PROFILES_FILE': None,
                      'FASTRTPS_DEFAULT_PROFILES_FILE': None, 'PYTHONUNBUFFERED': '1',
                      'ROS_LOG_DIR': str(tmp_path / 'log'), **(env or {})}
        process = Process([*head, *map(str, arguments)], tmp_path / f'process{len(running)}.txt',
                          {k: v for k, v in everything.items() if v is not None}, cwd,
                          fresh=fresh or request.node.get_closest_marker('fresh') is not None)
        running.append(process)
        return process

    yield start
    for process in reversed(running):
        process.kill()


@pytest.fixture
def remote() -> Iterator['Remote']:
    """Return the ears and the voice of a test of the nodes."""
    from nodes.remote import Remote  # most tests need no rclpy

    remote = Remote()
    yield remote
    remote.close()
