# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Results of many worlds in an SQLite file, from which an interrupted run is resumed."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import asdict, fields
from functools import cache, lru_cache
import hashlib
from importlib.metadata import version
import inspect
from itertools import islice
import json
from pathlib import Path
import platform
import sqlite3
from threading import Lock
from typing import Any

import numpy as np

from .sensitivity import Pair, TurningPoint
from .trial import Case, Outcome, Player
from .worlds import plain
from ..control.laws import registry
from ..errors import ArgumentError, reading, SimulationError
from ..extras import pip_install
from ..model.robot import RobotModel

SCHEMA = """
CREATE TABLE IF NOT EXISTS case_description (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS outcome (world INTEGER PRIMARY KEY, content TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS turning_point (broken INTEGER, held INTEGER, content TEXT NOT NULL,
                                          PRIMARY KEY (broken, held));
"""


def fingerprint(case: Case) -> dict[str, str]:
    """Return what decides the outcomes: hashes of model, settings, worlds, motion and sources."""
    settings = asdict(case.settings)
    motion = None if case.waypoints is None else {
        name: np.asarray(value).tolist() for name, value in vars(case.waypoints).items()}
    robots = [_arrays(model) for model in (case.model, case.true) if model]
    return {'robot': digest(robots), 'settings': digest(settings),
            'worlds': digest(plain(case.worlds)), 'motion': digest(motion),
            'seed': str(case.seed), 'trigger': case.trigger, 'package': package_digest(),
            'laws': digest([law_source(mode) for mode in case.worlds.modes])}


@cache
def package_digest() -> str:
    """Return a hash of the sources of this package."""
    root, sources = Path(__file__).parents[1], hashlib.sha256()
    for path in sorted(root.rglob('*.py')):
        sources.update(path.relative_to(root).as_posix().encode() + path.read_bytes())
    return sources.hexdigest()[:12]


def law_source(mode: str) -> str:
    """Return the source of the module of a custom law, '' for one of this package."""
    path = inspect.getsourcefile(registry.find(mode).efforts) if ':' in mode else None
    return Path(path).read_text(encoding='utf-8') if path else ''


def _arrays(model: RobotModel) -> dict[str, Any]:
    return {f.name: getattr(model, f.name) for f in fields(model)
            if f.name not in ('warnings', 'shapes', 'shape_problems')}


def digest(value: Any) -> str:
    """Return a hash of a value."""
    text = json.dumps(value, sort_keys=True, default=lambda x: (
        x.tolist() if isinstance(x, np.ndarray) else repr(x)))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class Results:
    """
    Outcomes by the index of their world.

    :param path: of the file, which is made if there is none.
    :raises ArgumentError: the file cannot be used, is full, or holds results of something else.
    """

    def __init__(self, path: Path, case: Case):
        self.path = path
        with self._refused():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(path)
            # A killed process loses nothing; a loss of power may, but worlds can be played again
            self._database.execute('PRAGMA synchronous = OFF')
            self._database.executescript(SCHEMA)
        self._check(fingerprint(case))

    @contextmanager
    def _refused(self) -> Iterator[None]:
        try:
            yield
        except (OSError, ValueError, sqlite3.Error) as error:
            raise ArgumentError(f'{self.path} cannot be used ({error})', name='--output',
                                value=str(self.path),
                                remedy='choose another --output, or make room') from error

    def _reading(self) -> AbstractContextManager[None]:
        return reading(self.path, ArgumentError, '--output', 'choose another --output, or '
                       'delete the file')

    def _check(self, wanted: dict[str, str]) -> None:
        with self._reading():
            found = dict(self._database.execute('SELECT name, value FROM case_description'))
        if not found:
            with self._database:
                self._database.executemany('INSERT INTO case_description VALUES (?, ?)',
                                           wanted.items())
            return
        other = [name for name, value in wanted.items() if found.get(name) != value]
        if other:
            self._database.close()
            raise ArgumentError(
                f'{self.path} holds results with another {", ".join(other)}', name='--output',
                value=str(self.path), remedy='choose another --output, or delete the file')

    def add(self, outcome: Outcome) -> None:
        """Store an outcome for good."""
        with self._refused(), self._database:
            self._database.execute('INSERT OR REPLACE INTO outcome VALUES (?, ?)',
                                   (outcome.index, json.dumps(outcome.plain())))

    def known(self) -> set[int]:
        """Return the indices of the worlds that have been played."""
        with self._reading():
            return {int(row[0]) for row in self._database.execute('SELECT world FROM outcome')}

    def outcomes(self, count: int) -> Iterator[Outcome]:
        """Yield the outcomes of the first so many worlds, in their order."""
        with closing(self._database.cursor()) as rows:
            with self._reading():
                rows.execute('SELECT content FROM outcome WHERE world < ? ORDER BY world',
                             (count,))
            while True:
                with self._reading():
                    if (row := rows.fetchone()) is None:
                        return
                    outcome = Outcome(**json.loads(row[0]))
                yield outcome

    def add_turning_points(self, pair: Pair, found: Sequence[TurningPoint]) -> None:
        """Store the turning points of a pair for good."""
        with self._refused(), self._database:
            self._database.execute('INSERT OR REPLACE INTO turning_point VALUES (?, ?, ?)',
                                   (*pair, json.dumps(found)))

    def turning_points(self, pair: Pair) -> list[TurningPoint] | None:
        """Return the turning points of a pair, None where they are not known."""
        with self._reading():
            row = self._database.execute(
                'SELECT content FROM turning_point WHERE broken = ? AND held = ?',
                pair).fetchone()
            return row and [TurningPoint(*one) for one in json.loads(row[0])]

    def close(self) -> None:
        """Close the file."""
        self._database.close()


CONNECTING = 10.0       # s for the scheduler to answer
LOOKING = 5.0           # s between two looks at whether workers are left
AHEAD = 4               # worlds that are handed out per thread of the workers
FAILURES = 3            # workers that may end while they play the same world
LIBRARIES = ('numpy', 'numba', 'scipy')
_one_at_a_time = Lock()
_players: dict[str, Player] = {}


def play_on_cluster(case: Case, indices: Iterable[int], address: str) -> Iterator[Outcome]:
    """
    Yield the outcomes of worlds as they come in.

    A world whose worker has ended is played again by another one.

    :param address: of the scheduler, as tcp://host:8786.
    :raises SimulationError: the library distributed is missing; the scheduler does not answer or
        has ended; it has no workers; a worker has another version of this package or of a library.
    """
    try:
        from distributed import Client, wait
        from distributed.comm.core import CommClosedError
    except ImportError as error:
        raise SimulationError('--scheduler needs the library distributed', name='--scheduler',
                              remedy=f'run `{pip_install("distributed")}`') from error
    try:
        client = Client(address, timeout=CONNECTING)
    except (OSError, ValueError) as error:
        raise SimulationError(f'no Dask scheduler at {address} ({error})', name='--scheduler',
                              value=address, remedy='start one with `dask scheduler`, and workers '
                              'with `dask worker ADDRESS --nthreads 1`') from error
    try:
        threads = _checked_threads(client, address, case.worlds.modes)
        there = client.scatter(case, broadcast=True, hash=False)
        key, left, waiting = digest(fingerprint(case)), iter(indices), set[Any]()
        while True:
            waiting |= {client.submit(play_one, there, key, k, pure=False, retries=FAILURES)
                        for k in islice(left, AHEAD * threads - len(waiting))}
            if not waiting:
                return
            try:
                done, waiting = wait(waiting, timeout=LOOKING, return_when='FIRST_COMPLETED')
            except TimeoutError:
                _checked_threads(client, address, case.worlds.modes)
                continue
            for future in done:
                yield future.result()
    except (CommClosedError, OSError) as error:
        raise _lost(address) from error
    finally:
        client.close(timeout=CONNECTING)


def _checked_threads(client: Any, address: str, modes: tuple[str, ...]) -> int:
    """Return the number of threads of all workers, which have to have this version."""
    if client.status != 'running':
        raise _lost(address)
    workers = client.scheduler_info(n_workers=-1)['workers']
    if not workers:
        raise SimulationError(f'the Dask scheduler at {address} has no workers',
                              name='--scheduler', value=address,
                              remedy=f'start some with `dask worker {address} --nthreads 1`; the '
                              'same command resumes')
    ours = versions(modes)
    for worker, theirs in client.run(versions, modes, on_error='return').items():
        if not isinstance(theirs, dict):
            raise SimulationError(
                f'worker {worker} cannot import robodyn_ros or the law ({theirs})', name=worker,
                value=str(theirs), remedy='install it there in this version')
        if other := [name for name in ours if theirs.get(name) != ours[name]]:
            raise SimulationError(
                f'worker {worker} has another version of ' + ', '.join(
                    f'{name} ({theirs.get(name)}, here {ours[name]})' for name in other),
                name=worker, value=theirs, remedy='install the same there, or stop this worker')
    return sum(worker['nthreads'] for worker in workers.values())


def _lost(address: str) -> SimulationError:
    return SimulationError(f'the Dask scheduler at {address} has ended', name='--scheduler',
                           value=address, remedy='start it again; the same command resumes')


@lru_cache(1)
def versions(modes: tuple[str, ...] = ()) -> dict[str, str]:
    """Return what outcomes depend on: hashes of this package and laws, versions of libraries."""
    return {'robodyn_ros': package_digest(), 'Python': platform.python_version(),
            **{name: version(name) for name in LIBRARIES},
            **{mode: digest(law_source(mode)) for mode in modes if ':' in mode}}


def play_one(case: Case, key: str, index: int) -> Outcome:
    """
    Play one world in a process that keeps the controller of the latest case.

    :param key: which differs for different cases.
    """
    with _one_at_a_time:
        if key not in _players:
            _players.clear()
            _players[key] = Player(case)
        return _players[key].play(index)
