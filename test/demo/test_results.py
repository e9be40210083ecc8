# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Tables, figures and pictures of the demo, and its page."""

import numpy as np
import pytest
from rich.console import Console
from robodyn_ros.catalog.robots import load_robot
from robodyn_ros.cli.options import locked_joints
from robodyn_ros.demo.results import (
    Check,
    draw,
    real_time_table,
    Results,
    tables,
    thousandths,
    Tracking,
)
from robodyn_ros.demo.run import viewer
from robodyn_ros.model.resources import robot_path
from robodyn_ros.model.urdf import load_urdf

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
                       Check('it flies', '0', '> 1', False)], 2e-4,
                      [tracking(mode, 0.01) for mode in MODES])
    text = printed(results, robot, width)
    lines = {line.split()[0]: line.split() for line in text.splitlines() if line.split()}
    assert lines['gravity_compensation'][1:] == ['0.2']
    assert lines['pd'][1:] == ['6.61', '10']
    assert {*MODES} <= lines.keys()
    assert text.count('passed') == text.count('FAILED') == 1 and not results.passed
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
