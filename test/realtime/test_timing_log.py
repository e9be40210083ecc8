# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Recordings come back as they were written; anything else is refused in one line."""

from dataclasses import asdict
import json
import pickle

import numpy as np
import pytest
from robodyn_ros.errors import ArgumentError
from robodyn_ros.realtime.statistics import no_cycles, TIMING
from robodyn_ros.realtime.timing_log import About, FORMAT, load, save

ABOUT = About(1000.0, 'timer', 'python', 'SCHED_FIFO 80', 12345, 2, 7, 1)


def some(n):
    cycles = no_cycles(n)
    for name in TIMING.names:
        cycles[name] = np.random.default_rng(3).random(n)
    cycles['wake_up'][1] = np.nan
    return cycles


def test_what_is_written_is_read(tmp_path):
    path = tmp_path / 'timing'           # the name is taken as it is, whatever its ending
    cycles = some(5)
    save(path, cycles, ABOUT)
    save(path, cycles, ABOUT)
    found = load(path)
    assert found.about == ABOUT
    for name in TIMING.names:
        np.testing.assert_array_equal(found.cycles[name], cycles[name])
    assert [p.name for p in tmp_path.iterdir()] == ['timing']


def test_a_file_that_cannot_be_written_is_an_os_error(tmp_path):
    with pytest.raises(OSError):
        save(tmp_path / 'missing' / 'timing.npz', some(3), ABOUT)


def write(path, **changed):
    columns = {name: some(3)[name] for name in TIMING.names}
    np.savez(path, **{'format': FORMAT, 'about': json.dumps(asdict(ABOUT)), **columns, **changed})


def break_(path, how):
    if how == 'text':
        path.write_text('no recording')
    elif how == 'empty':
        path.write_bytes(b'')
    elif how == 'array':
        with path.open('wb') as out:
            np.save(out, np.zeros(3))
    elif how == 'cut':
        write(path)
        path.write_bytes(path.read_bytes()[:200])
    elif how == 'pickle':
        path.write_bytes(pickle.dumps({'woke': 1}))
    elif how == 'objects':
        write(path, woke=np.array([{}, {}, {}], object))
    elif how == 'format':
        write(path, format='another')
    elif how == 'lengths':
        write(path, age=np.zeros(4))
    elif how == 'shape':
        write(path, **{name: np.zeros((2, 2)) for name in TIMING.names})
    elif how == 'about':
        write(path, about='{"rate": 1}')
    elif how == 'folder':
        path.mkdir()


@pytest.mark.parametrize('how', ['missing', 'text', 'empty', 'array', 'cut', 'pickle', 'objects',
                                 'format', 'lengths', 'shape', 'about', 'folder'])
def test_anything_else_is_refused(tmp_path, how):
    path = tmp_path / 'timing.npz'
    break_(path, how)
    with pytest.raises(ArgumentError, match='is no recording of timing') as refused:
        load(path)
    assert str(path) in str(refused.value)
