# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The flight recorder keeps what decided each cycle: computed again, nothing differs by a bit."""

from dataclasses import replace
import threading
import time

from control.rig import POSE, Rig, risen, TWO_LINK
from flight_recorder.flights import eventful, go, replayed, same_bits
import numpy as np
import pytest
from robodyn_ros.control.controller import history
from robodyn_ros.control.cycle import plain_cycle, ring_buffer
from robodyn_ros.control.cycle.cycle import cycle
from robodyn_ros.control.inputs.pose_tracking import HEADER, Points
from robodyn_ros.control.laws.registry import MODES
from robodyn_ros.control.steps import guard
from robodyn_ros.flight_recorder.replay import latched, Replay


def phases(snapshot):
    return {guard.PHASES[p] for p in snapshot.memory['phase']}


def test_the_ring_holds_the_latest_cycles_as_they_were():
    rig = Rig(TWO_LINK, POSE, recorded=40)
    c, seen = rig.controller, []
    c.arm()
    for _ in range(100):
        rig.sense()
        given = [a.copy() for a in (c.state, c.memory[0], c._flight.present, c.tau)]
        now, published = rig.time, rig.tick(sense=False) is not None
        seen.append((*given, now, published))
    s = c.history.take()
    assert len(s.cycles) >= 40
    for k, (state, memory, v, tau, now, published) in enumerate(seen[-len(s.cycles):]):
        assert s.cycles['now'][k] == now and s.cycles['published'][k] == published
        for ours, theirs in ((s.state[k], state), (s.memory[k], memory), (s.vectors[k], v),
                             (s.tau[k], tau)):
            assert ours.tobytes() == theirs.tobytes()
    assert s.memory[-1] == c.memory[0] and (s.tau[-1] == c.tau).all()
    assert np.array_equal(s.vectors[-1], c._flight.present, equal_nan=True)


@pytest.mark.slow
@pytest.mark.parametrize('mode', MODES)
def test_every_law_is_computed_again_bit_by_bit(mode):
    rig = risen(recorded=200, mode=mode)
    if rig.controller.settings.law_in_force.follows:
        go(rig, [0.5, 0.3])
    rig.run(0.1)
    replayed(rig.controller, 190)


@pytest.mark.slow
def test_every_phase_is_computed_again_bit_by_bit():
    """Whatever happens in between: settings, payloads, references, faults, arming, stopping."""
    rig = eventful(3000)
    s = rig.controller.history.take()
    assert phases(s) == set(guard.PHASES)
    assert len(s.versions) == 4 and len(s.points) >= 2
    assert [guard.CODES[s.memory['reason'][k + 1]] for k in latched(s)] == ['STALE_STATE']
    assert same_bits(TWO_LINK, s) == rig.controller.memory['cycles'][0]


def test_other_kernels_and_requests():
    rig = risen(recorded=1000, specialize=True, mode='computed_torque')
    rig.controller.use(rig.controller.settings)
    rig.controller.records.law.gains[0, 0] = np.nan
    rig.run(0.05)
    s = rig.controller.history.take()
    assert s.versions[1].robot.addresses.all()
    k, = latched(s)
    assert guard.CODES[s.memory['reason'][k + 1]] == 'EFFORT_NOT_FINITE'
    assert same_bits(TWO_LINK, s) > 200
    # It comes from another thread, at any time: also between the recording and the taking.
    rig = Rig(TWO_LINK, POSE, recorded=100)
    c = rig.controller

    rig.sense()
    inputs = plain_cycle.fields_readable(c.inputs)
    ring_buffer.before(inputs, 0.0)
    assert inputs.ring.inputs['request'][0] == 0
    c.arm()
    cycle(inputs, 0.0, c.tau)
    ring_buffer.after(inputs, c.tau, False)
    s = c.history.take()
    assert s.memory['arming'].tolist() == [0, 1] and s.inputs['request'][0] != 0


def test_differences_are_found_and_rings_begin_anew():
    rig = risen(recorded=300)
    s = rig.controller.history.take()
    s.tau[150, 1] += 1e-9
    found = Replay(TWO_LINK, s).compare()
    # The next cycles have noted the effort, which decides nothing while the law goes on
    assert (found.first, found.what) == (149, ('tau',))
    assert Replay(TWO_LINK, s).differences(150) == [
        'applied', *(f'momentum_observer.{name}' for name in (
            'external', 'external_impulse', 'sent_impulse', 'sent_rate')),
        'gravity_check.tau_mean']
    assert (found.cycle, found.joint) == (149, 1) and found.largest == pytest.approx(1e-9)
    s.state['position'][100] += 1e-9
    assert 'gravity' in Replay(TWO_LINK, s).differences(100)
    rig = risen(recorded=100, mode='pd')
    for _ in range(3):
        go(rig, [0.3, 0.5])
        rig.run(0.1)
    rig.controller.begin()
    assert len(rig.controller.history.take().cycles) == 0
    rig.run(0.01)
    rig.controller.use(rig.controller.settings)
    rig.run(0.01)
    s = rig.controller.history.take()
    assert len(s.cycles) == 20 == same_bits(TWO_LINK, s)
    off = risen()
    assert len(off.controller.history.take().cycles) == 0
    assert off.controller.history.kept['version'] == {}


def test_what_is_forgotten(monkeypatch):
    rig = risen(recorded=50, mode='pd')
    for k in range(8):
        rig.controller.use(replace(rig.controller.settings, payload_frame='link2',
                                   payload_mass=0.01 * k))
        go(rig, [0.3, 0.5 + 0.001 * k])
        rig.run(0.02)
    s, kept = rig.controller.history.take(), rig.controller.history
    assert sorted(s.versions) == sorted(set(s.cycles['version'])) and max(s.versions) == 9
    assert 2 < len(s.versions) <= len(kept.kept['version']) <= 5
    assert 2 < len(s.points) <= len(kept.kept['serial']) <= 5
    assert same_bits(TWO_LINK, s) == len(s.cycles) >= 50
    rig = risen(recorded=1000, mode='pd')
    monkeypatch.setattr(history, 'MAX_HISTORY_BYTES', 1500)       # a handful of small references
    for k in range(20):
        go(rig, [0.3, 0.5 + 0.001 * k])
        rig.run(0.02)
    s = rig.controller.history.take()
    assert 1 < len(s.points) < 10 and 0 < len(s.cycles) < 200
    assert same_bits(TWO_LINK, s) == len(s.cycles)


def test_memory_is_bounded():
    # 16 MiB of them, however many come; 8 trajectories of 20,000 waypoints took 51 MB once.
    one = 20_000 * 7 * 6 * 8
    known = Rig(TWO_LINK, POSE, recorded=100, mode='pd').controller.history
    for serial in range(1, 9):
        known.add(Points(np.array([(0.0, serial)], HEADER), np.zeros(20_001),
                         np.zeros((20_000, 6, 7)), np.zeros((20_000, 2, 7))))
    assert 8 in known.kept['serial'] and 1 not in known.kept['serial']
    kept = sum(a.nbytes for points in known.kept['serial'].values() for a in points)
    assert one < kept <= 1 << 24
    ring, _, _ = ring_buffer.recorder(7, 10**9)
    assert len(ring.cycles) > 11_000
    assert sum(a.nbytes for a in ring[1:-1]) <= ring_buffer.MAX_RING_BYTES
    ring, _, _ = ring_buffer.recorder(7, 5000)
    assert len(ring.cycles) == 5002
    assert sum(a.nbytes for a in ring[1:-1]) == 5002 * ring_buffer.bytes_a_cycle(7, 0)


@pytest.mark.slow
def test_it_is_read_while_it_is_written():
    """What was overwritten while it was read is left out, on a busy machine all of it."""
    rig = risen(recorded=64)
    over, trouble, read, end = threading.Event(), [], 0, time.monotonic() + 60.0

    def step():
        while not over.is_set():
            rig.sense()
            rig.controller.step(rig.time)
            rig.time += rig.period
    thread = threading.Thread(target=step)
    thread.start()
    try:
        while read < 2:
            s = rig.controller.history.take()
            read += len(s.cycles) > 10
            trouble += [k for k in range(len(s.cycles)) if Replay(TWO_LINK, s).differences(k)]
            assert len(s.cycles) <= 66 and (np.diff(s.memory['cycles']) == 1).all()
            assert time.monotonic() < end
    finally:
        over.set()
        thread.join()
    assert trouble == []
