# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The grid of a loop and its late points; the trial of what the native loop relies on."""

import json
from pathlib import Path
import signal
import sys
import threading
from time import monotonic_ns

import numpy as np
from processes import until
import pytest
import rclpy
from rclpy.context import Context
from robodyn_ros.errors import ArgumentError, DataPathError
from robodyn_ros.nodes.middleware.raw_subscription import SerializedSubscription
from robodyn_ros.realtime import system_checks
from robodyn_ros.realtime.native import io, probe
from robodyn_ros.realtime.native.loop import aligned_copy
from robodyn_ros.realtime.periodic_timer import (
    CANDIDATE_RATES, Grid, judge, measure, sharpen_timers)
from robodyn_ros.realtime.scheduling import Scheduling
from robodyn_ros.wire.codecs import EffortEncoder
from std_msgs.msg import Float64MultiArray

HOUR = 3_600_000_000_000        # ns; so long that no machine is too slow for these tests


def test_the_grid():
    grid = Grid(100_003)
    start, points = grid.deadline, 0
    for _ in range(300):
        points += 1 + grid.wait()
        assert grid.deadline == start + points * 100_003
        assert monotonic_ns() >= grid.deadline      # it did sleep until there
    grid = Grid(HOUR)
    start = grid.deadline
    assert [grid.advance() for _ in range(3)] == [0, 0, 0]
    assert grid.deadline == start + 3 * HOUR


@pytest.mark.parametrize('late, missed', [(0.5, 0), (1.5, 1), (10.5, 10)])
def test_a_late_loop_counts_what_it_missed_once(late, missed):
    grid = Grid(HOUR)
    start = monotonic_ns() - HOUR - int(late * HOUR)
    grid.start(start)
    # The point one period after the start went by `late` periods ago.
    assert grid.advance() == missed + 1
    assert grid.deadline == start + (missed + 2) * HOUR
    assert 0 < grid.deadline - monotonic_ns() <= HOUR
    assert grid.advance() == 0
    assert grid.deadline == start + (missed + 3) * HOUR


def test_a_signal_does_not_shorten_the_sleep():
    grid, beats = Grid(50_000_000), []
    before = signal.signal(signal.SIGALRM, lambda *_: beats.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    try:
        for _ in range(3):
            grid.wait()
            assert monotonic_ns() >= grid.deadline
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert beats


def test_a_point_that_the_kernel_cannot_wait_for_is_an_error():
    grid = Grid(HOUR)
    grid.start(2**63 * 10**9)
    with pytest.raises(OSError, match='Invalid argument'):
        grid.wait()


@pytest.mark.alone
def test_other_threads_run_while_one_sleeps():
    grid = Grid(HOUR)
    grid.start(monotonic_ns() - HOUR + 200_000_000)     # the next point is a fifth of a second off
    point, counted = grid.deadline + HOUR, []
    sleeper = threading.Thread(target=grid.wait)
    sleeper.start()
    while sleeper.is_alive() and monotonic_ns() < point:
        counted.append(1)
    sleeper.join()
    assert len(counted) > 10        # with the GIL held during the sleep it would be 0 or 1


def test_timers_are_sharpened_for_the_calling_thread_alone():
    slack = []

    def read():
        tid = threading.get_native_id()
        return int(Path(f'/proc/{tid}/timerslack_ns').read_text())

    def sharpen():
        slack.append(read())
        assert sharpen_timers()
        slack.append(read())

    mine = read()
    thread = threading.Thread(target=sharpen)
    thread.start()
    thread.join()
    assert slack == [mine, 1]
    assert read() == mine


@pytest.mark.parametrize(('given', 'what'), [
    ((0,), 'a period'), ((-1,), 'a period'),
    *(((1000, spin), 'a final spin') for spin in (-1, 1000, 2000))])
def test_a_period_is_positive_and_the_final_spin_a_part_of_it(given, what):
    with pytest.raises(ArgumentError, match=f'^{what} of {given[-1]} ns'):
        Grid(*given)


def test_the_final_spin_ends_at_the_point_and_not_before():
    grid = Grid(2_000_000, 1_900_000)
    for _ in range(20):
        grid.wait()
        assert monotonic_ns() >= grid.deadline


def test_latencies_of_wake_ups(monkeypatch, tmp_path):
    monkeypatch.setenv('PATH', str(tmp_path))       # without cyclictest
    late, source = measure(200.0, Scheduling(), 0.1)
    assert source == 'Python' and 1 <= len(late) <= 20 and (late >= 0.0).all()
    # At a rate no machine has, the loop still ends after so many points.
    monkeypatch.setenv('PATH', str(tmp_path))
    assert 1 <= len(measure(1e9, Scheduling(), 1e-4).late) < 100_000    # points of 1 ns


CYCLICTEST = """#!{python}
import json, sys
words = dict(word.lstrip('-').partition('=')[::2] for word in sys.argv[1:])
json.dump(words, open('{folder}/words', 'w'))
if 'denied' not in '{folder}':
    json.dump({{'thread': {{'0': {{'histogram': {{'3': 5, '40': 2}}, 'cycles': 8,
                                 'max': 250000}}}}}}, open(words['json'], 'w'))
sys.exit('denied' in '{folder}')
"""


@pytest.mark.parametrize('name', ['granted', 'denied'])
def test_cyclictest_measures_where_it_may(monkeypatch, tmp_path, name):
    folder = tmp_path / name
    folder.mkdir()
    (folder / 'cyclictest').write_text(CYCLICTEST.format(python=sys.executable, folder=folder))
    (folder / 'cyclictest').chmod(0o755)
    monkeypatch.setenv('PATH', str(folder))
    late, source = measure(4000.0, Scheduling(priority=80, keep_awake=True), 0.01)
    words = json.loads((folder / 'words').read_text())
    assert (words['interval'], words['loops'], words['priority'], words['policy']) == (
        '250', '40', '80', 'fifo')
    assert 'default-system' not in words and 'mlockall' not in words
    if name == 'granted':
        assert source == 'cyclictest' and late == pytest.approx(
            1e-6 * np.array([*5 * [3], *2 * [40], 250000]))
    else:
        assert source == 'Python'
    measure(1000.0, Scheduling(lock_memory=True), 0.01)
    words = json.loads((folder / 'words').read_text())
    assert words['policy'] == 'other' and {'default-system', 'mlockall'} <= set(words)


def test_the_rate_that_a_machine_bears():
    late = np.full(10_000, 20e-6)
    assert judge([late], 4000.0)[:2] == (4000, pytest.approx(20e-6))
    assert judge([late], 4000.0).margin == pytest.approx(230e-6)
    assert judge([late], 1000.0).rate == 1000                   # no faster than it was measured
    late[:20] = 240e-6                                          # two in a thousand
    assert judge([late], 4000.0).rate == 1000
    late[:20] = 260e-6
    assert judge([late], 4000.0).rate == 500
    late = np.full(10_000, 20e-6)
    late[7] = 3.5e-3
    found = judge([np.full(10_000, 1e-6), late], 4000.0)
    assert found.rate == 4000 and found.worst == 3.5e-3 and found.lost == 14
    found = judge([np.full(100, 1.0 / CANDIDATE_RATES[0])], 4000.0)
    assert found.rate == 0 and found.margin == 0.0


def test_every_fact_has_a_value_and_every_blemish_a_remedy():
    facts = system_checks.facts()
    assert len({fact.name for fact in facts}) == len(facts)
    for fact in facts:
        assert fact.value and (fact.advice or fact.grade == system_checks.FINE)
        assert '\n' not in fact.value + fact.advice


@pytest.fixture
def ends():
    """Return a subscription and a publisher that have found each other."""
    context = Context()
    rclpy.init(context=context)
    node = rclpy.create_node('of_the_test', context=context)
    heard = SerializedSubscription(node, Float64MultiArray, 'trial', 10)
    ours = node.create_publisher(Float64MultiArray, 'trial', 10)
    until(lambda: heard.publisher_count() and ours.get_subscription_count())
    yield heard, ours
    node.destroy_node()
    context.shutdown()


def test_passes_again_and_again(ends):
    """Messages go out and come in, small and large, and nothing else is written."""
    heard, ours = ends
    for _ in range(20):
        probe.probe(heard.handle, ours.handle, ours.publish, heard.drain_numbered)


@pytest.mark.parametrize(('what', 'symbols', 'named'), [
    ('a function is missing', {'librcl.so': ('rcl_take_nothing',)}, 'rcl_take_nothing'),
    ('a library is missing', {'libnothing.so': ()}, 'libnothing.so')])
def test_names_what_is_missing(ends, monkeypatch, what, symbols, named):
    """Before the linker looks for it, which would end the process."""
    heard, ours = ends
    monkeypatch.setattr(io, 'SYMBOLS', symbols)
    with pytest.raises(DataPathError, match=named):
        probe.probe(heard.handle, ours.handle, ours.publish, heard.drain_numbered)


@pytest.mark.parametrize(('send', 'drain', 'said'), [
    (lambda message: message, lambda number: number + 1, 'numbers of messages'),
    (lambda message: message + b'\0\0\0\0', lambda number: number, 'as another one'),
    (None, lambda number: number, 'no message came back')])
def test_trusts_nothing_that_differs(ends, monkeypatch, send, drain, said):
    """Other bytes, other numbers or none at all end the trial."""
    heard, ours = ends
    monkeypatch.setattr(probe, 'TRIAL_TIMEOUT', 0.2)
    with pytest.raises(DataPathError, match=said):
        probe.probe(
            heard.handle, ours.handle,
            (lambda message: ours.publish(send(message))) if send else lambda message: None,
            lambda: [sample._replace(number=drain(sample.number))
                     for sample in heard.drain_numbered()])


def test_a_struct_of_another_size_is_seen(ends, monkeypatch):
    """What librcl writes behind the words that are expected is not overlooked."""
    heard, ours = ends
    canary = io.INFO_EXPECTED
    assert 3 <= canary < io.INFO_WORDS
    monkeypatch.setattr(probe, 'INFO_EXPECTED', 3)
    with pytest.raises(DataPathError, match='writes where it is not expected'):
        probe.probe(heard.handle, ours.handle, ours.publish, heard.drain_numbered)


def test_efforts_are_aligned_for_the_processor():
    """The numbers of a message are at the addresses that float64s have."""
    for n in range(1, 9):
        encoder = EffortEncoder(n)
        message, numbers = aligned_copy(encoder.message, encoder.numbers)
        assert numbers.ctypes.data % 8 == 0 and len(numbers) == n
        numbers[:] = np.arange(n)
        assert message.tobytes() == encoder.encode(np.arange(n))
