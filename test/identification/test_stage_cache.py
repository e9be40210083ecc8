# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Stages that are kept: found again for the same content, and for no other."""

from dataclasses import replace
from pathlib import Path

from exciting import motion
import numpy as np
import pytest
from robodyn_ros import load_urdf
from robodyn_ros.identification import ParameterSelection
from robodyn_ros.identification import stage_cache as cache
from robodyn_ros.model.shapes import Shape

pytestmark = pytest.mark.slow


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return an empty cache."""
    monkeypatch.setenv(cache.VARIABLE, '1')
    monkeypatch.setattr(cache, 'cache_directory', lambda: tmp_path)
    return tmp_path


def test_content_decides(folder, planar):
    given, calls = motion(planar, 50), []

    def kept(*inputs):
        return cache.remembered('stage', inputs, lambda: calls.append(0) or len(calls))
    assert kept(given, planar, ParameterSelection()) == 1
    same = replace(given, effort=given.effort.copy())
    assert kept(same, load_urdf(planar.to_urdf()), ParameterSelection()) == 1
    effort = given.effort.copy()
    effort[7, 1] += 1e-12
    assert kept(replace(given, effort=effort), planar, ParameterSelection()) == 2
    assert kept(given, planar, ParameterSelection(static=True)) == 3
    assert cache.remembered('other', (given,), lambda: 4) == 4


def test_a_damaged_file_is_computed_again(folder):
    assert cache.remembered('stage', (1, 'a', None), lambda: 'first') == 'first'
    file, = (folder / cache.FOLDER).iterdir()
    file.write_bytes(file.read_bytes()[:10])
    assert cache.remembered('stage', (1, 'a', None), lambda: 'second') == 'second'
    with pytest.raises(TypeError):
        cache.digest(np.random.default_rng())


def test_a_model_with_meshes_has_a_digest(planar):
    shape = Shape('link1', 'mesh', (1.0, 1.0, 1.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    found = [cache.digest(replace(planar, shapes=(shape._replace(mesh=Path(name)),)))
             for name in ('a.stl', 'a.stl', 'b.stl')]
    assert found[0] == found[1] != found[2]


def test_nothing_is_kept_unasked(folder, monkeypatch):
    monkeypatch.setenv(cache.VARIABLE, '0')
    assert [cache.remembered('stage', (), lambda k=k: k) for k in (1, 2)] == [1, 2]
    assert not (folder / cache.FOLDER).exists()
