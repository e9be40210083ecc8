# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Help, completion, JSON and arguments of the subcommands; `robodyn derive`, compilation ahead."""

import io
import re
import shlex

from cli.commands import changed, COMMANDS, done, GROUP, robodyn, split
import click
import pytest
from rich.console import Console
from rich.text import Text
from robodyn_ros import load_urdf
from robodyn_ros.cli import derive, start_up_times
from robodyn_ros.cli.app import app
from robodyn_ros.cli.options import as_option, locked_joints, numbers, PANELS, robots
from robodyn_ros.errors import Argument, Placeholder, RobodynError
from robodyn_ros.model.resources import share_path
from typer.testing import CliRunner


@pytest.mark.parametrize('name', sorted(COMMANDS))
def test_examples_are_accepted_and_shown(name):
    shown = robodyn(*name.split(), '--help', env={'COLUMNS': '200'})
    assert shown.exit_code == 0
    program, *words = shlex.split(re.search(r'Example: (.*)', shown.output)[1])
    command, words = split(words)
    assert (program, command) == ('robodyn', name)
    COMMANDS[name].make_context(name, words)


@pytest.mark.parametrize('name', sorted(COMMANDS))
def test_names_of_options_are_whole_in_80_columns(name):
    shown = robodyn(*name.split(), '--help', env={'COLUMNS': '80'}).output
    assert max(map(len, shown.splitlines())) <= 80
    for one in COMMANDS[name].params:
        for option in (*one.opts, *one.secondary_opts):
            assert option[0] != '-' or re.search(rf'{option}(?![\w-])', shown), option


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
    assert places == sorted(places) and 'Commands' not in shown
    assert len(GROUP.commands) <= 27, 'make it an option of another command, or one of a group'
    assert places[2] < shown.index('│ identify') < places[3] < shown.index('│ replay') < places[4]


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


def rows(text):
    return {line.split()[0]: line for line in text.splitlines() if line.strip()}


@pytest.mark.process
@pytest.mark.slow
def test_it_compiles_what_is_new_and_loads_what_is_not(tmp_path, monkeypatch):
    """Dynamics of one joint that nobody has compiled; its two workers, and the tables of both."""
    results, start = [], start_up_times.start
    monkeypatch.setattr(start_up_times, 'start', lambda *words: (
        results.append(start(*words)) or results[-1]))
    names = ['gravity', 'mass_matrix', 'inverse_dynamics']
    urdf = changed(tmp_path, ('mass value="2', f'mass value="2.{hash(str(tmp_path)) % 10**9}'))
    first = rows(done('check-machine', '--compile', urdf, '--locked', 'joint2=0').output)
    _, (cached, seconds) = results
    assert [*cached] == start_up_times.names(False)
    out = Console(file=io.StringIO(), width=100)
    out.print(start_up_times.table(load_urdf(urdf, locked={'joint2': 0.0}), names, cached, cached,
                           (seconds, seconds)))
    second = rows(out.file.getvalue())
    for name in names:
        assert 'before' not in first[name] and ' s ' in first[name] and ' ms' in first[name]
        assert 'before' in second[name]


@pytest.mark.slow
def test_names_paths_numbers_and_latex(tmp_path):
    # With rows of symbols here; a URDF with numbers gives the same (test_textbook_forms.py).
    output = done('derive', 'craig_2r', '--ascii').output
    assert '  M[1,1] = (m_1 + m_2) l_1^2 + m_2 l_2^2 + 2 m_2 l_1 l_2 c_2\n' in output
    assert 'checked against recursive Newton-Euler' in output
    path = tmp_path / 'mine.yaml'
    path.write_text(share_path('examples', 'craig_2r.yaml').read_text())
    output = done('derive', path, '--frame', 'tool', '--axes', 'xy', '--latex').output
    assert r'(M_x)_{11} &= m_{2} + \frac{m_{1}}{s_{2}^{2}} \\' in output
    output = done('derive', 'arm6', '--locked', 'joint_3=0,joint_4=0,joint_5=0,joint_6=0',
                  '--numbers').output
    assert 'M[1,1] = ' in output and 'm₁' not in output
    assert 'M[2,2] = ' in output and 'M[3,3]' not in output
    result = CliRunner(charset='ascii').invoke(app, ['derive', 'craig_rp'])
    assert result.exit_code == 0, result.exception
    assert '  M[1,1] = m_1 l_1^2 + I_zz1 + I_yy2 + m_2 d_2^2' in result.stdout


@pytest.mark.slow
def test_a_terminal_shows_that_it_is_at_work(monkeypatch):
    for terminal in True, False:
        out = Console(file=io.StringIO(), force_terminal=terminal, width=100)
        monkeypatch.setattr(derive, 'console', lambda out=out: out)
        derive.derive('craig_rp')
        assert ('deriving, and' in out.file.getvalue()) == terminal


@pytest.mark.slow
def test_a_result_that_is_not_to_be_trusted_ends_with_1(monkeypatch):
    monkeypatch.setattr('robodyn_ros.lagrange.derivation.MAX_EFFORT_DEVIATION', 1e-30)
    result = robodyn('derive', 'two_link')
    assert result.exit_code == 1 and 'NOT TO BE TRUSTED' in result.output
