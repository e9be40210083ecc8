# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Several recordings, and benchmarks of folders of them."""

from dataclasses import replace
from io import StringIO
import sys

from benchmarks.identification import jobs, main, WORDS
from cli.commands import done, refused, robodyn
from motions import motion, nominal, OFFSET, QUICK, real, write_csv
import numpy as np
import pytest
from rich.console import Console
from robodyn_ros.errors import ArgumentError, IdentificationError, RecordingError
from robodyn_ros.identification.options import PreparationOptions
from robodyn_ros.identification.pipeline import identify_parts
from robodyn_ros.identification.recorded_motion import (
    checked_motion, checked_motions, CheckedMotion, joined, parts_of, PICTURE_PAUSE, Source)
from robodyn_ros.identification.recordings.read import read
from robodyn_ros.identification.result import of_model, validate
import yaml

pytestmark = pytest.mark.slow

MODEL = nominal()


@pytest.fixture(scope='module')
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp('several')
    return [write_csv(folder / f'{name}.csv', real(), seed, 8.0)
            for seed, name in enumerate(('a', 'b', 'c'), 1)]


def test_pieces_that_are_joined_are_the_whole(planar):
    whole, cuts = motion(planar, 300), (0, 100, 150, 300)
    pieces = joined([whole.part(a, b) for a, b in zip(cuts, cuts[1:])])
    for name in ('position', 'velocity', 'acceleration', 'effort'):
        np.testing.assert_array_equal(getattr(pieces, name), getattr(whole, name))
    assert pieces.segments == tuple(zip(cuts, cuts[1:]))
    assert np.diff(pieces.time).min() > 0
    assert np.diff(pieces.time)[cuts[1] - 1] == pytest.approx(PICTURE_PAUSE)


@pytest.mark.parametrize('change', [{'rate': 10.0}, {'cutoff': 3.0}, {'effort_unit': 'A'}])
def test_motions_that_differ_are_not_joined(planar, change):
    one = motion(planar, 100)
    with pytest.raises(IdentificationError, match=next(iter(change))):
        joined([one, replace(one, **change)])


def test_of_each_motion_a_share_is_fitted(planar):
    checked = [CheckedMotion(motion(planar, count, seed=count), (f'note {count}',), ())
               for count in (100, 200)]
    parts = parts_of(checked, 0.6)
    assert (len(parts.train), len(parts.test)) == (180, 120)
    np.testing.assert_array_equal(parts.train.effort[60:], checked[1].motion.effort[:120])
    assert parts.notes[:2] == ('note 100', 'note 200')
    parts = parts_of(checked[:1], 0.6, checked[1])
    np.testing.assert_array_equal(parts.train.effort, checked[0].motion.effort)
    np.testing.assert_array_equal(parts.test.effort, checked[1].motion.effort)
    assert parts.test.time[0] > parts.train.time[-1]


def test_two_motions_tell_what_one_alone_does_not(planar):
    """Each joint moves in one recording only."""
    still = [motion(planar, 300, seed=seed) for seed in (1, 2)]
    for k, each in enumerate(still):
        for name in ('velocity', 'acceleration'):
            getattr(each, name)[:, k] = 0.0
        each.position[:, k] = 0.3
    moved = [replace(each, effort=of_model(real(), each).predicted) for each in still]
    parts = parts_of([CheckedMotion(each, (), ()) for each in moved], 0.7,
                     CheckedMotion(motion(real(), 100, seed=3), (), ()))
    found = identify_parts(parts, MODEL, replace(QUICK, armature=False)).estimate
    np.testing.assert_allclose(found.of_joints('viscous'), real().viscous_friction, atol=1e-6)
    np.testing.assert_allclose(found.of_joints('Coulomb'), real().coulomb_friction, atol=1e-6)


def test_rate_and_filter_are_common_to_all(files):
    recordings = [read(file, MODEL) for file in files[:2]]
    slow = recordings[1]
    every = {name: getattr(slow, name)[::2] for name in ('time', 'position', 'effort')}
    recordings[1] = replace(slow, **every)
    alone = [checked_motion(recording, MODEL).motion for recording in recordings]
    assert alone[0].rate == pytest.approx(2 * alone[1].rate)
    found = [of.motion for of in checked_motions(recordings, MODEL, PreparationOptions(), True)]
    assert found[0].rate == found[1].rate == alone[1].rate
    assert found[0].cutoff == found[1].cutoff
    asked = checked_motions(recordings, MODEL, PreparationOptions(rate=20.0, cutoff=4.0), True)
    assert {of.motion.cutoff for of in asked} == {4.0}
    assert {of.motion.rate for of in asked} == {20.0}


def test_an_error_names_the_recording_it_is_about(files):
    good, bad = (read(file, MODEL) for file in files[:2])
    bad = replace(bad, effort=-bad.effort)
    with pytest.raises(RecordingError) as alone:
        checked_motion(bad, MODEL)
    with pytest.raises(RecordingError) as found:
        checked_motions([good, bad], MODEL, PreparationOptions(), True)
    assert str(found.value) == f'b.csv: {alone.value}'


def test_two_recordings_and_a_third_that_verifies(files, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, 'viser', None)     # no picture in the report
    said = done('identify', *files[:2], '--validate', files[2], '--robot', 'two_link', '--delay',
                0, '--no-tilt', '--presliding', 'none', '--output', tmp_path, '--verbose').output
    assert 'a.csv: ' in said and 'of the verification' in said
    values = yaml.safe_load((tmp_path / 'friction.yaml').read_text())
    values = values['/**/controller']['ros__parameters']
    np.testing.assert_allclose(values['friction_offset'], OFFSET, atol=0.1)
    np.testing.assert_allclose(values['coulomb_friction'], real().coulomb_friction, atol=0.1)
    text = (tmp_path / 'report.html').read_text()
    assert 'a.csv, b.csv' in text and 'verified with c.csv' in text


def test_recordings_that_do_not_go_together_are_refused(files):
    with pytest.raises(ArgumentError, match=r'a\.csv is given twice'):
        Source((files[0], files[0]), MODEL, '')
    with pytest.raises(ArgumentError, match='verify'):
        Source(tuple(files[:2]), MODEL, '', verification=files[1])
    assert 'takes one recording' in refused('identify', *files[:2], '--robot', 'two_link',
                                            '--payload', '--frame', 'link2')


def test_slow_samples_and_moving_joints(planar, files):
    given = motion(planar, 400)
    slow = abs(given.velocity) < 0.5
    wrong = np.where(slow, given.effort + 1.0, given.effort)
    assert (validate(given, wrong).rms > 0.0).all()
    fast = validate(given, wrong, 0.5)
    np.testing.assert_allclose(fast.rms, 0.0, atol=1e-12)
    np.testing.assert_allclose(fast.relative, 0.0, atol=1e-12)
    with pytest.raises(IdentificationError, match='too short a time'):
        validate(given, wrong, 100.0)
    words = 'identify', '--validate', files[2], '--robot', 'two_link'
    every, fast = (done(*words, *more).output.split('mean relative RMS')[1]
                   for more in ([], ['--moving', 0.2]))
    assert every != fast
    assert '--moving 0.01' in robodyn(*words, '--moving', 100).output


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
