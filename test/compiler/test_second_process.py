# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Compilation in a second process: it is waited for, and missed by nobody."""

import os

import pytest
from robodyn_ros.compiler import cache_directory, second_process
from robodyn_ros.control.cycle import compile, compile_ahead  # noqa: A004

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def none_yet(monkeypatch):
    monkeypatch.setattr(second_process, '_processes', {})
    monkeypatch.setattr(second_process.os, 'cpu_count', lambda: 2)


def test_it_imports_this_package_and_has_the_same_cache(tmp_path):
    told = tmp_path / 'told'
    second_process.begin('told', 'import pathlib, robodyn_ros.compiler.cache_directory as code; '
                         f'pathlib.Path({str(told)!r}).write_text('
                         'f"{code.__file__} {code.cache_directory()}")')
    second_process.wait('told')
    assert told.read_text() == f'{cache_directory.__file__} {cache_directory.cache_directory()}'


def test_it_is_started_once_and_missed_by_nobody(tmp_path, monkeypatch):
    monkeypatch.setattr(second_process.os, 'cpu_count', lambda: 1)
    assert not second_process.begin('none', 'raise SystemExit')
    second_process.wait('none')
    assert not second_process._processes
    monkeypatch.setattr(second_process.os, 'cpu_count', lambda: 2)
    for _ in range(2):
        second_process.begin('once', f'open({str(tmp_path / "lines")!r}, "a").write("a line")')
        second_process.wait('once')
    assert (tmp_path / 'lines').read_text() == 'a line'
    second_process.begin('failing', 'raise SystemExit(1)')
    second_process.wait('failing')


def test_what_nobody_waits_for_is_nice(tmp_path):
    """It leaves the CPU to the others; whoever needs a part of it does not wait for the end."""
    told = tmp_path / 'told'
    assert second_process.begin('nice', 'import os, pathlib, time; '
                                f'pathlib.Path({str(told)!r}).write_text(str(os.nice(0))); '
                                'time.sleep(600)', nice=7)
    second_process.wait('nice', lambda: told.exists() and told.read_text())
    process = second_process._processes['nice']
    assert process.poll() is None
    assert int(told.read_text()) == min(19, os.nice(0) + 7)
    process.kill()
    process.wait()


@pytest.mark.skipif(compile_ahead.plain(), reason='nothing is compiled')
@pytest.mark.parametrize('compiled', [[], ['control_of_another_version'], ['control_step_0']])
def test_the_cycle_is_begun_before_the_imports_on_a_new_machine(compiled, tmp_path, monkeypatch):
    """And what begins there is what a controller waits for."""
    for name in compiled:
        (tmp_path / name).mkdir()
    begun = []
    monkeypatch.setattr(compile_ahead, 'all_cache_directories', lambda: [tmp_path])
    monkeypatch.setattr(second_process, 'begin', lambda *what: begun.append(what))
    compile_ahead.begin_on_a_new_machine()
    assert begun == ([] if compiled
                     else [(compile_ahead.CODE_NAME, compile_ahead.COMPILE_STATEMENT)])
    names: dict[str, object] = {}
    exec(compile_ahead.COMPILE_STATEMENT.partition(';')[0], names)
    assert names['compile_cycle'] is compile.compile_cycle
