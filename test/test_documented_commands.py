# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Commands in the README and in docs/: arguments that are accepted, targets and files that are."""

import re
import shlex
from pathlib import Path

import click
import pytest
import typer

from robodyn_ros.cli.app import app

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / 'README.md', ROOT / 'CONTRIBUTING.md', *sorted((ROOT / 'docs').glob('*.md'))]
COMMANDS = typer.main.get_command(app).commands
METAVARIABLE = re.compile(r'(?<![\w.])[A-Z]{1,2}(?![\w.])')       # N, V1: stand for numbers
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
    for script in re.findall(r'python3? (examples/\w+\.py)', text):
        assert (ROOT / script).exists(), script
    for launch in re.findall(r'ros2 launch robodyn_ros (\w+\.launch\.py)', text):
        assert (ROOT / 'launch' / launch).exists(), launch
