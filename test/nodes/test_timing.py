# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The controller's timing: what its thread may do, what it tells of it, what it leaves behind."""

from contextlib import suppress
import os
from pathlib import Path
import re

from nodes.test_control_loop import Rig
import numpy as np
import pytest
from robodyn_ros.errors import ParameterError
from robodyn_ros.nodes.controller.flight_recorder import TimingFile
from robodyn_ros.nodes.controller.parameters import TABLE
from robodyn_ros.realtime import scheduling
from robodyn_ros.realtime.loop_settings import LoopSettings
from robodyn_ros.realtime.scheduling import Scheduling
from robodyn_ros.realtime.statistics import load
from robodyn_ros.realtime.system_checks import attempt

ASKED = {'priority': 10, 'lock_memory': True, 'keep_awake': True, 'spin': 0.00005,
         'cpus': [min(os.sched_getaffinity(0))]}


def threads(pid):
    """Policy, priority and CPUs of each thread of a process, by its kernel id and name."""
    found = {}
    for task in Path(f'/proc/{pid}/task').iterdir():
        number = int(task.name)
        with suppress(FileNotFoundError, ProcessLookupError):       # it has ended meanwhile
            name = (task / 'comm').read_text().strip()
            found[number, name] = (
                os.sched_getscheduler(number), os.sched_getparam(number).sched_priority,
                frozenset(os.sched_getaffinity(number)))
    return found


def slices(pid):
    """Time slices [ns] of the threads of a process, by their names."""
    found = {}
    for number in map(int, os.listdir(f'/proc/{pid}/task')):
        with suppress(FileNotFoundError, ProcessLookupError):       # it has ended meanwhile
            name = Path(f'/proc/{pid}/task/{number}/comm').read_text().strip()
            found[f'{name} {number}'] = scheduling.time_slice(number)
    return found


def locked(pid):
    return int(re.search(r'VmLck:\s+(\d+)', Path(f'/proc/{pid}/status').read_text())[1])


def test_a_short_time_slice_where_there_is_no_priority(pair, remote):
    """Of the control thread and of those of the middleware, while the node is active."""
    if scheduling.time_slice(0) == 0:
        pytest.skip('the kernel has no time slices of threads')
    _, controller = pair(real_time=True)
    pid = controller.popen.pid
    assert remote.change('configure')
    assert scheduling.MIN_SLICE not in slices(pid).values()
    assert remote.change('activate')
    controller.wait_for_line('control thread: no real-time priority, time slice 0.1 ms')
    short = [name for name, ns in slices(pid).items() if ns == scheduling.MIN_SLICE]
    assert sum(not name.startswith('dds.') for name in short) == 1
    assert {name for name in slices(pid) if name.startswith('dds.')} == {
        name for name in short if name.startswith('dds.')}
    assert remote.change('deactivate')
    assert scheduling.MIN_SLICE not in slices(pid).values()


def test_one_thread_runs_as_wanted_while_the_node_is_active(pair, remote, tmp_path):
    path = tmp_path / 'timing.npz'
    _, controller = pair(controller={**ASKED, 'rate': 1000.0, 'timing_file': path}, real_time=True)
    pid = controller.popen.pid
    assert 'cannot change' in remote.set('controller', timing_file='/tmp/of_a_peer.npz')
    assert remote.change('configure')
    assert 'cannot change while' in remote.set('controller', priority=5, cpus=[0])
    before = locked(pid)
    plain = set(threads(pid).values())
    assert len(plain) == 1 and before == 0
    assert remote.change('activate')
    cpu = frozenset({min(os.sched_getaffinity(0))})
    fifo = not attempt(Scheduling(priority=10)).refused
    of_dds = {how for (_, name), how in threads(pid).items() if name.startswith('dds.')}
    special = [how for (_, name), how in threads(pid).items()
               if how not in plain and not name.startswith('dds.')]
    assert special == [(os.SCHED_FIFO, 10, cpu) if fifo else (os.SCHED_OTHER, 0, cpu)]
    assert of_dds == {(os.SCHED_FIFO, 9, cpu) if fifo else (os.SCHED_OTHER, 0, cpu)}
    lines = controller.text
    assert ('SCHED_FIFO 10' in lines) == fifo
    assert ('SCHED_FIFO priority 10 is not granted' in lines) == (not fifo)
    memory = any('memory locked' in word for word in
                 re.search(r'control thread: (.*)', lines)[1].split(', '))
    assert memory == (locked(pid) > 0) == ('locked memory is not granted' not in lines)
    remote.until(lambda: int(remote.diagnostics.get('cycles', 0)) > 300, 'cycles')
    assert f'CPU {min(cpu)}' in remote.diagnostics['scheduling']

    judged(remote)
    assert not path.exists()
    assert remote.change('deactivate')
    assert set(threads(pid).values()) == plain and locked(pid) == 0
    assert not any(os.readlink(fd) == '/dev/cpu_dma_latency'
                   for fd in Path(f'/proc/{pid}/fd').iterdir() if fd.is_symlink())
    found = load(path)
    assert len(found.cycles) == found.about.cycles > 300
    assert found.about.rate == 1000.0 and found.about.trigger == 'timer'
    assert np.isfinite(found.cycles['wake_up']).all() and (found.cycles['wake_up'] >= 0.0).all()
    assert (found.cycles['cycle'] > 0.0).all() and (np.diff(found.cycles['woke']) > 0.0).all()
    ages = found.cycles['age'][-300:]
    assert (ages >= 0.0).all()
    assert controller.interrupt() == 0


def judged(remote):
    """Check that the diagnostics tell the timing, judged by thresholds that may change."""
    remote.until(lambda: float(remote.timing.get('rate mean [Hz]', 'nan')) > 0.0, 'timing')
    for name in ('wake-up error', 'cycle time', 'state age'):
        p50, p99, p999, most = (float(remote.timing[f'{name} {figure} [us]'])
                                for figure in ('p50', 'p99', 'p99.9', 'max'))
        assert 0.0 <= p50 <= p99 <= p999 <= most
    assert int(remote.timing['slow publishes']) >= 0
    assert int(remote.timing['overruns']) <= int(remote.timing['missed periods'])
    # No machine is that good
    assert remote.set('controller', jitter_warn=0.0, jitter_error=0.0) == ''
    # A busy machine may have been worth a warning before
    remote.until(lambda: 'execution time deviation' in remote.timing['message']
                 and remote.timing['level'] == '2', 'the judgement')
    assert remote.diagnostics['level'] != '2'
    assert remote.set('controller', jitter_error=1.0, execution_error=1.0, rate_error=1.0) == ''


def test_a_recording_that_cannot_be_written_is_an_error_in_the_log(node, tmp_path, capfd):
    file = TimingFile()
    for name, said in (('', ''), (str(tmp_path / 'missing' / 'a.npz'),
                                  'a.npz cannot be written: No such file')):
        file.claim(name)
        file.write(Rig(node, 'timer').loop, node.get_logger())
        error = capfd.readouterr().err
        assert said in error and bool(error) == bool(said)
    file.release()


def test_a_timing_file_is_that_of_one_controller(tmp_path, monkeypatch):
    """Whatever the path is written as; until it is released, or another one is taken."""
    monkeypatch.chdir(tmp_path)
    first, second = TimingFile(), TimingFile()
    first.claim('a.npz')
    first.claim('a.npz')                        # configured again
    with pytest.raises(ParameterError, match='timing_file .*another controller.*of its own'):
        second.claim(str(tmp_path / 'b' / '..' / 'a.npz'))
    second.claim('b.npz')
    first.claim('')
    second.claim('a.npz')
    first.claim('b.npz')
    for file in (first, second):
        file.release()


@pytest.mark.parametrize('change', [{'spin': 0.001}, {'spin': 0.0002, 'rate': 5000.0}])
def test_a_spin_of_a_whole_period_is_refused(change):
    values = {p.name: p.default for p in TABLE}
    assert LoopSettings.of(values) == LoopSettings()    # nothing, if nobody asks
    with pytest.raises(ParameterError, match='a part of the period'):
        LoopSettings.of(values | change)
    LoopSettings.of(values | change | {'trigger': 'state'})     # nothing spins
