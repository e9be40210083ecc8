# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Commands of `robodyn`, run in the process of the tests."""

from functools import cache
from pathlib import Path

from robodyn_ros.cli.app import app
from robodyn_ros.model.resources import robot_path
import typer
from typer import testing
from typer.testing import CliRunner, Result
import yaml

GROUP = typer.main.get_command(app)
# Typer would make all commands anew for each that is run: a third of what most of them take
testing._get_command = cache(typer.main.get_command)
#: Commands by their words: 'inspect', 'driver scan'.
COMMANDS = {f'{name} {inner}'.strip(): command for name, one in GROUP.commands.items()
            for inner, command in getattr(one, 'commands', {'': one}).items()}


def split(words: list[str]) -> tuple[str, list[str]]:
    """Return the name of the command of these words, and its arguments."""
    count = 1 if words[0] in COMMANDS else 2
    return ' '.join(words[:count]), words[count:]


def robodyn(*words: object, **more: object) -> Result:
    """Run a command; ``more`` is for Typer."""
    return CliRunner().invoke(app, [str(word) for word in words], **more)


def done(*words: object) -> Result:
    """Run a command that has to succeed."""
    result = robodyn(*words)
    assert result.exit_code == 0, result.output
    return result


def refused(*words: object) -> str:
    """Run a command that has to fail; return its error: one line on stderr, nothing on stdout."""
    result = robodyn(*words)
    assert (result.exit_code, result.stdout) == (1, ''), result.output
    *progress, line = result.stderr.splitlines()
    assert all(said.startswith('robodyn_ros: compiling ') for said in progress), result.stderr
    assert line.startswith('robodyn: ') and len(line) < 400, result.stderr
    return line


def config_options(folder: Path, files: dict[str, dict]) -> list[object]:
    """Write parameters of controllers to files of these names; return the options with them."""
    words: list[object] = []
    for name, values in files.items():
        (file := folder / f'{name}.yaml').write_text(yaml.safe_dump(
            {'/**/controller': {'ros__parameters': values}}))
        words += ['--config', file]
    return words


def changed(folder: Path, *pairs: tuple[str, str], text: str = '') -> Path:
    """Return the path of a URDF, by default that of two_link, in which texts are replaced."""
    text = text or robot_path('two_link').read_text()
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    (path := folder / 'arm.urdf').write_text(text)
    return path
