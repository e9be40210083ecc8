# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Commands in the README and in docs/: arguments that are accepted, targets and files that are."""

import ast
from pathlib import Path
import re
import shlex

import click
from processes import node_names
import pytest
from robodyn_ros.cli.app import app
import typer

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / 'README.md', ROOT / 'CONTRIBUTING.md', *sorted((ROOT / 'docs').glob('*.md'))]
COMMANDS = typer.main.get_command(app).commands
METAVARIABLE = re.compile(r'(?<![\w.])[A-Z]{1,2}(?![\w.])')       # N, V1: stand for numbers
REMAPPED = {'joint_states', 'commands'}                            # topics, not parameters
pages = pytest.mark.parametrize('page', PAGES, ids=lambda page: page.stem)


def shell_lines(text):
    """Yield the words of the commands in the blocks of the shell of a page."""
    for block in re.findall(r'```(?:bash|sh)\n(.*?)```', text, re.DOTALL):
        block = re.sub(r'\$\([^)]*\)', 'X', block.replace('\\\n', ' '))
        for line in block.splitlines():
            for part in re.split(r'&&|\|', line):
                if words := shlex.split(part, comments=True):
                    while words and '=' in words[0]:        # of the environment
                        words = words[1:]
                    if words:
                        yield words


def inline_commands(text):
    """Yield the words of the commands of `robodyn` within sentences."""
    without_blocks = re.sub(r'```.*?```', '', text, flags=re.DOTALL)
    for code in re.findall(r'`robodyn ([a-z][^`]*)`', re.sub(r'\s*\n\s*', ' ', without_blocks)):
        yield shlex.split(code)


@pages
def test_arguments_of_robodyn_are_accepted(page):
    for name, *words in shell_lines(page.read_text()):
        if name == 'robodyn' and words[0] != '--help':
            command = COMMANDS[words[0]]
            try:
                command.make_context(words[0], [METAVARIABLE.sub('3', one) for one in words[1:]])
            except click.exceptions.UsageError as error:
                raise AssertionError(f'{shlex.join(words)}: {error.format_message()}') from None
            except click.exceptions.Exit:       # --help
                pass


@pages
def test_commands_within_sentences_exist_with_their_options(page):
    for words in inline_commands(page.read_text()):
        options = {name for one in COMMANDS[words[0]].params
                   for name in (*one.opts, *one.secondary_opts)}
        for word in words[1:]:
            assert not word.startswith('--') or word.partition('=')[0] in {*options, '--help'}, (
                f'robodyn {shlex.join(words)}')


@pages
def test_targets_modules_and_scripts_exist(page):
    text = page.read_text()
    targets = set(re.findall(r'^([a-z ]+): python$', (ROOT / 'Makefile').read_text(),
                             re.MULTILINE))
    known = {name for line in targets for name in line.split()}
    assert {'demo', 'docs'} <= known
    for name in re.findall(r'(?:`|^ {0,4})make ([a-z]+)', text, re.MULTILINE):
        assert name in known, f'make {name}'
    for place in re.findall(r'python3? -m (benchmarks\.\w+|robodyn_ros[\w.]+)', text):
        path = ROOT / place.replace('.', '/')
        assert path.with_suffix('.py').exists() or path.is_dir(), place
    for script in re.findall(r'(?:python3? |`)((?:examples|test)/[\w/]+\.py)', text):
        assert (ROOT / script).exists(), script
    for launch in re.findall(r'ros2 launch robodyn_ros (\w+\.launch\.py)', text):
        assert (ROOT / 'launch' / launch).exists(), launch


def launch_arguments(file):
    """Return the arguments of a launch file of this package, and of what it includes."""
    text = (ROOT / 'launch' / file).read_text()
    own = next(ast.literal_eval(node.value) for node in ast.parse(text).body
               if isinstance(node, ast.Assign) and node.targets[0].id == 'ARGUMENTS')
    included = set(re.findall(r"'(\w+\.launch\.py)'", text)) - {file}
    return {*own, *(name for one in included if (ROOT / 'launch' / one).exists()
                    for name in launch_arguments(one))}


def declared_parameters():
    return set(re.findall(r'^\| `(\w+)` \|', (ROOT / 'docs' / 'parameters.md').read_text(),
                          re.MULTILINE))


@pages
def test_arguments_of_ros2_exist(page):
    """Arguments of our launch files, parameters of our nodes, and files of our presets."""
    for words in shell_lines(page.read_text()):
        command = ' '.join(words)
        assigned = {word.partition(':=')[0] for word in words if ':=' in word}
        if words[:3] == ['ros2', 'launch', 'robodyn_ros']:
            assert assigned <= launch_arguments(words[3]), command
        elif words[:3] == ['ros2', 'run', 'robodyn_ros']:
            assert words[3].removeprefix('robodyn_') in node_names(), command
            assert {name for name in assigned if not name.startswith('__')
                    } <= declared_parameters() | REMAPPED, command
        elif words[:3] == ['ros2', 'param', 'set'] and words[3] == '/controller':
            assert words[4] in declared_parameters(), command
        for file in re.findall(r'\$CONFIG/(\w+\.yaml)', command):
            assert (ROOT / 'config' / file).exists(), command


def test_every_block_with_a_command_says_that_it_is_one():
    """What is not marked as of the shell would escape these tests."""
    unmarked = re.compile(r'^ *```\n(.*?)^ *```', re.DOTALL | re.MULTILINE)
    for page in PAGES:
        for block in unmarked.findall(page.read_text()):
            assert not re.search(r'^ *(robodyn|ros2|make|python3?) ', block, re.MULTILINE), block
