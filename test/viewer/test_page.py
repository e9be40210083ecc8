# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Pages of the viewer: the robot that is drawn, and the control of a controller."""

import asyncio
from contextlib import closing, ExitStack
import re
import sys
from types import SimpleNamespace

from cli.commands import changed
import numpy as np
from processes import node
import pytest
from robodyn_ros import Dynamics, load_urdf
from robodyn_ros.catalog.robots import load_robot
from robodyn_ros.errors import ParameterError
from robodyn_ros.model.resources import robot_path, share_path
from robodyn_ros.viewer.control_panel import force_of, Holder, MAX_PUSH_DURATION
from robodyn_ros.viewer.quantities import FIELD_OF_VIEW, homogeneous, view_of
from robodyn_ros.viewer.wishes import Command, Push, Target, Wishes
from scipy.spatial.transform import Rotation
from viewer.browser import wait_for

pytest.importorskip('viser', reason='needs pip install viser')
URDF = share_path('urdf', 'two_link.urdf')
page_module = pytest.importorskip('robodyn_ros.viewer.page')
control_panel = pytest.importorskip('robodyn_ros.viewer.control_panel')


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
        T = homogeneous(Rotation.from_quat([x, y, z, w]).as_matrix(), handles[name].position) @ T
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


def test_a_browser_shows_joints_and_torques(page, browser):
    with browser.tab(page.address) as tab:
        assert wait_for(lambda: 'joint1 [rad]' in tab.text() and '16.79' in tab.text()
                        and 'of 80 N·m' in tab.text())


VIEW = [sys.executable, '-m', 'robodyn_ros.cli', 'view', 'two_link', '--live', '--no-browser',
        '--port', '18090']
# The simulator is no faster than the page, which takes a processor
SIMULATED = ['-p', 'urdf:=two_link', '-p', 'initial_position:=[-1.5708, 0.0]', '-p',
             'lockstep:=true', '-p', 'publish_clock:=true', '-p', 'command_timeout:=5.0', '-p',
             'rate:=100.0', '-p', 'real_time_factor:=1.0']
CONTROLLER = ['-p', 'urdf:=two_link', '-p', 'use_sim_time:=true', '-p', 'trigger:=state', '-p',
              'autostart:=true', '-p', 'robot_compensates_gravity:=false', '-p',
              'task_frame:=tool0', '-p', 'flight_recorder:=0.0', '-p', 'state_timeout:=1.0', '-p',
              'rate:=100.0']
PULL = 72               # pixels to the right


def pixel(point, points, width, height):
    """Return where a point is in a new tab [pixels], of a view of the points at the start."""
    position, target = view_of(points, width / height)
    ahead = (target - position) / np.linalg.norm(target - position)
    right = np.cross(ahead, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    x, y, depth = ((point - position) @ axis for axis in (right, np.cross(right, ahead), ahead))
    scale = height / 2 / np.tan(FIELD_OF_VIEW / 2) / depth
    return round(width / 2 + scale * x), round(height / 2 - scale * y)


def frames(q):
    """Return the origins of the frames of the arm by name."""
    dynamics, names = Dynamics(load_urdf(URDF)), load_urdf(URDF).frame_names
    return {name: dynamics.pose(np.array(q), name)[:3, 3] for name in names}


def shows_the_pull(picture, link):
    """Return whether an orange line goes from the link to the mouse."""
    strip = picture[link[1] - 10:link[1] + 10, link[0] + 10:link[0] + PULL - 10].astype(int)
    return np.mean((strip[..., 0] - strip[..., 2] > 20).any(axis=0)) > 0.8


def test_one_tab_drags_at_a_time():
    holder = Holder()
    assert holder.grab(1, 'link1', 0.0) and not holder.grab(2, 'link2', 1.0)
    assert holder.holds(1, 'link1', 2.0) and not holder.holds(2, 'link1', 2.0)
    assert holder.release(2) == '' and holder.release(1) == 'link1' and holder.release(1) == ''
    assert not holder.holds(1, 'link1', 3.0)                # what comes after the end is nothing
    assert holder.grab(2, 'link2', 3.0) and not holder.too_long(3.0 + MAX_PUSH_DURATION)
    assert holder.too_long(3.1 + MAX_PUSH_DURATION)
    # the other has been silent for long
    assert holder.grab(1, 'link1', 3.1 + MAX_PUSH_DURATION)


@pytest.fixture
def panel(opened):
    """Return a control panel, with a function by which a tab drags a link."""
    shown = control_panel.ControlPanel(opened(URDF, [0.3, 0.5], live=True), ['pd'], True)

    def drag(tab, phase):
        asyncio.run(shown._drag('link1', SimpleNamespace(
            client_id=tab, phase=phase, start_position=np.zeros(3), end_position=np.ones(3))))
    return shown, drag


def test_a_push_ends_with_its_drag_whatever_another_tab_does(panel):
    shown, drag = panel
    drag(1, 'start')
    assert shown.take()[-1].force.any()
    shown._use_target()         # the checkbox of another tab
    drag(1, 'end')
    assert not shown.take()[-1].force.any() and shown.take() == []


def test_an_arm_whose_joint_states_are_missing_or_old_is_not_moved(panel):
    shown, _ = panel
    shown._go()
    assert shown.take() == [] and 'no joint states' in shown._log.content
    shown.follow(np.array([0.1, 0.2]), {})
    shown._go()
    assert [one.start.tolist() for one in shown.take()] == [[0.1, 0.2]]
    shown.follow(None, {})
    shown._go()
    assert shown.take() == []


def test_a_pull_is_a_spring_with_a_limit():
    assert force_of([0, 0, 0], [0.1, 0, 0], 30.0).tolist() == [20.0, 0.0, 0.0]
    assert np.linalg.norm(force_of([0, 0, 0], [3.0, 4.0, 0], 30.0)) == pytest.approx(30.0)
    assert not force_of([0, 0, 0], [np.nan, 0, 0], 30.0).any()
    assert not force_of([0, 0, 0], [np.inf, 0, 0], 30.0).any()


def test_the_newest_of_consecutive_targets_and_pushes_counts():
    wishes = Wishes()
    for x in range(3):
        wishes.add(Target(np.full(3, float(x)), np.zeros(4)))
    wishes.add(Command.ARM)
    for link in ('a', 'a', 'b'):
        wishes.add(Push(link, np.ones(3)))
    kinds = [type(one).__name__ for one in wishes.take()]
    assert kinds == ['Target', 'Command', 'Push', 'Push'] and wishes.take() == []


@pytest.mark.parametrize('stop', [Command.STOP, Command.EMERGENCY_STOP])
def test_a_stop_comes_first_and_nothing_arms_after_it(stop):
    """While the program hangs, a person may have asked for both."""
    wishes, push = Wishes(), Push('a', np.zeros(3))
    for wish in (push, Command.ARM, stop):
        wishes.add(wish)
    assert wishes.take() == [stop, push]


def test_texts_become_values_or_are_refused_with_a_reason():
    pytest.importorskip('rclpy', reason='needs ROS')
    from robodyn_ros.nodes.clients.running_controller import PARAMETERS, parsed, written

    assert parsed(PARAMETERS['stiffness'], '400, 1e2') == [400.0, 100.0]
    assert parsed(PARAMETERS['payload_mass'], ' 1.5 ') == 1.5
    assert parsed(PARAMETERS['velocity_limit'], '[]') == []
    assert written([400.0, 100.0]) == '400, 100' and written(0.25) == '0.25'
    for name, text in (('stiffness', '1, x'), ('stiffness', ''), ('payload_mass', 'nan'),
                       ('payload_mass', '-5'), ('mode', 'no_such'), ('stiffness', '1, inf')):
        with pytest.raises(ParameterError, match=name):
            parsed(PARAMETERS[name], text)


def test_a_browser_changes_pushes_and_is_refused(start, browser):
    """
    Refusals with their reasons, stop and start, a push from the page, and its end with the tab.

    Takes many seconds of a processor: two nodes, the page, a browser that draws in software.
    """
    pytest.importorskip('rclpy', reason='needs ROS')
    from geometry_msgs.msg import WrenchStamped
    from robodyn_ros.nodes.middleware.client_session import session

    simulator = start(node('simulator'), '--ros-args', *SIMULATED)
    simulator.wait_for_line('simulator ready')
    start(node('controller'), '--ros-args', *CONTROLLER).wait_for_line('configured')
    page = start([*VIEW, '--allow-control'])
    address = page.wait_for_line(r'(http://127.0.0.1:\S+)').group(1)
    pushes = []
    with session('test_pushes') as here:
        here.node.create_subscription(WrenchStamped, '/simulator/push', pushes.append, 100)

        def pushed(condition):
            assert here.until(lambda: pushes and condition(pushes[-1].wrench.force), 150.0)

        with browser.tab(address) as tab:
            assert wait_for(lambda: 'control loop: ' in tab.text())
            tab.draw_rarely()
            tab.click('payload', lambda: tab.has_input('0, 0, 0'))
            tab.type_into('0, 0, 0', '0, 0, 1, 2')
            tab.click('set payload', lambda: re.search('refused: .*payload_com', tab.text()))
            wait_for(lambda: tab.has_input('0, 0, 0'))  # what is in force is shown again
            tab.click('move the arm', lambda: 'follows no reference' in tab.text())
            tab.click('STOP', lambda: 'control loop: not active' in tab.text())
            simulator.wait_for_line('brakes engaged: no command')
            # arming waits for motors that move: the page releases the brakes
            tab.click('arm', lambda: 'control loop: RUNNING' in tab.text())
            seen = tab.picture()
            assert len(np.unique(seen.reshape(-1, 3), axis=0)) > 100    # a scene, no blank
            now, start_pose = frames([-np.pi / 2, 0.0]), load_robot('two_link', {}, []).pose
            link = pixel(0.5 * now['link1'] + 0.5 * now['link2'],
                         np.array([*frames(start_pose).values()]),
                         *tab.run('[innerWidth, innerHeight]'))
            assert not shows_the_pull(seen, link)

            def pulls():            # a page that is drawn late may miss the button
                tab.mouse('mouseReleased', *link)
                tab.drag(link, (link[0] + PULL, link[1]))
                return shows_the_pull(tab.picture(), link)
            assert wait_for(pulls)
            pushed(lambda f: np.hypot(f.x, f.y) > max(1.0, 10 * abs(f.z)))      # horizontal
            assert pushes[-1].header.frame_id == 'link1'
        pushed(lambda f: f.x == f.y == f.z == 0.0)      # its tab is closed
        count = len(pushes)
        here.until(lambda: False, 1.0)
        assert len(pushes) == count
