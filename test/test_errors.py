# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Messages of errors and texts of others: one printable line, with the known names."""

import pickle

import pytest
from robodyn_ros import errors
from robodyn_ros.errors import appearance, MAX_PRINTED, printable, RobodynError, UnknownNameError


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


@pytest.mark.parametrize('text, shown', [
    ('Gelenk é \u0645 \u95dc \U0001f9be N·m²', 'Gelenk é \u0645 \u95dc \U0001f9be N·m²'),
    ('a\nFATAL', r'a\nFATAL'), ('\x1b[2J', r'\x1b[2J'), ('\x9b2J', r'\x9b2J'),
    ('\u202eesab', r'\u202eesab'), ('\u2028', r'\u2028'), ('\ud800', r'\ud800'), ('\\n', r'\n')])
def test_what_is_obeyed_is_escaped_and_all_else_stays(text, shown):
    assert printable(text) == shown


def test_what_is_cut_or_slow():
    assert printable('a' * MAX_PRINTED) == 'a' * MAX_PRINTED
    assert printable('a' * 10**7) == 'a' * MAX_PRINTED + ' ...'
    assert len(printable('\n' * MAX_PRINTED)) == MAX_PRINTED + 4
    assert len(appearance('a' + '\u0301\u0316' * 10**6)) <= MAX_PRINTED


@pytest.mark.parametrize('one, other', [
    ('é', 'e\u0301'), ('a', 'a '), ('a b', 'a\u00a0b'), ('a', 'a\u200b'), ('fi', '\ufb01')])
def test_texts_that_look_alike(one, other):
    assert appearance(one) == appearance(other) != appearance('b')
