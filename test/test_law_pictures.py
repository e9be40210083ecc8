# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The pictures of the control laws in docs/laws/: one of each, and true."""

from pathlib import Path
import runpy

import pytest
from robodyn_ros.control.laws.registry import BUILT_IN

pytestmark = pytest.mark.slow

DOCS = Path(__file__).parents[1] / 'docs'


@pytest.mark.parametrize('law', [law.name for law in BUILT_IN])
def test_each_law_has_a_picture_that_the_page_shows(law):
    assert f'{law}: ' in (DOCS / 'laws' / f'{law}.svg').read_text()
    assert f'[`{law}`](laws/{law}.svg)' in (DOCS / 'laws.md').read_text()


def test_a_picture_shows_what_it_says():
    """Four seconds of simulation: the motion under both laws."""
    pytest.importorskip('mujoco')
    pytest.importorskip('matplotlib')
    script = runpy.run_path(str(DOCS / 'law_pictures.py'))
    assert set(script['PICTURES']) == {law.name for law in BUILT_IN}
    (_, with_model), (_, springs) = script['PICTURES']['computed_torque']().curves.values()
    assert 0.0 < with_model.max() < 0.02 * springs.max()
