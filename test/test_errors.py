# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0

import pickle

import pytest
from robodyn_ros import errors
from robodyn_ros.errors import RobodynError, UnknownNameError


def test_a_message_is_one_printable_line_with_the_known_names():
    error = RobodynError('joint a\nb', name='a\nb', remedy='no \x1b[2J' + 'x' * 10_000)
    assert str(error).startswith(r'joint a\nb: no \x1b[2Jxxx') and len(str(error)) < 1100
    assert error.name == 'a\nb' and len(error.remedy) > 10_000
    assert str(UnknownNameError('joint', 'a', [])).endswith('none: there is no joint')


@pytest.mark.parametrize('name, text', [
    ('elbo', "no joint 'elbo': did you mean 'elbow'?"),
    ('ELBOW', "no joint 'ELBOW': did you mean 'elbow'?"),
    ('bow', "no joint 'bow': did you mean 'elbow'?"),
    ('x', "no joint 'x': choose one of elbow, \u00e9"),
    ('e\u0301', r"no joint 'e\u0301': did you mean '\xe9'?"),      # it looks like the other
    ('elbow ', "no joint 'elbow ': did you mean 'elbow'?")])
def test_an_unknown_name_is_told_with_the_known_ones(name, text):
    error = UnknownNameError('joint', name, ['elbow', '\u00e9'])
    assert str(error) == text and error.choices == ('elbow', '\u00e9')


def subclasses(kind):
    return {kind}.union(*map(subclasses, kind.__subclasses__()))


@pytest.mark.parametrize('kind', sorted(subclasses(RobodynError), key=str))
def test_errors_cross_the_borders_of_processes(kind):
    error = kind.__new__(kind)
    RobodynError.__init__(error, 'it is wrong', name='thing', remedy=(
        'do ', errors.Argument('this', True)), value=3)
    found = pickle.loads(pickle.dumps(error))
    assert type(found) is kind and str(found) == str(error)
    assert (found.name, found.value, found.remedy) == ('thing', 3, error.remedy)
