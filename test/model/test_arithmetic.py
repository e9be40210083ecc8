# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Arithmetic that is read from a file, and everything else that is not."""

import math

import pytest
from robodyn_ros.errors import ArgumentError
from robodyn_ros.model.arithmetic import evaluate, names, parse

KNOWN = {'pi': math.pi, 'l1': 0.5, 'm_2': 3.0}


@pytest.mark.parametrize(('text', 'value'), [
    ('0.5', 0.5), ('1e-3', 1e-3), ('-pi/2', -math.pi / 2), ('+l1', 0.5), (' l1 ', 0.5),
    ('m_2*l1**2/12 - 1', 3.0 * 0.25 / 12 - 1), ('2*(l1 + m_2)', 7.0), ('l1**-1', 2.0)])
def test_values(text, value):
    assert evaluate(parse(text), KNOWN, float) == value


def test_names_are_told_without_pi():
    assert names(parse('a*pi + b*(a - c1)')) == {'a', 'b', 'c1'}


@pytest.mark.parametrize('text', [
    '', '1 +', '__import__("os").system("true")', 'l1.real', 'l1[0]', 'sin(l1)', '"a"', 'True',
    '1j', '[1]', 'lambda: 1', 'a if b else c', 'a @ b', 'a // b', 'a % b', '1 < 2', '(a := 1)',
    '9**9**9', 'a**b', 'a**0.5', 'a**9', 'a**-9', '_a', 'ﬁ', 'π', 'a\0', 'a' * 32, '(' * 150,
    '-' * 199 + '1 +', '1' * 201, '((a + b)**8)**8', '(a+b)*(c+d)*(e+f)*(g+h)*(i+j)*(k+l)*(m+n)',
    '{}'.format('#'), 'a; b', 'a\nb', 'None', '...'])
def test_anything_else_is_refused(text):
    with pytest.raises(ArgumentError) as caught:
        parse(text)
    assert '\n' not in str(caught.value) and len(str(caught.value)) < 400


def test_what_has_no_value():
    with pytest.raises(ZeroDivisionError):
        evaluate(parse('1/(l1 - l1)'), KNOWN, float)
    with pytest.raises(OverflowError):
        evaluate(parse('1e200**8'), KNOWN, float)
    with pytest.raises(KeyError):
        evaluate(parse('l2'), KNOWN, float)
