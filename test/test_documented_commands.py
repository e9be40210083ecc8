# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Commands in the README and in docs/: arguments that are accepted, targets and files that are.

Those of `robodyn` run as they stand, here or in a test of their own.
"""

import ast
from pathlib import Path
import re
import shlex

from cli.commands import COMMANDS, done, GROUP, split
import click
from processes import node_names
import pytest
from robodyn_ros import load_urdf
from robodyn_ros.model.resources import robot_path
from robots import PANDA_LOCKED

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / 'README.md', ROOT / 'CONTRIBUTING.md', *sorted((ROOT / 'docs').glob('*.md'))]
METAVARIABLE = re.compile(r'(?<![\w.])[A-Z]{1,2}(?![\w.])')       # N, V1: stand for numbers
REMAPPED = {'joint_states', 'commands'}                            # topics, not parameters
HERE = {'derive', 'export', 'init', 'inspect', 'new', 'robots'}
# Those that need a running robot, a recording, a browser or minutes: a test that runs each
ELSEWHERE = {
    'calibrate': 'nodes/test_calibration_live.py',
    'check-machine': 'cli/test_check_machine.py',
    'compare-laws': 'cli/test_compare_laws.py',
    'demo': 'demo/test_demo.py',
    'driver': 'drivers/test_driver_commands.py',
    'excite': 'identification/test_excitation.py',
    'get': 'nodes/test_drive_commands.py',
    'goto': 'nodes/test_drive_commands.py',
    'identify': 'identification/test_identify_command.py',
    'jog': 'nodes/test_terminal_commands.py',
    'play': 'nodes/test_play.py',
    'record': 'nodes/test_record.py',
    'replay': 'cli/test_replay.py',
    'reset': 'nodes/test_drive_commands.py',
    'set': 'nodes/test_drive_commands.py',
    'simulate': 'cli/test_simulate.py',
    'status': 'nodes/test_drive_commands.py',
    'stop': 'nodes/test_drive_commands.py',
    'teach': 'nodes/test_terminal_commands.py',
    'verify': 'verification/test_verify.py',
    'view': 'viewer/test_page.py'}
NAMES_COMMAND = re.compile(r'robodyn[\'"]?\s')
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
    """Within sentences, the options alone."""
    text = page.read_text()
    for name, *words in shell_lines(text):
        if name == 'robodyn' and words[0] != '--help':
            name, words = split(words)
            try:
                COMMANDS[name].make_context(name, [METAVARIABLE.sub('3', one) for one in words])
            except click.exceptions.UsageError as error:
                raise AssertionError(f'{name} {shlex.join(words)}: {error.format_message()}'
                                     ) from None
            except click.exceptions.Exit:       # --help
                pass
    for words in inline_commands(text):
        check_options(words)


def check_options(words):
    """Fail where there is no such command, or no such option of it."""
    name, words = split(words)
    options = {name for one in COMMANDS[name].params
               for name in (*one.opts, *one.secondary_opts, '--help')}
    for word in words:
        assert not word.startswith('--') or word.partition('=')[0] in options, (
            f'robodyn {name} {" ".join(words)}')


def strings(node):
    """Yield the strings of a source, X in place of what is formatted."""
    if isinstance(node, ast.JoinedStr):
        yield ''.join(one.value if isinstance(one, ast.Constant) else 'X' for one in node.values)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    else:
        for child in ast.iter_child_nodes(node):
            yield from strings(child)


def test_messages_and_docstrings_name_commands_that_exist():
    texts = []
    for folder in ('robodyn_ros', 'launch', 'examples', 'benchmarks'):
        for path in (ROOT / folder).rglob('*.py'):
            if NAMES_COMMAND.search(text := path.read_text()):      # parsing takes longer
                texts += strings(ast.parse(text))
    found = [code.split() for text in texts
             for code in re.findall(r'robodyn ([a-z][^`#]*)', re.sub(r'\s+', ' ', text))]
    assert len(found) > 60
    for words in found:
        check_options([word.rstrip('.,;:)') for word in words])


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


def commands():
    """Return the commands in blocks of all pages, without the word `robodyn`."""
    found = [words[1:] for page in PAGES for words in shell_lines(page.read_text())
             if words[0] == 'robodyn']
    return list(dict.fromkeys(shlex.join(words) for words in found if words[0][0] != '-'))


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Return a folder with the files that the commands are about, which is the current one."""
    monkeypatch.chdir(tmp_path)
    panda = load_urdf(robot_path('panda'), locked=PANDA_LOCKED)
    (tmp_path / 'my_arm.urdf').write_text(panda.to_urdf())
    return tmp_path


# A library takes a minute of compiling: c_library/test_library.py exports one
@pytest.mark.slow
@pytest.mark.parametrize('line', [line for line in commands() if line.split()[0] in HERE
                                  and not line.startswith('export my_arm.urdf --config')
                                  and '--driver my_arm:' not in line])      # of a person
def test_it_runs_as_it_stands(line, place):
    """But for /tmp, which is the folder of the test."""
    pytest.importorskip('mujoco')
    words = [METAVARIABLE.sub('3', word).replace('/tmp/', f'{place}/')
             for word in shlex.split(line)]
    done(*words)


def test_every_other_command_is_run_by_a_test():
    assert {line.split()[0] for line in commands()} & HERE
    assert GROUP.commands.keys() == HERE | ELSEWHERE.keys(), (
        'add it to HERE, and to a page; or to ELSEWHERE, with a test that runs it')
    for name, file in ELSEWHERE.items():
        text = (ROOT / 'test' / file).read_text()
        assert f"'{name}'" in text or name.replace('-', '_') in text, f'{file} runs no {name}'
