# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from rich.console import Console
from robodyn_ros.demo.conductor import Diagnosis
from robodyn_ros.demo.picture import draw
from robodyn_ros.demo.report import tables
from robodyn_ros.demo.results import Check, Floating, Loop, Results, thousandths, Tracking
from robodyn_ros.model.resources import robot_path
from robodyn_ros.model.urdf import load_urdf

pytestmark = pytest.mark.slow

MODES = ('pd', 'joint_impedance', 'computed_torque')


def tracking(mode, error):
    time = np.linspace(0.0, 4.0, 101)
    wave = np.outer(np.sin(time), [error, -error])
    return Tracking(mode, time, wave, 10 * wave, Loop(999.5, 3, 1, 0.001), wave)


def printed(results, name='two_link', width=140):
    console = Console(width=width, record=True, file=open('/dev/null', 'w'))
    console.print(tables(load_urdf(robot_path(name)), results))
    return console.export_text()


def test_the_loop_is_judged_between_two_reports():
    first = Diagnosis(10.0, '', 'RUNNING', '', 'NO_REASON', 1000, 5, 2)
    last = Diagnosis(14.0, '', 'RUNNING', '', 'NO_REASON', 4900, 105, 2)
    assert Loop.between(first, last) == Loop(975.0, 100, 0, 0.025)


def test_rms_and_peak_are_over_time_and_joints():
    t = Tracking('pd', np.arange(2.0), np.array([[3.0, 0.0], [0.0, -4.0]]), np.zeros((2, 2)),
                 Loop(1.0, 0, 0, 0.0), np.zeros((2, 2)))
    assert t.rms == 2.5
    assert t.peak == 4.0


def test_tables_hold_every_mode_and_every_check():
    results = Results(Floating(2e-4, Loop(1000.0, 0, 0, 0.0)),
                      [tracking(mode, 0.01) for mode in MODES],
                      [Check('it floats', '0.2', '< 1', True),
                       Check('it flies', '0', '> 1', False)])
    text = printed(results)
    lines = {line.split()[0]: line.split() for line in text.splitlines() if line.split()}
    assert lines['gravity_compensation'][1:] == ['0.2', '1000.0', '0', '0']
    assert lines['pd'][-3:] == ['999.5', '3', '1']
    assert set(MODES) <= lines.keys()
    assert 'it floats' in text and 'passed' in text
    assert 'it flies' in text and 'FAILED' in text
    assert not results.passed


def test_tables_fit_80_columns():
    results = Results(Floating(2e-4, Loop(1000.0, 0, 0, 0.0)),
                      [tracking(mode, 0.01) for mode in MODES],
                      [Check('a push of 12.3 N on wrist_3_link moves it', '0.123 rad | m',
                             '> 0.03 (expected 0.12)', True)])
    for robot in ('two_link', 'rp'):
        text = printed(results, robot, 80)
        lines = {line.split()[0]: line.split() for line in text.splitlines() if line.split()}
        assert set(MODES) <= lines.keys()
        assert lines['gravity_compensation'][1:] == ['0.2', '1000.0', '0', '0']
        assert max(map(len, text.splitlines())) <= 80 and 'passed' in text


@pytest.mark.parametrize(('value', 'text'), [
    (6e-13, '< 0.001'), (0.0, '< 0.001'), (1e-6, '0.001'), (2.346e-3, '2.35')])
def test_a_distance_below_any_encoder_is_no_figure(value, text):
    assert thousandths(value) == text


def test_units_are_those_of_the_joints():
    results = Results(Floating(0.0, Loop(1.0, 0, 0, 0.0)))
    assert '[mrad]' in printed(results) and '[mrad | mm]' in printed(results, 'rp')


def test_the_picture_is_drawn(tmp_path):
    path = tmp_path / 'two_link.png'
    draw(load_urdf(robot_path('two_link')), [tracking(m, e) for m, e in zip(MODES, (1, .1, .01))],
         path)
    assert path.read_bytes().startswith(b'\x89PNG')
    assert path.stat().st_size > 20_000


def test_names_in_a_picture_are_no_formulas(tmp_path):
    text = robot_path('two_link').read_text().replace('"joint1"', r'"$\frac{$"')
    draw(load_urdf(text), [tracking('pd', 1)], tmp_path / 'odd.png')
    assert (tmp_path / 'odd.png').stat().st_size > 20_000
