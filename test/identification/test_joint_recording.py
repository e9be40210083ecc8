# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
from motions import recorded, robot
import numpy as np
import pytest
from robodyn_ros.errors import RecordingError
from robodyn_ros.identification.recordings.recording import Recording

pytestmark = pytest.mark.slow

NAMES = ('a', 'b', 'c')


def messages(count=50, period=0.01):
    """Joints a and b in every message, c in others between them, twice as slow."""
    for k in range(count):
        t = k * period
        yield t, ('a', 'b'), (t, 2 * t), (1.0, 2.0), (5.0, 6.0)
        if k % 2 == 0:
            yield t + period / 3, ('c',), (3 * (t + period / 3),), (3.0,), (7.0,)


def test_messages_of_all_joints_are_the_samples():
    r = Recording.from_messages([(0.1 * k, NAMES, (k, 2 * k, 3 * k), (), (1, 2, 3))
                                 for k in range(5)])
    assert r.joint_names == NAMES and r.velocity is None and not r.notes
    np.testing.assert_array_equal(r.position, np.outer(np.arange(5), [1, 2, 3]))
    np.testing.assert_array_equal(r.effort, np.tile([1, 2, 3], (5, 1)))


def test_partial_messages_are_put_side_by_side():
    r = Recording.from_messages(messages())
    assert r.joint_names == NAMES
    np.testing.assert_allclose(r.position, np.outer(r.time, [1, 2, 3]), atol=1e-12)
    np.testing.assert_allclose(r.effort, np.tile([5, 6, 7], (len(r), 1)))
    # At the stamps of a and b that have some of c on both sides
    assert len(r) == 48 and r.time[0] == pytest.approx(0.01)
    assert any('put together' in note for note in r.notes)


def test_nothing_is_made_up_while_a_joint_is_silent():
    r = Recording.from_messages(m for m in messages(200) if m[1] != ('c',) or not 0.5 < m[0] < 1)
    inside = (r.time > 0.52) & (r.time < 0.98)
    assert not inside.any() and (r.time > 1.01).any()
    assert any('left out' in note for note in r.notes)


def test_other_orders_in_a_message():
    r = Recording.from_messages([(0.0, ('a', 'b'), (1, 2), (), ()),
                                 (0.1, ('b', 'a'), (2, 1), (), ())])
    np.testing.assert_array_equal(r.position, [[1, 2], [1, 2]])


def test_other_joints_are_not_taken():
    r = Recording.from_messages(messages(), joints=('b', 'x'))
    assert r.joint_names == ('b',) and len(r) == 50


def test_messages_that_say_nothing_are_refused():
    good = (0.0, ('a', 'b'), (1.0, 2.0), (), ())
    r = Recording.from_messages([good, (1.0, ('a', 'b'), (1.0,), (), ()),
                                 (2.0, ('a', 'a'), (1.0, 2.0), (), ())])
    assert len(r) == 1 and '2 messages refused' in r.notes[0]
    with pytest.raises(RecordingError, match='no joint positions'):
        Recording.from_messages([(0.0, ('a',), (), (), (1.0,))])


def test_parts_whose_stamps_run_backwards_are_not_merged():
    with pytest.raises(RecordingError, match='run backwards') as refused:
        Recording.from_messages([*messages(), *messages()])
    assert 'one clock' in refused.value.remedy


def test_a_joint_that_is_missing_is_named():
    r = recorded('two_link')
    with pytest.raises(RecordingError, match='panda_joint1') as refused:
        r.of(robot('panda').joint_names)
    assert refused.value.name == 'panda_joint1'


def test_order_and_extra_joints():
    r = recorded('two_link')
    more = Recording(('x', 'joint2', 'joint1'), r.time,
                     np.c_[r.time, r.position[:, ::-1]], None, np.c_[r.time, r.effort[:, ::-1]])
    same = more.of(('joint1', 'joint2'))
    np.testing.assert_array_equal(same.position, r.position)
    np.testing.assert_array_equal(same.effort, r.effort)
    assert 'x' in same.notes[-1]


@pytest.mark.parametrize('arrays', [{'position': np.zeros((3, 2))}, {'effort': np.zeros((4, 1))},
                                    {'time': np.zeros((4, 1))}, {'joint_names': ('a', 'a')}])
def test_shapes(arrays):
    with pytest.raises(RecordingError):
        Recording(**{'joint_names': ('a', 'b'), 'time': np.arange(4.0),
                     'position': np.zeros((4, 2)), **arrays})
