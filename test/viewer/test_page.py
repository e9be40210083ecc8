# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Page of `robodyn view`, where viser is installed, and a browser shows it."""

from contextlib import closing, ExitStack
import re

from cli.commands import changed
import numpy as np
import pytest
from robodyn_ros import load_urdf
from robodyn_ros.model.resources import robot_path, share_path
from robodyn_ros.viewer.quantities import homogeneous
from scipy.spatial.transform import Rotation
from viewer.browser import browsing, needs_browser, wait_for

pytest.importorskip('viser', reason='needs pip install viser')
URDF = share_path('urdf', 'two_link.urdf')
page_module = pytest.importorskip('robodyn_ros.viewer.page')


@pytest.fixture
def opened():
    """Return what opens a page of a URDF at a pose, live without shapes or with sliders."""
    with ExitStack() as stack:
        yield lambda urdf, q, live=False: stack.enter_context(closing(page_module.Page(
            load_urdf(urdf), None if live else urdf, np.array(q), port=18080, live=live)))


@pytest.fixture
def page(opened):
    return opened(URDF, [0.3, 0.5])


def drawn_position(page, link):
    """Return where a link is drawn (3,) [m]: poses of its node and of those that it is in."""
    handles = {one.name: one for one in (*page.robot.bodies, *page.robot.links.values())}
    T, name = np.eye(4), page.robot.links[link].name
    while name in handles:
        w, x, y, z = handles[name].wxyz
        T = homogeneous(Rotation.from_quat([x, y, z, w]).as_matrix(),
                        handles[name].position) @ T
        name = name.rpartition('/')[0]
    return T[:3, 3]


def test_sliders_move_the_arm_and_its_torques(page):
    assert set(page.robot.shown) == {'base_link', 'link1', 'link2'} and not page.notes
    assert '16.79' in page.table.content and '2.73' in page.table.content
    page.go(np.array([np.pi / 2, 0.0]))
    assert page.table.content.count('>0.00<') == 2
    assert drawn_position(page, 'tool0') == pytest.approx([0.0, 0.0, 0.9], abs=1e-3)


@pytest.mark.parametrize('name', ['arm6', 'rp'])
def test_every_link_is_drawn_where_the_kinematics_have_it(name, opened):
    model = load_urdf(robot_path(name))
    page = opened(robot_path(name), np.full(model.nv, 0.3), live=True)
    for q in np.random.default_rng(3).uniform(0.1, 1.0, (5, model.nv)):
        poses = page.show(q)
        for link in model.frame_names:
            assert drawn_position(page, link) == pytest.approx(poses[link][:3, 3], abs=1e-4)


def test_a_picture_is_few_messages(opened):
    """One for each joint and one for the center of mass; a live page sends many pictures."""
    page = opened(robot_path('arm6'), np.full(6, 0.1), live=True)
    page.show(np.full(6, 0.2))
    buffer = page.server._websock_server.get_message_buffer()
    before = buffer.message_counter
    with page.server.atomic():
        page.show(np.full(6, 0.3))
    assert 0 < buffer.message_counter - before <= 6 + 1


def test_names_with_a_slash_and_joints_that_cannot_move(tmp_path, opened):
    path = changed(tmp_path, ('"link1"', '"base_link/0"'), (
        'lower="-3.1416" upper="3.1416"', 'lower="0.5" upper="0.5"'))
    page = opened(path, [0.5, 0.5])
    assert page.position == pytest.approx([0.5, 0.5])
    handles = [*page.robot.bodies, *page.robot.links.values(), *page.robot.frames.values()]
    assert len({one.name for one in handles}) == len(handles)
    assert drawn_position(page, 'tool0') == pytest.approx(
        page.show(np.full(2, 0.5))['tool0'][:3, 3], abs=1e-4)


def test_live_poses_are_drawn_where_they_are_and_problems_are_told(opened):
    page = opened(URDF, [0.0, 0.0], live=True)
    page.show(np.array([np.pi, 0.0]) + 0.1)         # beyond the limits, as it is
    assert drawn_position(page, 'tool0')[0] < -0.8
    page.report([('FAULT: <stale>', True), ('fine', False)])
    assert 'color:#c8283c">FAULT: &lt;stale&gt;' in page.status.content


def test_only_this_machine_sees_it(page):
    assert page.address.startswith('http://127.0.0.1:')
    assert page.server.get_host() == '127.0.0.1'


def test_an_unreadable_mesh_becomes_a_rod_and_a_note(tmp_path, opened):
    (tmp_path / 'broken.stl').write_bytes(b'solid nothing\nfacet')
    path = tmp_path / 'arm.urdf'
    path.write_text(re.sub('<sphere [^>]*/>', '<mesh filename="broken.stl"/>', URDF.read_text()))
    assert 'broken.stl' in opened(path, [0.0, 0.0]).notes[0]


@needs_browser
def test_a_browser_shows_joints_and_torques(page):
    """Takes 5 to 10 s: Chromium starts, and draws the scene in software."""
    with browsing() as browser, browser.tab(page.address) as tab:
        assert wait_for(lambda: 'joint1 [rad]' in tab.text() and '16.79' in tab.text()
                        and 'of 80 N·m' in tab.text())
