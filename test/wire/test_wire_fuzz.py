# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A short run of `make fuzz ARGS=wire`, and whether campaign and judge are awake."""

from collections import Counter
import ctypes
import faulthandler
import inspect
import os
import resource
import signal
import sys
import time
from types import ModuleType

from fuzz import campaign
from fuzz.judge import Canary, FAILED, VALID, Verdict
from fuzz.wire import judge as judging
from fuzz.wire.buffers import joint_state_arrays, Letterbox, Strict
from fuzz.wire.judge import Judge
from fuzz.wire.streams import EFFORTS, join, JOINT_STATES, KINDS, made, split, TRAJECTORIES
import numba
import numpy as np
import pytest
from robodyn_ros.compiler.jit import jitable, OPTIONS
from robodyn_ros.state import STATE
from robodyn_ros.wire import cdr, decoders, joint_trajectory
from robodyn_ros.wire.codecs import JointStateEncoder
from robodyn_ros.wire.compile import compiled_decoders

pytestmark = [pytest.mark.slow, pytest.mark.skipif(
    sys.platform != 'linux', reason='the judge asks Linux')]

TRAJECTORY = next(k for k, kind in enumerate(KINDS) if kind.what == TRAJECTORIES)
STREAMS = 1000          # that are judged in this process, of sound decoders and of altered ones
CARELESS = 1700         # number of the stream that is given to a decoder that reads past its end
# A line of the decoders, and how it would be wrong. What reads past the end comes first.
WRONG = [
    ('if begin + 4 > length:', 'if begin > length:'),
    ('if size < 0 or size > length - begin:', 'if size < 0 or size > length - begin + 1:'),
    ('if size > (length - begin) // 8:', 'if size > (length - begin) // 8 + 1:'),
    ('if length < BODY_OFFSET or', 'if'),
    ('if length < STAMP_END:', 'if length < 0:'),
    ('if end == 0 or end > length or', 'if end == 0 or'),
    ('or end > known.shape[0]:', ':'),
    ('if positions < 0 or velocities < 0 or efforts < 0:', 'if positions < 0 or velocities < 0:'),
    # The others answer differently from rclpy.
    ('return length - np.int64(b[3] & 3)', 'return np.int64(length)'),
    ('if b[last] != 0:', 'if False:'),
    ('if b[i] == 0:', 'if False:'),
    ('begin = aligned(after, 8)', 'begin = aligned(after, 4)'),
    ('if size <= 0: ', 'if size < 0: '),
    ('        layout[NAMES_END] = 0           # not known until accepted', '        pass'),
    ('(b[i] ^ known[i]) & mask[i]', '(b[i] ^ known[i]) & mask[i] & 254'),
    ('for i in range(STAMP_END, end):     # no early', 'for i in range(STAMP_END, end - 1):  #'),
    ('layout[REPEATED] = 1', 'pass'),
    ('(velocities != 0 and velocities != number)', 'False'),
    ('math.isinf(scratch[joint, 1])', 'False'),
    ('if seconds >= 1 << 31:', 'if False:'),
    ('if state[joint, SEQUENCE] >= sequence:', 'if state[joint, SEQUENCE] > sequence:'),
    ('if number != n:', 'if number < n:'),
    ('if layout[OUR_COUNT] == 0:', 'if False:'),
    ('if layout[REPEATED]:', 'if False:'),
    ('if (positions != number or', 'if (positions < number or'),
    ('(efforts != 0 and efforts != number)', 'False'),
    ('not math.isfinite(scratch[joint, 0])', 'math.isinf(scratch[joint, 0])'),
    ('math.isinf(scratch[joint, 2])', 'False'),
    ('not math.isfinite(scratch[i])', 'math.isnan(scratch[i])'),
]


# The same of the reader of trajectories; see also test_joint_state.py
WRONG_TRAJECTORY = [
    ('if self._end < BODY_OFFSET + 8:', 'if False:'),
    ('        if nanosec >= NS_PER_S:', '        if False:'),
    ('other |= column(offset', '0 * column(offset'),
    ('if whole < self.waypoints - 1 or other.any():', 'if other.any():'),
    ('if (nanosec >= NS_PER_S).any():', 'if False:'),
    ('if size not in (0, len(self.joint_names)):', 'if False:'),
    ('if rest or size and not nul:', 'if rest:'),
    ('if rest or size and not nul:', 'if size and not nul:'),
    ('int(sec) * NS_PER_S + int(nanosec)', 'int(sec) * NS_PER_S'),
    ('return sec + 1e-9 * nanosec, numbers', 'return sec, numbers'),
    ("np.frombuffer(self._b, '<f8', size, before)", "np.frombuffer(self._b, '<f8', size, begin)"),
]


def altered(text: str, line: str, instead: str) -> ModuleType:
    """Return a module of `wire` from its text with one line changed, in plain Python."""
    assert text.count(line) == 1, f'{line!r} is there {text.count(line)} times, not once'
    module = ModuleType('altered')
    module.__package__ = decoders.__package__
    exec(compile(text.replace(line, instead), 'altered.py', 'exec'), vars(module))
    return module


def altered_decoders(line: str, instead: str) -> ModuleType:
    return altered(inspect.getsource(cdr) + inspect.getsource(decoders).replace(
        'from .cdr import ', '# '), line, instead)


def test_the_streams_have_all_that_can_be_answered():
    judge, answers = Judge(), Counter()
    for index in range(STREAMS):
        answers.update(judge(made(0, index)))
    assert {code for what, code in answers if what == JOINT_STATES} == {*decoders.REASONS}
    assert {code for what, code in answers if what == EFFORTS} == {
        decoders.ACCEPTED, decoders.MALFORMED, decoders.LENGTHS,
        decoders.NON_FINITE}
    assert all(answers[what, code] > 50 for what in (JOINT_STATES, EFFORTS, TRAJECTORIES)
               for code in (decoders.ACCEPTED, decoders.MALFORMED))


def test_a_stream_is_the_same_for_everybody():
    assert made(3, 14) == made(3, 14) != made(3, 15)
    for index in range(50):
        kind, messages = split(made(0, index))
        assert split(join(kind, messages)) == (kind, messages)


@pytest.mark.parametrize('line, instead', WRONG)
def test_the_judge_tells_of_a_decoder_that_is_wrong(line, instead):
    judge = Judge(plain=altered_decoders(line, instead))
    with pytest.raises((AssertionError, IndexError)):
        for index in range(STREAMS):
            judge(made(0, index))


@pytest.mark.parametrize('line, instead', WRONG_TRAJECTORY)
def test_and_of_a_reader_of_trajectories(line, instead, monkeypatch):
    module = altered(inspect.getsource(joint_trajectory), line, instead)
    monkeypatch.setattr('fuzz.wire.judge.JointTrajectoryMessage', module.JointTrajectoryMessage)
    judge = Judge()
    with pytest.raises((AssertionError, IndexError, ValueError)):
        for index in range(STREAMS):
            if (stream := made(0, index))[0] % len(KINDS) == TRAJECTORY:
                judge(stream)


def careless() -> Judge:
    """Return a judge of machine code that looks for counts behind the message."""
    module = altered_decoders(*WRONG[0])
    sys.modules[module.__name__] = jitable(module)

    class Compiled:
        joint_state = staticmethod(compiled_decoders().joint_state)
        efforts = staticmethod(numba.njit(**OPTIONS)(module.efforts))

    return Judge(compiled=Compiled)


def judged(seed: int, index: int, canary: Canary) -> Verdict:
    """Judge a stream as `make fuzz` does; the last one goes to careless machine code."""
    if index < CARELESS:
        return judging.judged(seed, index, canary)
    kind = next(kind for kind in KINDS if kind.what == EFFORTS)
    careless()(join(kind, [b'\0\1\0\0' + bytes(8)]))
    return Verdict(VALID)


def test_each_message_gets_the_answer_that_rclpy_gives():
    """
    And machine code that reads past a message dies of it.

    Takes 5 s: a process of its own imports all, judges 700 streams, and compiles that code.
    """
    verdicts = dict(campaign.campaign(0, range(STREAMS, CARELESS + 1), jobs=1, judge=judged))
    last = verdicts.pop(CARELESS)
    assert [(i, v.complaint) for i, v in verdicts.items() if v.outcome == FAILED] == []
    assert sorted(verdicts) == list(range(STREAMS, CARELESS))
    assert last.outcome == FAILED and 'exit code -11' in last.complaint


def misbehave(seed: int, index: int, canary: Canary) -> Verdict:
    if index == 0:
        os.write(2, b'chatter')
    if index == 1:
        os.abort()
    if index == 3:
        time.sleep(3600)
    return Verdict(VALID)


def test_a_campaign_names_who_dies_prints_or_hangs_and_goes_on():
    verdicts = dict(campaign.campaign(0, range(4), jobs=1, deadline=2, judge=misbehave))
    assert [verdicts[i].outcome for i in range(4)] == [FAILED, FAILED, VALID, FAILED]
    assert 'chatter' in verdicts[0].complaint and 'has died' in verdicts[1].complaint
    assert 'hangs' in verdicts[3].complaint and 'in misbehave' in verdicts[3].complaint


def read_the_message(letterbox: Letterbox, at: int) -> None:
    assert ctypes.string_at(at, 3) == b'123'


def read_past_it(letterbox: Letterbox, at: int) -> None:
    ctypes.string_at(at, 4)


def keep_its_address(letterbox: Letterbox, at: int) -> None:
    assert letterbox.deliver(b'456').tobytes() == b'456'
    ctypes.string_at(at, 1)


def write_into_it(letterbox: Letterbox, at: int) -> None:
    ctypes.memset(at, 0, 1)


@pytest.mark.parametrize(('deed', 'code'), [
    (read_the_message, 0), (read_past_it, -signal.SIGSEGV), (keep_its_address, -signal.SIGSEGV),
    (write_into_it, -signal.SIGSEGV)])
def test_who_reads_past_a_message_or_keeps_its_address_dies_of_it(deed, code):
    letterbox = Letterbox()
    at = letterbox.deliver(b'123').ctypes.data
    if (child := os.fork()) == 0:
        faulthandler.disable()
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        failed = 1
        try:
            deed(letterbox, at)
            failed = 0
        finally:
            os._exit(failed)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == code


def test_names_are_known_again_whatever_the_padding_and_only_then():
    names = 'a', 'bc', 'Gelenk_ä'
    wire = np.frombuffer(bytearray(JointStateEncoder(names, 'base').encode(
        0, np.ones(3), np.ones(3), np.ones(3))), np.uint8)
    arrays = joint_state_arrays(names, 256)
    assert decoders.joint_state(wire, len(wire), 0.0, 0.0, arrays) == decoders.ACCEPTED
    layout, known, mask = arrays.layout, arrays.known, arrays.mask
    padding = np.flatnonzero(mask[:layout[decoders.NAMES_END]] == 0)[decoders.STAMP_END:]
    # Frame id, three names: 'base' and its NUL take 5 of 8 bytes, 'a' 2 of 4, 'bc' 3 of 4.
    assert padding.tolist() == [21, 22, 23, 34, 35, 43]
    for i in range(decoders.STAMP_END, layout[decoders.NAMES_END]):
        changed = wire.copy()
        changed[i] ^= 1
        same = decoders.names_are_known(changed, len(wire), layout, known, mask)
        assert same == (i in padding)


def test_the_columns_are_the_fields_of_the_record():
    columns = {name.lower(): value for name, value in vars(decoders).items()
               if name in [field.upper() for field in STATE.names]}
    assert columns == {name: k for k, name in enumerate(STATE.names)}


def test_the_strict_array_of_this_test_is_strict():
    strict = Strict(np.zeros((2, 3)))
    assert strict[1, 2] == 0
    for index in (-1, 2, (0, 3), (0, -1)):
        with pytest.raises(AssertionError):
            strict[index]
