# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0

import pytest
from robodyn_ros.errors import appearance, MAX_PRINTED, printable


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
