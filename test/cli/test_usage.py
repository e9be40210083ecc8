# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Help, completion, JSON and arguments of the subcommands."""

import re
import shlex

from cli.commands import COMMANDS, GROUP, robodyn, split
import click
import pytest
from rich.text import Text
from robodyn_ros.cli.options import as_option, locked_joints, numbers, PANELS, robots
from robodyn_ros.errors import Argument, Placeholder, RobodynError


@pytest.mark.parametrize('name', sorted(COMMANDS))
def test_examples_are_accepted_and_shown(name):
    shown = robodyn(*name.split(), '--help', env={'COLUMNS': '200'})
    assert shown.exit_code == 0
    program, *words = shlex.split(re.search(r'Example: (.*)', shown.output)[1])
    command, words = split(words)
    assert (program, command) == ('robodyn', name)
    COMMANDS[name].make_context(name, words)


def test_groups_options_codes_and_completion():
    # --output goes with -o; where a file or folder is chosen, --force replaces it.
    for name, command in COMMANDS.items():
        options = {option for one in command.params for option in one.opts}
        assert ('--output' in options) == ('-o' in options), name
        assert not {'--overwrite', '--folder'} & options, name
        if '--output' in options and name not in {'demo', 'verify'}:    # which go on with theirs
            assert '--force' in options, name
    # Rich drops [kg] and [s] as tags: units are in parentheses.
    for command in COMMANDS.values():
        for text in (command.help, *(getattr(one, 'help', None) for one in command.params)):
            assert Text.from_markup(text or '').plain == (text or '')
    # Those of a success and of an error are asked for by the tests of all commands.
    assert 'Exit codes: 0' in robodyn('--help', env={'COLUMNS': '200'}).output
    assert robodyn('inspect').exit_code == 2
    assert robots('two') == ['two_link'] and 'panda' in robots('')
    with click.Context(GROUP) as context:
        parameter = GROUP.commands['inspect'].params[0]
        assert [item.value for item in parameter.shell_complete(context, 'two_l')] == ['two_link']
    shown = robodyn('--help', env={'COLUMNS': '120'}).output
    places = [shown.index(f'─ {panel} ─') for panel in PANELS]
    assert places == sorted(places) and 'Commands' not in shown and len(GROUP.commands) > 25
    assert places[2] < shown.index('drive-gains') < places[3] < shown.index('warmup') < places[4]


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
