# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Page of `robodyn view`, where viser is installed, and a browser shows it."""

import re
from contextlib import closing

import numpy as np
import pytest

from robodyn_ros import load_urdf
from robodyn_ros.model.resources import share_path
from viewer.browser import browsing, needs_browser, wait_for

pytest.importorskip('viser', reason='needs pip install viser')
URDF = share_path('urdf', 'two_link.urdf')


@pytest.fixture
def page():
    from robodyn_ros.viewer.page import Page

    with closing(Page(load_urdf(URDF), URDF, np.array([0.3, 0.5]), port=18080)) as page:
        yield page


def test_sliders_move_the_arm_and_its_torques(page):
    assert set(page.shown) == {'base_link', 'link1', 'link2'} and not page.notes
    assert '16.79' in page.table.content and '2.73' in page.table.content
    page.go(np.array([np.pi / 2, 0.0]))
    assert page.table.content.count('>0.00<') == 2
    links = page._links['tool0']
    assert links.position == pytest.approx([0.0, 0.0, 0.9], abs=1e-3)


def test_names_with_a_slash_and_joints_that_cannot_move(tmp_path):
    from robodyn_ros.viewer.page import Page

    path = tmp_path / 'arm.urdf'
    path.write_text(URDF.read_text().replace('"link1"', '"base_link/0"').replace(
        'lower="-3.1416" upper="3.1416"', 'lower="0.5" upper="0.5"'))
    with closing(Page(load_urdf(path), path, np.array([0.5, 0.5]), port=18080)) as page:
        assert page.position == pytest.approx([0.5, 0.5])
        assert {name.count('/') for name in (one.name for one in page._links.values())} == {2}


def test_live_poses_are_drawn_where_they_are_and_problems_are_told():
    from robodyn_ros.viewer.page import Page

    with closing(Page(load_urdf(URDF), URDF, np.zeros(2), port=18080, live=True)) as page:
        page.show(np.array([np.pi, 0.0]) + 0.1)         # beyond the limits, as it is
        assert page._links['tool0'].position[0] < -0.8
        page.report([('FAULT: <stale>', True), ('fine', False)])
        assert 'color:#c8283c">FAULT: &lt;stale&gt;' in page.status.content


def test_only_this_machine_sees_it(page):
    assert page.address.startswith('http://127.0.0.1:')
    assert page.server.get_host() == '127.0.0.1'


def test_an_unreadable_mesh_becomes_a_rod_and_a_note(tmp_path):
    from robodyn_ros.viewer.page import Page

    (tmp_path / 'broken.stl').write_bytes(b'solid nothing\nfacet')
    path = tmp_path / 'arm.urdf'
    path.write_text(re.sub('<sphere [^>]*/>', '<mesh filename="broken.stl"/>', URDF.read_text()))
    with closing(Page(load_urdf(path), path, np.zeros(2), port=18080)) as page:
        assert page.notes and 'broken.stl' in page.notes[0]


@needs_browser
def test_a_browser_shows_joints_and_torques(page):
    """Takes 5 to 10 s: Chromium starts, and draws the scene in software."""
    with browsing() as browser, browser.tab(page.address) as tab:
        assert wait_for(lambda: 'joint1 [rad]' in tab.text() and '16.79' in tab.text()
                        and 'of 80 N·m' in tab.text())
