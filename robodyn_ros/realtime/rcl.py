# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
A control loop in one compiled function: state bytes in, one cycle, effort bytes out, no Python.

It calls librcl's public C API (rcl/subscription.h, rcl/publisher.h), so while it runs nothing that
other Python threads do can hold it up. Nothing in it allocates, logs or takes a lock of ours. What
it relies on is tried by :func:`probe` before it is trusted; without this file, or where the trial
fails, the same cycle runs on a wait set in Python and gives the same efforts.
"""

import ctypes
import math
import sys
import time
import weakref
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache
from types import ModuleType
from typing import Any

import llvmlite.binding
import numba
import numpy as np
from numba import carray, types
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic

from ..dynamics.numba_types import pointer
from ..errors import DataPathError
from ..jit import jitable, load
from ..wire import cdr, decode_status, decoders
from ..wire.decode_status import ACCEPTED
from ..wire.joint_state import STATE
from . import loop_counters, serialized_bytes, statistics, timing_rules
from .loop_counters import COUNTS, Tally
from .serialized_bytes import TAKE_FAILED, SerializedBytes, no_bytes, rcutils, release

SYMBOLS = {
    'librcl.so': ('rcl_take_serialized_message', 'rcl_publish_serialized_message',
                  'rcl_publisher_get_subscription_count',
                  'rcl_subscription_set_on_new_message_callback'),
    'librcutils.so': ('rcutils_reset_error', 'rcutils_get_default_allocator'),
    None: ('clock_gettime', 'clock_nanosleep', 'sem_clockwait', 'sem_post',
           'sem_trywait', 'sem_wait'),
}
OK = 0                                          # rcl/types.h
REALTIME, MONOTONIC, ABSOLUTE, EINTR = map(np.int32, (0, 1, 1, 4))      # linux/time.h, errno.h
NS_PER_S = 1_000_000_000
TRIAL = 5.0                 # s that the trial waits for a message, at most

# What the loop answers: it was called back, or which call has failed.
CALLED, TAKING, PUBLISHING, COUNTING, SLEEPING = range(5)
CALLS = {TAKING: 'rcl_take_serialized_message', PUBLISHING: 'rcl_publish_serialized_message',
         COUNTING: 'rcl_publisher_get_subscription_count', SLEEPING: 'clock_nanosleep'}

LOOPS = {'timer': 'on_grid', 'state': 'on_state', 'inline': 'inline'}       # by their trigger

# One record, the loop's own but for `call`: addresses, what it shall do, and where it is.
WORDS = np.dtype([
    ('call', np.int64),                         # 1: return at the next waking
    ('states', np.int64), ('commands', np.int64), ('clock', np.int64),      # rcl handles, or 0
    ('message', np.int64), ('tick', np.int64), ('effort', np.int64),   # serialized messages
    ('frame', np.int64),
    ('info', np.int64), ('timespec', np.int64), ('listeners', np.int64),
    ('semaphore', np.int64), ('turn', np.int64),        # posted: a message is there; may be taken
    ('most', np.int64),                         # messages that one drain may take
    ('period', np.int64), ('spin', np.int64),   # ns; see `Grid`
    ('on_state', np.int64),                     # 1: the stamp of a state is its time of receipt
    ('fault', np.int64),                        # number of the phase that waits no longer
    ('waited', np.int64), ('points_missed', np.int64),  # 1: woken, and the cycle is to come
    ('deadline', np.int64), ('stepped', np.int64),              # ns on the steady clock
    ('asked', np.int64),                        # likewise, latest instant to be woken at
    ('moving', np.int64),                       # likewise, see `rules.moving`
    ('published', np.int64),                    # ns, the state that is not answered yet; or 0
    ('clock_time', float), ('noticed', float),  # s on ROS time; on the clock of the cycle
    ('count_again', float),                     # s on the steady clock
    ('failed', np.int64), ('error', np.int64),  # the call that failed, and what it returned
])
# rmw_message_info_t has 64 to 72 bytes: its words of these numbers are the source_timestamp [ns]
# and the publication_sequence_number
INFO_WORDS, INFO_EXPECTED, PUBLISHED, SEQUENCE = 32, 9, 0, 2
NO_SEQUENCE = np.uint64(2**64 - 1)
SEMAPHORE_WORDS = 8                 # sem_t has 32 bytes
FRAME_WORDS = 4096                  # where the arguments of the loop are laid for others
POSITION, RECEIVED, NUMBER = (list(STATE.names or ()).index(name)
                              for name in ('position', 'received', 'sequence'))

word, i32 = types.int64, types.int32


def _external(name: str, *kinds: Any, result: Any = i32) -> Any:
    """Return a C function as compiled code calls it; the linker finds it by its name."""
    return types.ExternalFunction(name, result(*kinds))


rcl_take = _external('rcl_take_serialized_message', word, word, word, word)
rcl_publish = _external('rcl_publish_serialized_message', word, word, word)
rcl_count = _external('rcl_publisher_get_subscription_count', word, word)
rcl_forget_error = _external('rcutils_reset_error', result=types.void)
clock_gettime = _external('clock_gettime', i32, word)
clock_nanosleep = _external('clock_nanosleep', i32, i32, word, word)
sem_clockwait = _external('sem_clockwait', word, i32, word)
sem_trywait = _external('sem_trywait', word)
sem_post = _external('sem_post', word)
sem_wait = _external('sem_wait', word)

LOOP = '''
from numba import cfunc, njit, types
from numba.extending import register_jitable

from {cycle} import cycle
from {decoder} import joint_state
from robodyn_ros.jit import OPTIONS
from robodyn_ros.realtime import rcl

ARGUMENTS = cycle.nopython_signatures[0].args
DECODING = joint_state.nopython_signatures[0].args[4:]
SIGNATURE = types.int64(*rcl.OWN, *DECODING, *ARGUMENTS[:-2], ARGUMENTS[-1])


@register_jitable
def advance(arguments, now, tau):
    return cycle(*arguments, now, tau)


@register_jitable
def decoded(b, received, sequence, arrays):
    return joint_state(b, b.shape[0], received, sequence, *arrays)


@njit(SIGNATURE, cache=True, **OPTIONS)
def {name}(words, counts, timing, count, seen, pose, message, tick, info, timespec, listeners,
           numbers, {decoding},
           {arguments}, tau):
{lay}    return rcl.{name}(advance, decoded, words[0], (counts[0], timing, count, seen, pose),
                      (message, tick, info, timespec, listeners, numbers), ({decoding},),
                      ({arguments},), tau)
'''

# Added for the loop `inline`: it lays down what it was given, and a thread of the middleware finds
# it there.
LAY = '''    rcl.lay(words[0].frame, (
        words, counts, timing, count, seen, pose, message, tick, info, timespec, listeners,
        numbers, {decoding}, {arguments}, tau))
'''
INLINE = '''

frame_of = rcl.loader(types.Tuple(SIGNATURE.args))


@cfunc(types.void(types.int64, types.int64), cache=True)
def on_message(address, number):
    w = rcl.words_at(address)
    if not rcl.taken_turn(w):
        return
    (words, counts, timing, count, seen, pose, message, tick, info, timespec, listeners,
     numbers, {decoding}, {arguments}, tau) = frame_of(w.frame)
    rcl.inlined(advance, decoded, w, (counts[0], timing, count, seen, pose),
                (message, tick, info, timespec, listeners, numbers), ({decoding},),
                ({arguments},), tau)
'''

# Its address is given to the middleware, which calls it in a thread of its own.
PARTS = '''
from numba import cfunc, njit, types

from robodyn_ros.jit import OPTIONS
from robodyn_ros.realtime import rcl


@cfunc(types.void(types.int64, types.int64), cache=True)
def on_message(semaphore, number):
    rcl.sem_post(semaphore)


@njit(types.int64(rcl.OWN[0], rcl.OWN[6], *rcl.OWN[8:10]), cache=True, **OPTIONS)
def trial(words, message, info, timespec):
    return rcl.trial(words[0], message, info, timespec)
'''


# The loop itself: plain functions that are compiled together

def nanoseconds(w, timespec, clock=MONOTONIC):
    """Time [ns], steady if nothing else is said."""
    clock_gettime(clock, w.timespec)
    return timespec[0] * NS_PER_S + timespec[1]


def seconds(w, timespec):
    """Steady time [s], as ``time.monotonic``."""
    return nanoseconds(w, timespec) * 1e-9


def sleep_until(w, timespec, deadline):
    """Sleep until a steady time [ns]; return 0, or what has kept it from sleeping."""
    asleep = deadline - w.spin
    code = EINTR
    while code == EINTR:
        timespec[0], timespec[1] = asleep // NS_PER_S, asleep % NS_PER_S
        code = clock_nanosleep(MONOTONIC, ABSOLUTE, w.timespec, 0)
    while w.spin != 0 and nanoseconds(w, timespec) < deadline:
        pass
    return code


def wait_until(w, timespec, deadline):
    """Sleep until a message comes (True) or until a steady time [ns]."""
    while True:
        timespec[0], timespec[1] = deadline // NS_PER_S, deadline % NS_PER_S
        if sem_clockwait(w.semaphore, MONOTONIC, w.timespec) == 0:
            while sem_trywait(w.semaphore) == 0:
                pass
            return True
        if nanoseconds(w, timespec) >= deadline:
            return False


def taken(w, address, message, handle, info):
    """Take a message: whether there was one. The middleware may have moved its bytes."""
    code = rcl_take(handle, address, info, 0)
    if code == OK and message[0] != 0 and 0 <= message[1] <= message[2]:
        return True
    if code != TAKE_FAILED:
        rcl_forget_error()
        w.failed, w.error = TAKING, code
    return False


def content(message):
    """Return the bytes of the message that was taken last; good until the next take."""
    return carray(pointer(message[0]), (message[1],), np.uint8)     # type: ignore[call-arg]


def begin_of(message):
    """Return the time [s] a message begins with, NaN where it is too short."""
    b = content(message)
    return decoders.time_of(b) if b.shape[0] >= decoders.FRAME_ID else math.nan


def clock(w, tick, timespec):
    """Time on the clock of the cycle [s]: steady, or the newest of /clock."""
    if w.clock == 0:
        return seconds(w, timespec)
    if taken(w, w.tick, tick, w.clock, 0):
        w.clock_time = begin_of(tick)
    return w.clock_time


def number_of(info):
    """Return the number that a message's publisher counts by, NaN where there is none."""
    return math.nan if info[SEQUENCE] == NO_SEQUENCE else float(info[SEQUENCE])


def drain(decoded, w, books, io, arrays):
    """
    Decode every state that waits; whether one was accepted.

    A state that has waited while the process stood still is old and counts as received now: who
    stamps it cannot know. The stall itself is what the guard latches, in the cycle that follows.
    """
    message, tick, info, timespec, _, _ = io
    counts, _, _, seen, _ = books
    accepted = False
    for _ in range(w.most):
        if not taken(w, w.message, message, w.states, w.info):
            break
        if w.clock != 0 and w.on_state == 1:
            received = begin_of(message)
        else:
            received = clock(w, tick, timespec)
        b = content(message)
        code = decoded(b, received, number_of(info), arrays)
        counts.samples[code] += 1
        if code == ACCEPTED:
            counts.lost += timing_rules.lost_since(arrays[8][:, NUMBER], seen)
            w.published = np.int64(info[PUBLISHED])
            accepted = True
    return accepted


def step(advance, w, books, io, arrays, arguments, begun, now, tau):
    """Run the cycle, which began at ``begun`` [ns], and publish what it says."""
    counts, pose = books[0], books[4]
    _, _, _, timespec, listeners, numbers = io
    settings, outside, memory = arguments[3][0], arguments[4][0], arguments[7][0]
    w.moving, outside.clock_stopped = timing_rules.moving(
        arrays[8][:, POSITION], pose, now == memory.time, w.moving, outside.clock_stopped, begun)
    steady = seconds(w, timespec)
    if steady >= w.count_again:
        w.count_again = steady + timing_rules.COUNT_INTERVAL
        code = rcl_count(w.commands, w.listeners)
        if code != OK:
            rcl_forget_error()
            w.failed, w.error = COUNTING, code
        outside.listeners = listeners[0]
    publish = advance(arguments, now, tau)
    outside.stalled = 0.0
    before = nanoseconds(w, timespec)
    if publish and not timing_rules.outdated(memory.publishing == 1, begun, before,
                                      settings.state_timeout):
        for i in range(tau.shape[0]):
            numbers[i] = tau[i]
        code = rcl_publish(w.commands, w.effort, 0)
        if code != OK:
            rcl_forget_error()
            w.failed, w.error = PUBLISHING, code
        if nanoseconds(w, timespec) - before > w.period:
            counts.slow_publishes += 1
    outside.stalled = timing_rules.stall(outside.stalled, begun, nanoseconds(w, timespec))


def note(w, books, timespec, arrays, woke, late, now):
    """Take down how the cycle that ends now has kept its time."""
    _, timing, count, _, _ = books
    cycle = timing[count[0] % timing.shape[0]]
    cycle.woke, cycle.wake_up = woke * 1e-9, late
    cycle.cycle = (nanoseconds(w, timespec) - woke) * 1e-9
    cycle.age = now - timing_rules.oldest(arrays[8][:, RECEIVED])
    cycle.answer = math.nan
    if w.published != 0:
        cycle.answer = (nanoseconds(w, timespec, REALTIME) - w.published) * 1e-9
        w.published = 0
    count[0] += 1


def on_grid(advance, decoded, w, books, io, arrays, arguments, tau):
    """Run a cycle at each point of the grid until something fails or the loop is called."""
    _, tick, _, timespec, _, _ = io
    counts, outside = books[0], arguments[4][0]
    while True:
        if w.waited == 0:
            w.asked = w.deadline + w.period         # whichever points are missed from there on
            w.deadline, w.points_missed = timing_rules.next_point(
                w.deadline, w.period, nanoseconds(w, timespec))
            code = sleep_until(w, timespec, w.deadline)
            if code != OK:
                w.failed, w.error = SLEEPING, code
                return w.failed
            w.waited = 1
        woke = nanoseconds(w, timespec)
        if w.call == 1:
            return CALLED
        w.waited = 0
        counts.missed += w.points_missed
        if w.points_missed != 0:
            counts.overruns += 1
        outside.missed = w.points_missed
        outside.stalled = timing_rules.stall(outside.stalled, w.asked, woke)
        drain(decoded, w, books, io, arrays)
        now = clock(w, tick, timespec)
        if w.failed == 0:
            step(advance, w, books, io, arrays, arguments, woke, now, tau)
        if w.failed != 0:
            return w.failed
        note(w, books, timespec, arrays, woke, (woke - w.deadline) * 1e-9, now)


def silence(w, settings, memory):
    """How long without an accepted state it is that something has to be done [ns]."""
    return np.int64(1e9 * timing_rules.silence(memory.phase == w.fault, w.clock != 0,
                                               1e-9 * w.period, settings.state_timeout))


def answer(advance, decoded, w, books, io, arrays, arguments, tau, inlined):
    """Run a cycle for what has come in, or for what has stayed away too long."""
    _, tick, _, timespec, _, _ = io
    settings, outside, memory = arguments[3][0], arguments[4][0], arguments[7][0]
    stamp, woke = arrays[9], nanoseconds(w, timespec)
    overdue, begun = w.stepped + silence(w, settings, memory), woke
    w.asked = max(w.asked, overdue)
    outside.stalled = timing_rules.stall(outside.stalled, w.asked, woke)
    accepted = drain(decoded, w, books, io, arrays)
    silent = woke >= overdue
    if accepted and w.clock != 0:
        now = stamp[0]
    else:
        now = clock(w, tick, timespec)
    due = False
    if silent and not accepted:
        if inlined and w.clock != 0:
            sem_post(w.semaphore)       # for who may wait
            return
        due = timing_rules.goes_on(now, w.noticed, memory.time, settings.state_timeout)
        w.noticed = now
    if due and w.clock != 0:
        w.asked = begun = nanoseconds(w, timespec) + timing_rules.GRACE
        if wait_until(w, timespec, w.asked):
            w.waited = 1                # in lockstep a state follows its clock at once
            return
    if w.failed == 0 and (accepted or due):
        step(advance, w, books, io, arrays, arguments, begun, now, tau)
        if w.failed == 0:
            note(w, books, timespec, arrays, woke, math.nan, now)
    if accepted or silent:
        w.stepped = nanoseconds(w, timespec)


def on_state(advance, decoded, w, books, io, arrays, arguments, tau):
    """Run a cycle for each state, and when they stay away, until it fails or is called."""
    timespec, settings, memory = io[3], arguments[3][0], arguments[7][0]
    while True:
        if w.waited == 0:
            wait_until(w, timespec, w.stepped + silence(w, settings, memory))
            w.waited = 1
        if w.call == 1:
            return CALLED
        w.waited = 0
        answer(advance, decoded, w, books, io, arrays, arguments, tau, False)
        if w.failed != 0:
            return w.failed


def inline(advance, decoded, w, books, io, arrays, arguments, tau):
    """
    Wait for what no message starts, until something fails or the loop is called.

    Two threads run one controller by turns: this one, and the middleware's in :func:`inlined`.
    """
    timespec, settings, memory = io[3], arguments[3][0], arguments[7][0]
    while True:
        sem_post(w.turn)
        if w.waited == 0:
            wait_until(w, timespec, w.stepped + silence(w, settings, memory))
        while sem_wait(w.turn) != 0:    # a signal
            pass
        w.waited = w.call
        if w.failed != 0:
            return w.failed
        if w.call == 1:
            return CALLED
        answer(advance, decoded, w, books, io, arrays, arguments, tau, False)


def words_at(address):
    """Return the words of the loop; all else it has may be gone while nobody has the turn."""
    return carray(pointer(address), (1,), WORDS)[0]     # type: ignore[call-arg]


def taken_turn(w):
    """Take the turn, without waiting for it, or leave the message to :func:`inline`."""
    if sem_trywait(w.turn) == 0:
        return True
    sem_post(w.semaphore)
    return False


def inlined(advance, decoded, w, books, io, arrays, arguments, tau):
    """Answer a message in the thread that has brought it, which has the turn; pass it on."""
    if w.call == 0 and w.failed == 0:
        answer(advance, decoded, w, books, io, arrays, arguments, tau, True)
    if w.call == 1 or w.failed != 0:
        sem_post(w.semaphore)
    sem_post(w.turn)


def trial(w, message, info, timespec):
    """Wait for a message, take it, and return its number: what the loop relies on; or -1."""
    wait_until(w, timespec, w.deadline)
    if not taken(w, w.message, message, w.states, w.info) or rcl_publish(w.commands, w.effort, 0):
        return -1
    return np.int64(number_of(info))


def _lay(typing, address, values):
    """Lay a tuple at an address; its arrays stay those of the caller."""
    def build(context, builder, signature, args):
        kind = context.get_value_type(signature.args[1])
        assert context.get_abi_sizeof(kind) <= 8 * FRAME_WORDS
        builder.store(args[1], builder.inttoptr(args[0], kind.as_pointer()))
        return context.get_dummy_value()
    return types.void(types.int64, values), build


def loader(kind: Any) -> Any:
    """Return a compiled function that gives back the tuple of this type at an address."""
    def load_tuple(typing, address):
        def build(context, builder, signature, args):
            place = builder.inttoptr(args[0], context.get_value_type(kind).as_pointer())
            return impl_ret_borrowed(context, builder, kind, builder.load(place))
        return kind(types.int64), build
    return intrinsic(load_tuple)


lay: Any = intrinsic(_lay)


# What Python sees of it

OWN = tuple(numba.typeof(array) for array in (
    np.zeros(1, WORDS), np.zeros(1, COUNTS), statistics.no_cycles(1), np.zeros(1, np.int64),
    np.zeros(1), np.zeros(1), np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(1, np.uint64),
    np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(12, np.uint8)[4:].view('<f8')))


def check_symbols() -> None:
    """Raise :class:`DataPathError` where a function that the loop calls is missing."""
    for library, names in SYMBOLS.items():
        try:
            loaded = ctypes.CDLL(library)
        except OSError as error:
            raise _unavailable(f'{library} cannot be loaded ({error})') from error
        for name in names:
            if not hasattr(loaded, name):
                raise _unavailable(f'{library or "libc"} has no {name}')
        if library:
            llvmlite.binding.load_library_permanently(library)


@cache
def _compiled(text: str) -> ModuleType:
    """Return a text as machine code; :func:`check_symbols` comes first, or the linker aborts."""
    this = sys.modules[__name__]
    jitable(cdr, inline=True)
    return load('rcl', text, (loop_counters, statistics, serialized_bytes, cdr, decode_status,
                              jitable(decoders), jitable(timing_rules), jitable(this)))


def compiled_loop(trigger: str, cycle: Any, decode: Any) -> ModuleType:
    """
    Return the module whose function ``LOOPS[trigger]`` is the loop, compiled once on a machine.

    :raises DataPathError: a function that the loop calls is missing.
    """
    check_symbols()
    text = LOOP.replace('{lay}', LAY) + INLINE if trigger == 'inline' else LOOP
    decoding, arguments = (len(f.nopython_signatures[0].args) for f in (decode, cycle))
    return _compiled(text.format(
        name=LOOPS[trigger], cycle=cycle.__module__, decoder=decode.__module__, lay='',
        decoding=', '.join(f'd{i}' for i in range(decoding - 4)),
        arguments=', '.join(f'a{i}' for i in range(arguments - 2))))


class _Area:
    """What the compiled functions work in, at addresses that stay."""

    def __init__(self, states: Any, commands: Any, effort: np.ndarray):
        self.words, words = np.zeros(1, WORDS), np.zeros((2, 16), np.int64)
        self.message, self.tick = words
        for place in words:
            bytes_in = SerializedBytes.from_buffer(place.data)
            ctypes.pointer(bytes_in)[0] = no_bytes()
            rcutils.rcutils_uint8_array_resize(ctypes.byref(bytes_in), ctypes.c_size_t(4096))
            weakref.finalize(self, release, bytes_in)
        self.info = np.zeros(INFO_WORDS, np.uint64)
        self.timespec, self.listeners = np.zeros(2, np.int64), np.zeros(1, np.int64)
        self.frame = np.zeros(FRAME_WORDS, np.int64)
        self.semaphore, self.turn = np.zeros((2, SEMAPHORE_WORDS), np.int64)
        for semaphore in self.semaphore, self.turn:
            _libc.sem_init(semaphore.ctypes.data, 0, 0)
        self._effort, self._own = effort, no_bytes()
        self._own.buffer, self._own.length, self._own.capacity = (
            effort.ctypes.data, len(effort), len(effort))
        self._states = states
        for field, address in {
                'states': states.pointer, 'commands': commands.pointer,
                'message': self.message.ctypes.data, 'tick': self.tick.ctypes.data,
                'effort': ctypes.addressof(self._own), 'info': self.info.ctypes.data,
                'timespec': self.timespec.ctypes.data, 'listeners': self.listeners.ctypes.data,
                'semaphore': self.semaphore.ctypes.data, 'turn': self.turn.ctypes.data,
                'frame': self.frame.ctypes.data}.items():
            self.words[field] = address

    def post(self) -> None:
        """End the wait under way, or the next one."""
        _libc.sem_post(self.semaphore.ctypes.data)

    def be_called(self, function: int | None, argument: np.ndarray) -> None:
        """Let the middleware call a compiled function for each state, or None no more."""
        rcl = ctypes.CDLL('librcl.so')
        rcl.rcl_subscription_set_on_new_message_callback.argtypes = 3 * (ctypes.c_void_p,)
        code = rcl.rcl_subscription_set_on_new_message_callback(
            self._states.pointer, function, argument.ctypes.data)
        if code != OK:
            rcutils.rcutils_reset_error()
            raise _unavailable(f'rcl_subscription_set_on_new_message_callback returned {code}')


_libc = ctypes.CDLL(None)
_libc.sem_init.argtypes = (ctypes.c_void_p, ctypes.c_int, ctypes.c_uint)
_libc.sem_post.argtypes = (ctypes.c_void_p,)


def probe(states: Any, commands: Any, send: Callable[[bytes], None],
          drain: Callable[[], list[Any]]) -> None:
    """
    Try with a topic of its own what the loop relies on.

    :param states, commands: rclpy's handles of a subscription and a publisher of one topic, whose
        other ends are ``send`` and ``drain`` (a list of samples).
    :raises DataPathError: something is missing, or is not what this file takes it for.
    """
    check_symbols()
    back = np.frombuffer(b'\0\1\0\0' + bytes(range(60)), np.uint8)
    area = _Area(states, commands, back)
    w, canary = area.words[0], np.uint64(0xA5A5A5A5A5A5A5A5)
    with states, commands:
        area.be_called(_compiled(PARTS).on_message.address, area.semaphore)
        try:
            expected = 0.0
            for size in (64, 100_000):          # the second one makes the middleware reallocate
                sent = b'\0\1\0\0' + bytes(range(1, 61)) + bytes(size - 64)
                area.info[:] = canary
                allocator = area.message[3:].copy()
                send(sent)
                w['deadline'] = time.monotonic_ns() + round(TRIAL * NS_PER_S)
                number = _compiled(PARTS).trial(area.words, area.message, area.info, area.timespec)
                if number < 0:
                    raise _unavailable(f'no message came back (rcl error {w["error"]})')
                got = ctypes.string_at(int(area.message[0]), int(area.message[1]))
                if got != sent or area.message[2] < size:
                    raise _unavailable('a message came back as another one')
                if ((area.info[INFO_EXPECTED:] != canary).any()
                        or (area.message[3:] != allocator).any()):
                    raise _unavailable('librcl writes where it is not expected to')
                if abs(time.time_ns() - int(area.info[PUBLISHED])) > 2 * TRIAL * NS_PER_S:
                    raise _unavailable('it does not read when messages were published')
                answers, end = drain(), time.monotonic() + TRIAL
                while len(answers) < 1 and time.monotonic() < end:
                    time.sleep(0.001)
                    answers += drain()
                if [answer.message for answer in answers] != [back.tobytes()]:
                    raise _unavailable('what it publishes is not heard as it was sent')
                if not expected < number == answers[0].number - 1:
                    raise _unavailable('it does not read the numbers of messages')
                expected = answers[0].number
        finally:
            area.be_called(None, area.semaphore)


class NativeLoop:
    """
    The compiled loop of one controller, for one thread.

    :param trigger: timer, state, or inline: each state is answered in the thread of the
        middleware that has brought it.
    :param cycle: a compiled control cycle, see :func:`robodyn_ros.control.cycle.cycle`.
    :param arguments: gives what it takes before time and efforts.
    :param arrays, decode: the decoder's, see :class:`~robodyn_ros.wire.joint_state`.
    :param message, numbers: the effort message, and its numbers.
    :param states, commands, clock: rclpy's handles; ``clock`` None: time is the steady clock.
    :param tally: where it counts.
    :param most: messages that a drain may take.
    :param spin: how long before each point of the grid the clock is watched [s].
    :param fault: number of the phase in which silence is not waited for.
    """

    def __init__(self, trigger: str, cycle: Any, arguments: Callable[[], tuple[Any, ...]],
                 tau: np.ndarray, decode: Any, arrays: tuple[np.ndarray, ...], message: np.ndarray,
                 numbers: np.ndarray, states: Any, commands: Any, clock: Any | None,
                 tally: Tally, *, most: int, rate: float, spin: float, fault: int):
        module = compiled_loop(trigger, cycle, decode)
        self._loop = getattr(module, LOOPS[trigger])
        effort, out = aligned_copy(message, numbers)
        self._area = area = _Area(states, commands, effort)
        area.words['clock'] = clock.pointer if clock else 0
        for field, value in {'most': most, 'period': round(1e9 / rate), 'spin': round(1e9 * spin),
                             'on_state': trigger != 'timer', 'fault': fault}.items():
            area.words[field] = value
        self._arguments, self._tau = arguments, tau
        self._callback: tuple[int, np.ndarray] | None = {
            'timer': lambda: None,
            'state': lambda: (_compiled(PARTS).on_message.address, area.semaphore),
            'inline': lambda: (module.on_message.address, area.words)}[trigger]()
        self._handles = [handle for handle in (states, commands, clock) if handle]
        self._fixed = (area.words, tally.counts, tally.timing.ring, tally.timing.count,
                       tally.seen, tally.pose, area.message, area.tick, area.info, area.timespec,
                       area.listeners, out, *arrays)

    def call(self) -> None:
        """Make the loop come back at its next waking, to see what has changed; any thread may."""
        self._area.words['call'] = 1
        self._area.post()

    def run(self, over: Callable[[], bool]) -> None:
        """
        Go on until it is over.

        :raises DataPathError: a call has failed.
        """
        w = self._area.words
        with ExitStack() as held:
            for handle in self._handles:            # which nobody destroys while they are held
                held.enter_context(handle)
            w['waited'] = w['failed'] = w['count_again'] = w['published'] = w['moving'] = 0
            w['deadline'] = w['stepped'] = w['asked'] = time.monotonic_ns()
            if self._callback is not None:
                self._area.be_called(*self._callback)
                held.callback(self._area.be_called, None, self._area.semaphore)
            while True:
                w['call'] = 0                       # before looking at what it was called for
                if over():
                    return
                failed = self._loop(*self._fixed, *self._arguments(), self._tau)
                if failed != CALLED:
                    raise DataPathError(
                        f'{CALLS[failed]} returned {w["error"][0]}', name=CALLS[failed],
                        value=int(w['error'][0]), remedy='zero is the last message')


def aligned_copy(message: np.ndarray, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a copy of a CDR message whose numbers are aligned in memory, and a view of these."""
    begin = numbers.ctypes.data - message.ctypes.data
    copy = np.zeros(len(message) + 8, np.uint8)[-begin % 8:][:len(message)]
    copy[:] = message
    return copy, copy[begin:begin + numbers.nbytes].view('<f8')


def _unavailable(problem: str) -> DataPathError:
    return DataPathError(problem, name='data_path', remedy='the python data path does the same')
