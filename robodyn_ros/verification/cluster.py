# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Worlds played by the workers of a Dask cluster."""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib.metadata import version
from itertools import islice
import platform
from threading import Lock
from typing import Any

from .results import digest, fingerprint, law_source, package_digest
from .trial import Case, Outcome, Player
from ..errors import SimulationError
from ..extras import pip_install

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
