# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Arguments of commands, and those that errors propose, in Python and on the command line."""

import pytest
from robodyn_ros.cli.options import as_option, locked_joints, numbers
from robodyn_ros.errors import Argument, Placeholder, RobodynError


def test_numbers_and_locked_joints_are_read_in_order():
    assert numbers('--at', '1, -2.5,3e-1') == [1.0, -2.5, 0.3] and numbers('--at', '') == []
    assert locked_joints(['a=1', 'b=-0.5,c=2']) == {'a': 1.0, 'b': -0.5, 'c': 2.0}
    assert locked_joints([]) == {}


@pytest.mark.parametrize(('argument', 'python', 'option'), [
    (Argument('units', {'position': 'deg'}), "units={'position': 'deg'}",
     '--units position=deg'),
    (Argument('units', {'effort': {'joint2': '-N·m', 'j 3': 'mN·m'}}),
     "units={'effort': {'joint2': '-N·m', 'j 3': 'mN·m'}}",
     "--units effort.joint2=-N·m --units 'effort.j 3=mN·m'"),
    (Argument('units', {'effort': 0.12}), "units={'effort': 0.12}", '--units effort=0.12'),
    (Argument('columns', {'time': 0, 'position': '1-6'}), "columns={'time': 0, 'position': '1-6'}",
     '--columns time=0 --columns position=1-6'),
    (Argument('columns', {'position': 'q{i}'}), "columns={'position': 'q{i}'}",
     "--columns 'position=q{i}'"),
    (Argument('columns', {'effort': Placeholder('...')}), "columns={'effort': ...}",
     '--columns effort=...'),
    (Argument('joint_names', ('b', 'a')), "joint_names=('b', 'a')", '--joints b,a'),
    (Argument('joint_names', Placeholder('...')), 'joint_names=...', '--joints ...'),
    (Argument('accept', ('effort sign',)), "accept=('effort sign',)", "--accept 'effort sign'"),
    (Argument('rate', 500.0), 'rate=500.0', '--rate 500.0'),
    (Argument('topic', '/joint_states'), "topic='/joint_states'", '--states /joint_states'),
    (Argument('locked', {'head': Placeholder('position')}), "locked={'head': position}",
     '--locked head=position'),
    (Argument('ranges', {'elbow': (-3.1, 3.1)}), "ranges={'elbow': (-3.1, 3.1)}",
     '--range elbow=-3.1:3.1'),
    (Argument('velocity', {'elbow': 1.0}), "velocity={'elbow': 1.0}",
     '--velocity-limit elbow=1.0'),
    (Argument('pose', (Placeholder('V1'), Placeholder('...'))), 'pose=(V1, ...)', '--at V1,...'),
    (Argument('force', True), 'force=True', '--force')])
def test_an_argument_is_written_in_each_syntax(argument, python, option):
    error = RobodynError('no unit', name='x', remedy=('do this: ', argument, ', or that'))
    assert error.remedy == f'do this: {python}, or that'
    assert str(error) == f'no unit: do this: {python}, or that'
    assert error.render(as_option) == f'no unit: do this: {option}, or that'


@pytest.mark.parametrize('text', ["velocity='position'", 'units={', '--units position=deg'])
def test_text_of_a_remedy_stays(text):
    assert RobodynError('no', name='x', remedy=text).render(as_option) == f'no: {text}'
