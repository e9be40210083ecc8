# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
import pytest

from robodyn_ros.cli.spoken import as_options


@pytest.mark.parametrize(('python', 'options'), [
    ("units={'position': 'deg'}", '--units position=deg'),
    ("units={'effort': {'joint2': '-N·m', 'j 3': 'mN·m'}}, or",
     "--units effort.joint2=-N·m --units 'effort.j 3=mN·m', or"),
    ("units={'effort': 0.12}", '--units effort=0.12'),
    ("(columns={'time': 't'})", '(--columns time=t)'),
    ("columns={'time': 0, 'position': '1-6'}", '--columns time=0 --columns position=1-6'),
    ("columns={'position': 'q{i}'}", "--columns 'position=q{i}'"),
    ("columns={'effort': (...)}", '--columns effort=...'),
    ("joint_names=('b', 'a')", '--joints b,a'),
    ('(joint_names=(...))', '(--joints ...)'),
    ("accept=('effort sign',)", "--accept 'effort sign'"),
    ('(rate=500.0)', '(--rate 500.0)'), ("topic='/joint_states',", '--topic /joint_states,'),
    ("locked={'head': position}", '--locked head=position')])
def test_a_remedy_in_the_words_of_the_command_line(python, options):
    assert as_options(f'do this: {python}') == f'do this: {options}'


@pytest.mark.parametrize('text', ["velocity='position'", 'units={', 'the accept=(ance', 'a rate'])
def test_what_is_no_argument_stays(text):
    assert as_options(text) == text
