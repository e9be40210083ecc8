# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Help, completion and JSON of the subcommands."""

import re
import shlex

from cli.commands import COMMANDS, GROUP, robodyn, split
import click
import pytest
from rich.text import Text
from robodyn_ros.cli.options import PANELS, robots


@pytest.mark.parametrize('name', sorted(COMMANDS))
def test_examples_are_accepted_and_shown(name):
    shown = robodyn(*name.split(), '--help', env={'COLUMNS': '200'})
    assert shown.exit_code == 0
    program, *words = shlex.split(re.search(r'Example: (.*)', shown.output)[1])
    command, words = split(words)
    assert (program, command) == ('robodyn', name)
    COMMANDS[name].make_context(name, words)


def test_commands_that_write_have_the_same_options():
    """--output goes with -o; where a file or folder is chosen, --force replaces it."""
    for name, command in COMMANDS.items():
        options = {option for one in command.params for option in one.opts}
        assert ('--output' in options) == ('-o' in options), name
        assert not {'--overwrite', '--folder'} & options, name
        if '--output' in options and name not in {'demo', 'verify'}:    # which go on with theirs
            assert '--force' in options, name


def test_no_help_text_is_taken_for_markup():
    """Rich drops [kg] and [s] as tags: units are in parentheses."""
    for command in COMMANDS.values():
        for text in (command.help, *(getattr(one, 'help', None) for one in command.params)):
            assert Text.from_markup(text or '').plain == (text or '')


def test_exit_codes_are_those_of_the_help():
    """Those of a success and of an error are asked for by the tests of all commands."""
    assert 'Exit codes: 0' in robodyn('--help', env={'COLUMNS': '200'}).output
    assert robodyn('inspect').exit_code == 2


def test_the_shell_completes_robots():
    assert robots('two') == ['two_link'] and 'panda' in robots('')
    with click.Context(GROUP) as context:
        parameter = GROUP.commands['inspect'].params[0]
        assert [item.value for item in parameter.shell_complete(context, 'two_l')] == ['two_link']


def test_every_command_stands_in_a_panel():
    shown = robodyn('--help', env={'COLUMNS': '120'}).output
    places = [shown.index(f'─ {panel} ─') for panel in PANELS]
    assert places == sorted(places) and 'Commands' not in shown and len(GROUP.commands) > 25
    assert places[2] < shown.index('drive-gains') < places[3] < shown.index('warmup') < places[4]
