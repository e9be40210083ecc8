# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
import pytest
from robodyn_ros.cli.arguments import locked_joints, numbers
from robodyn_ros.errors import ArgumentError


def test_numbers_are_read_in_order():
    assert numbers('--at', '1, -2.5,3e-1') == [1.0, -2.5, 0.3]
    assert numbers('--at', '') == []


def test_locked_joints_may_come_one_by_one_or_together():
    assert locked_joints(['a=1', 'b=-0.5,c=2']) == {'a': 1.0, 'b': -0.5, 'c': 2.0}
    assert locked_joints([]) == {}


@pytest.mark.parametrize('words', [['a'], ['a='], ['a=b'], ['a=1=2']])
def test_a_locked_joint_without_a_number_is_refused(words):
    with pytest.raises(ArgumentError, match='--locked'):
        locked_joints(words)


def test_what_is_no_number_is_refused_with_the_option():
    with pytest.raises(ArgumentError, match='--at'):
        numbers('--at', '1;2')
