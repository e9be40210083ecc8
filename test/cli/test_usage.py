# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Help, completion and JSON of the subcommands."""

import shlex

from cli.commands import done, robodyn
import click
import pytest
from rich.text import Text
from robodyn_ros.cli.app import app
from robodyn_ros.cli.usage import EXAMPLES, FORMER_OPTIONS, PANELS, robots
import typer

GROUP = typer.main.get_command(app)


def test_every_command_has_an_example():
    assert EXAMPLES.keys() == GROUP.commands.keys()


@pytest.mark.parametrize('name', sorted(EXAMPLES))
def test_examples_are_accepted_and_shown(name):
    program, command, *words = shlex.split(EXAMPLES[name])
    assert (program, command) == ('robodyn', name)
    GROUP.commands[name].make_context(name, words)
    shown = robodyn(name, '--help', env={'COLUMNS': '200'})
    assert shown.exit_code == 0 and f'Example: {EXAMPLES[name]}' in shown.output


def test_no_help_text_is_taken_for_markup():
    """Rich drops [kg] and [s] as tags: units are in parentheses."""
    for command in GROUP.commands.values():
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
    assert sorted(name for panel in PANELS.values() for name in panel) == sorted(GROUP.commands)
    shown = robodyn('--help', env={'COLUMNS': '120'}).output
    places = [shown.index(f'─ {panel} ─') for panel in PANELS]
    assert places == sorted(places) and 'Commands' not in shown
    assert places[2] < shown.index('drive-gains') < places[3] < shown.index('warmup') < places[4]


@pytest.mark.parametrize(('command', 'former', 'present'), [
    (command, *pair) for command, pairs in FORMER_OPTIONS.items() for pair in pairs.items()])
def test_former_options_are_taken_with_a_warning(command, former, present):
    with click.Context(GROUP) as context:
        *_, words = GROUP.resolve_command(context, [command, former, '1', f'{former}=2'])
    assert words == [present, '1', f'{present}=2']
    options = {o for p in GROUP.commands[command].params for o in p.opts}
    assert present in options and former not in options
    result = robodyn(command, former, 'x', '--help')
    assert f'{former} is called {present} now' in ' '.join(result.stderr.split())


def test_play_names_the_controller_as_other_commands_do():
    options = {option: p for p in GROUP.commands['play'].params for option in p.opts}
    assert options['--node'].default == 'controller' and options['--topic'].hidden
    assert '--topic' not in done('play', '--help').output
