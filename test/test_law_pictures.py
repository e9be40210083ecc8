# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The pictures of the control laws in docs/laws/: one of each, and true."""

from pathlib import Path
import runpy

import pytest
from robodyn_ros.control.laws.registry import MODES

pytestmark = pytest.mark.slow

DOCS = Path(__file__).parents[1] / 'docs'


@pytest.mark.parametrize('law', [picture.stem for picture in (DOCS / 'laws').glob('*.svg')])
def test_each_picture_is_that_of_a_law_and_shown(law):
    assert law in MODES and f'{law}: ' in (DOCS / 'laws' / f'{law}.svg').read_text()
    assert f'[`{law}`](laws/{law}.svg)' in (DOCS / 'laws.md').read_text()


@pytest.mark.parametrize('law', MODES)
def test_each_law_is_on_the_page(law):
    assert f'`{law}`' in (DOCS / 'laws.md').read_text()


def test_a_picture_shows_what_it_says():
    """Four seconds of simulation: the motion under both laws."""
    pytest.importorskip('mujoco')
    pytest.importorskip('matplotlib')
    script = runpy.run_path(str(DOCS / 'law_pictures.py'))
    assert set(script['PICTURES']) == {path.stem for path in (DOCS / 'laws').glob('*.svg')}
    (_, with_model), (_, springs) = script['PICTURES']['computed_torque']().curves.values()
    assert 0.0 < with_model.max() < 0.02 * springs.max()
