# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The table of folders of recordings: what it reads, and what it refuses."""

from io import StringIO

from benchmarks.identification import jobs, main, WORDS
from motions import real, write_csv
import pytest
from rich.console import Console
from robodyn_ros.errors import ArgumentError

pytestmark = pytest.mark.slow


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp('arm')
    write_csv(found / 'a.csv', real(), 1, 12.0)
    (found / WORDS).write_text('--robot two_link --moving 0.05  # what it is\n')
    return found


def printed(*words):
    out = Console(file=StringIO(), width=140, highlight=False, markup=False)
    main([str(word) for word in words], out)
    return out.file.getvalue()


def test_each_recording_is_a_row(folder):
    text = printed(folder)
    row = next(line for line in reversed(text.splitlines()) if folder.name in line)
    numbers = [float(word) for word in row.split()[1:] if word != '!']
    assert len(numbers) == 5 and all(0.0 < number < 60.0 for number in numbers)
    shipped, least = numbers[3], min(numbers[:2])
    assert ('!' in row) == (shipped > least) or shipped == pytest.approx(least, abs=0.02)


def test_folders_without_robot_or_recordings_are_named(folder, tmp_path):
    empty, unknown = tmp_path / 'empty', tmp_path / 'unknown'
    for each in (empty, unknown):
        each.mkdir()
    write_csv(unknown / 'a.csv', real(), 1, 2.0)
    (empty / WORDS).write_text('--robot two_link')
    text = ' '.join(printed(empty, unknown, tmp_path / 'none').split())
    assert 'no recording in' in text and 'no robot for' in text and 'is no folder' in text
    assert '--robot' in text


def test_one_recording_may_verify(folder, tmp_path):
    for name in ('a.csv', 'b.csv', 'verify.csv', 'notes.txt'):
        (tmp_path / name).touch()
    assert [(len(paths), held) for _, paths, held in jobs(tmp_path, False)] == [(1, None)] * 3
    (_, paths, held), = jobs(tmp_path, True)
    assert [path.name for path in paths] == ['a.csv', 'b.csv'] and held.name == 'verify.csv'
    (tmp_path / 'verify2.csv').touch()
    with pytest.raises(ArgumentError, match='2 recordings'):
        jobs(tmp_path, True)
