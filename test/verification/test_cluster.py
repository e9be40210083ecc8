# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Worlds on a Dask cluster of separate processes: the same outcomes, whatever happens to them."""

import os
from pathlib import Path
import signal

import planted
import pytest
from robodyn_ros.errors import SimulationError
from robodyn_ros.verification import results
from robodyn_ros.verification.trial import play_all

distributed = pytest.importorskip('distributed')
pytestmark = pytest.mark.slow
WORLDS = 12


@pytest.fixture(scope='module')
def workers():
    """Two workers with one thread each; their nannies start them anew."""
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True,
                                  dashboard_address=':0') as here:
        yield here


def brief():
    return planted.short(planted.sound(), 0.5)


def test_a_worker_that_is_killed_changes_nothing(workers):
    """Outcomes are those of this process, to the bit."""
    case, found = brief(), []
    for one in results.play_on_cluster(case, range(WORLDS), workers.scheduler_address):
        found.append(one)
        if len(found) == 3:
            os.kill(next(iter(workers.workers.values())).pid, signal.SIGKILL)
    assert sorted(found, key=lambda one: one.index) == [*play_all(case, range(WORLDS), 1)]


def test_a_worker_with_another_version_is_refused(workers, monkeypatch):
    """Here this process pretends to be another one."""
    with distributed.Client(workers.scheduler_address, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=60)
    monkeypatch.setattr(results.platform, 'python_version', lambda: '3.9.0')
    results.versions.cache_clear()
    try:
        with pytest.raises(SimulationError, match='another version of Python .*, here 3.9.0'):
            next(results.play_on_cluster(brief(), range(2), workers.scheduler_address))
    finally:
        results.versions.cache_clear()


def test_a_worker_without_the_custom_law_is_refused(workers, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / 'law_of_here.py').write_text(
        Path(planted.__file__).with_name('singular_law.py').read_text())
    mode = 'law_of_here:SINGULAR'
    case = planted.short(planted.sound(mode=mode, gains={'spring': [115.0, 16.0]}), 0.5,
                         modes=(mode,))
    with pytest.raises(SimulationError, match='cannot import .* law_of_here'):
        next(results.play_on_cluster(case, range(2), workers.scheduler_address))


def test_a_scheduler_or_its_workers_are_not_there(monkeypatch):
    monkeypatch.setattr(results, 'CONNECTING', 1.0)
    with pytest.raises(SimulationError, match='no Dask scheduler at tcp://127.0.0.1:9'):
        next(results.play_on_cluster(brief(), range(2), 'tcp://127.0.0.1:9'))
    with distributed.LocalCluster(n_workers=0, dashboard_address=':0') as empty:
        with pytest.raises(SimulationError, match='no workers'):
            next(results.play_on_cluster(brief(), range(2), empty.scheduler_address))
