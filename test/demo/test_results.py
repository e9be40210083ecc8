# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Tables, figures and pictures of the demo, its page, and its physics against MuJoCo."""

import sys
from types import SimpleNamespace

from cli.commands import done, refused
import numpy as np
import pytest
from rich.console import Console
from robodyn_ros.catalog.robots import load_robot
from robodyn_ros.cli.options import locked_joints
from robodyn_ros.demo import scene
from robodyn_ros.demo.results import (
    Check, draw, page, real_time_table, Results, tables, thousandths, Tracking)
from robodyn_ros.demo.run import viewer
from robodyn_ros.dynamics import Dynamics
from robodyn_ros.model.resources import robot_path
from robodyn_ros.model.urdf import load_urdf
from robodyn_ros.simulation.plant import Plant
from robodyn_ros.testing import mit_motors, States
from viewer.browser import check_report

pytestmark = pytest.mark.slow

MODES = ('pd', 'joint_impedance', 'computed_torque')


def tracking(mode, error):
    time = np.linspace(0.0, 4.0, 101)
    wave = np.outer(np.sin(time), [error, -error])
    return Tracking(mode, time, wave, 10 * wave, wave)


def printed(results, name='two_link', width=140):
    console = Console(width=width, record=True, file=open('/dev/null', 'w'))
    console.print(tables(load_urdf(robot_path(name)), results))
    return console.export_text()


def test_the_loop_in_real_time_is_reported_with_what_disturbs_it():
    def text(values, busy):
        console = Console(width=100, record=True, file=open('/dev/null', 'w'))
        console.print(real_time_table(values, busy))
        return console.export_text()
    found = text({'phase': 'RUNNING', 'rate [Hz]': '999.5', 'missed periods': '3',
                  'state to effort p50 [us]': '41.0', 'state to effort p99 [us]': '87.0'}, False)
    assert found.split()[-4:] == ['999.5', '3', '41.0', '87.0'] and 'busy' not in found
    found = text({'phase': 'FAULT', 'reason code': 'LOOP_STALLED'}, True)
    assert 'LOOP_STALLED' in found and 'measured while the machine was busy' in found


def test_figures_and_units():
    t = Tracking('pd', np.arange(2.0), np.array([[3.0, 0.0], [0.0, -4.0]]), *np.zeros((2, 2, 2)))
    assert t.rms == 2.5
    assert t.peak == 4.0
    results = Results(trackings=[tracking('pd', 0.01)])
    assert '[mrad]' in printed(results) and '[mrad | mm]' in printed(results, 'rp')


@pytest.mark.parametrize(('robot', 'width'), [('two_link', 140), ('two_link', 80), ('rp', 80)])
def test_tables_hold_every_mode_and_every_check(robot, width):
    results = Results([Check('a push of 12.3 N on wrist_3_link moves it', '0.123 rad | m',
                             '> 0.03 (expected 0.12)', True),
                       Check('it falls', '0', 'nothing', None),
                       Check('it flies', '0', '> 1', False)], 2e-4,
                      [tracking(mode, 0.01) for mode in MODES])
    text = printed(results, robot, width)
    lines = {line.split()[0]: line.split() for line in text.splitlines() if line.split()}
    assert lines['gravity_compensation'][1:] == ['0.2']
    assert lines['pd'][1:] == ['6.61', '10']
    assert {*MODES} <= lines.keys()
    assert text.count('passed') == text.count('FAILED') == text.count('not shown') == 1
    assert not results.passed and results.verdict.startswith('1 of 3 checks have failed: it flies')
    del results.checks[2]
    assert results.passed and results.verdict.startswith('1 of 2 checks have passed, the others')
    assert max(map(len, text.splitlines())) <= width


@pytest.mark.parametrize(('value', 'text'), [
    (6e-13, '< 0.001'), (0.0, '< 0.001'), (1e-6, '0.001'), (2.346e-3, '2.35')])
def test_a_distance_below_any_encoder_is_no_figure(value, text):
    assert thousandths(value) == text


def test_the_picture_is_drawn(tmp_path):
    path = tmp_path / 'two_link.png'
    draw(load_urdf(robot_path('two_link')), Results(
        trackings=[tracking(m, e) for m, e in zip(MODES, (1, .1, .01))]), path)
    assert path.read_bytes().startswith(b'\x89PNG')
    assert path.stat().st_size > 20_000
    text = robot_path('two_link').read_text().replace('"joint1"', r'"$\frac{$"')
    draw(load_urdf(text), Results(trackings=[tracking('pd', 1)]), tmp_path / 'odd.png')
    assert (tmp_path / 'odd.png').stat().st_size > 20_000


def test_the_report_begins_with_what_failed_and_fits_a_telephone(browser, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, 'viser', None)     # the moving robot takes its time
    checks = [Check('it moves', '0.1', '> 0.03', True), Check('it flies', '0', '> 1', False)]
    results = Results(checks, trackings=[tracking(m, e) for m, e in zip(MODES, (1, .1, .01))])
    model = load_urdf(robot_path('two_link'))
    page(model, robot_path('two_link'), results, [tables(model, results)], {
        'controller': {'mode': 'pd'}}).write(tmp_path / 'report.html')
    assert ('<p class="verdict bad">1 of 2 checks have failed: it flies: measured 0, required '
            '&gt; 1.</p>') in (tmp_path / 'report.html').read_text()
    check_report(browser, tmp_path / 'report.html', 2)


@pytest.mark.parametrize('by_path', [False, True])
def test_the_page_waits_for_the_joints_that_are_published(by_path):
    """The Panda's are those without its fingers, which are locked; one more would never come."""
    known = load_robot('panda', {}, [])
    locked = dict(zip(known.parameters['controller']['locked_joints'], (0.02, 0.01)))
    robot = load_robot(str(robot_path('panda')), locked, []) if by_path else known
    *_, name, live, first, second = viewer(robot)
    assert live == '--live'
    words = [word.removeprefix('--locked=') for word in (first, second)]
    shown = load_robot(name, locked_joints(words), [])
    assert shown.model.joint_names == known.model.joint_names


class Bench:
    """A robot of config/ and its plant."""

    def __init__(self, name, pose=()):
        self.robot = load_robot(name, {}, pose)
        p = self.robot.parameters['simulator']
        self.dynamics = Dynamics(self.robot.model)
        self.plant = Plant(self.robot.path.read_text(), model=self.robot.model,
                           locked=dict(zip(p.get('locked_joints', []),
                                           p.get('locked_positions', []))))
        self.plant.reset(self.robot.pose)

    def record(self, seconds, effort):
        """States while ``effort(q)`` acts."""
        states = [self.plant.state()]
        for _ in range(round(seconds / self.plant.period)):
            self.plant.step(effort(states[-1].position))
            states.append(self.plant.state())
        return States(*map(np.array, zip(*states)))


@pytest.fixture(params=['two_link', 'rp', 'panda'])
def bench(request):
    return Bench(request.param)


def test_nothing_holds_an_arm_that_falls(bench):
    fall = bench.record(0.2, lambda q: np.zeros(bench.robot.model.nv))
    assert scene.moved_by_gravity(bench.dynamics, bench.robot.pose)
    assert scene.held_share(bench.dynamics, fall) < 0.02


def test_how_much_of_an_arm_is_held():
    bench = Bench('panda')
    share = scene.held_share(bench.dynamics, bench.record(0.2, bench.dynamics.gravity))
    assert share == pytest.approx(1.0, abs=0.01)
    bench = Bench('ur5')
    falling = bench.record(0.2, lambda q: 0.5 * bench.dynamics.gravity(q))
    assert scene.held_share(bench.dynamics, falling) == pytest.approx(0.5, abs=0.05)


def test_an_arm_that_gravity_does_not_move_shows_no_floating():
    robot = load_robot('two_link', {}, [-np.pi / 2, 0.0])
    played = scene.Scene(robot, Dynamics(robot.model), SimpleNamespace(period=1e-3), None)
    for drift, pose in ((0.0, robot.pose), (2.0, robot.pose), (0.0, robot.pose + 0.1)):
        played.below('drift', drift, 1e-3, 'rad', pose)
    assert [check.passed for check in played.results.checks] == [None, False, True]
    assert 'gravity moves no joint' in played.results.checks[0].required


def test_a_push_moves_the_arm_as_far_as_expected(bench):
    c = scene.damping(bench.dynamics, bench.robot.pose)
    push = scene.push(bench.dynamics, bench.robot.pose, c, 0.5)
    assert 0.05 < np.abs(push.displacement).max() < 0.21
    bench.plant.joint_damping = c
    bench.plant.push(push.link, push.force, 0.5)
    states = bench.record(3.0, bench.dynamics.gravity)
    moved = np.abs(states.position[-1] - states.position[0]).max()
    # Friction acts a little longer than the force does
    assert moved == pytest.approx(np.abs(push.displacement).max(), rel=0.35)
    assert np.abs(states.velocity[-1]).max() < 1e-3


def test_pushes_move_arms_as_expected(tmp_path):
    # The last link turns back by what its carrier turns: it keeps its direction
    path = tmp_path / 'level.urdf'
    path.write_text(robot_path('two_link').read_text().replace(
        '<child link="link2"/>', '<child link="link2"/><mimic joint="joint1" multiplier="-1" '
        'offset="-1.3"/>'))
    bench = Bench(str(path), [1.3])
    assert bench.robot.model.joint_names == ('joint1',)
    c = scene.damping(bench.dynamics, bench.robot.pose)
    push = scene.push(bench.dynamics, bench.robot.pose, c, 0.5)
    assert push.link == 'link2' and 0.05 < abs(push.displacement[0]) < 0.21
    bench.plant.joint_damping = c
    bench.plant.push(push.link, push.force, 0.5)
    states = bench.record(3.0, bench.dynamics.gravity)
    moved = states.position[-1] - states.position[0]
    assert moved == pytest.approx(push.displacement, rel=0.15)
    # The last link slides by 1 cm, and the push would end there
    path = tmp_path / 'finger.urdf'
    path.write_text(robot_path('two_link').read_text().replace('</robot>', """
      <link name="finger"><inertial><mass value="0.05"/><inertia ixx="1e-5" iyy="1e-5" izz="1e-5"
        ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="grip" type="prismatic"><parent link="link2"/><child link="finger"/>
        <axis xyz="0 1 0"/><limit lower="-0.005" upper="0.005" effort="9" velocity="1"/></joint>
    </robot>"""))
    robot = load_robot(str(path), {}, [])
    dynamics = Dynamics(robot.model)
    push = scene.push(dynamics, robot.pose, scene.damping(dynamics, robot.pose), 0.5)
    assert push.link != 'finger' and np.abs(push.displacement).max() >= 0.05


def test_friction_bounds_what_computed_torque_can_gain(tmp_path):
    robot = load_robot('two_link', {}, [])
    reference = np.array([[robot.pose, [0.1, 0.2], [1.0, 2.0]]])
    assert scene.best_ratio(Dynamics(robot.model), reference, np.zeros((1, 2))) == np.inf
    rubbing = tmp_path / 'rubbing.urdf'
    rubbing.write_text(robot_path('two_link').read_text().replace('friction="0"',
                                                                  'friction="0.5"'))
    robot = load_robot(str(rubbing), {}, [0.4, 0.9])
    dynamics = Dynamics(robot.model)
    reference = np.array([[robot.pose, [1e-6, -1e-6], [0.0, 0.0]]])
    g, inertia = dynamics.gravity(robot.pose), dynamics.mass_matrix(robot.pose).diagonal()
    friction = np.array([0.5, -0.5])
    expected = np.linalg.norm((g + friction) / inertia) / np.linalg.norm(friction / inertia)
    assert scene.best_ratio(dynamics, reference, np.zeros((1, 2))) == pytest.approx(expected)
    # A law that knows all there is to know leaves as much to feedback
    assert scene.best_ratio(dynamics, reference, g[None]) == pytest.approx(1.0)


STEPS = ('motors on the bus', 'differ from registers', 'off g(q) by', 'drift', 'pushed', 'follows',
         'is lowered', 'on at the end')


def test_all_steps_of_an_arm_on_a_bus_pass(tmp_path, monkeypatch):
    pytest.importorskip('matplotlib')
    monkeypatch.setattr(mit_motors, 'STEP', 1e-3)       # as exact as its springs need
    shown = done('demo', '--arm', 'yam', '-o', tmp_path).output
    assert shown.count('passed') == len(STEPS) and 'FAILED' not in shown
    assert all(step in shown for step in STEPS)
    assert (tmp_path / 'yam_bus.png').stat().st_size > 10_000
    assert 'YAM on a bus' in (tmp_path / 'yam_bus.html').read_text()


def test_an_arm_on_a_bus_of_other_joints(tmp_path):
    pytest.importorskip('matplotlib')
    assert 'openarm_right_joint1' in refused('demo', '--arm', 'openarm_right', '-o', tmp_path)
