# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Reports: one file that loads nothing; the moving robot that another process draws."""

from html.parser import HTMLParser
import json
from pathlib import Path
import re

import numpy as np
import pytest
from rich.table import Table
from robodyn_ros import load_urdf
from robodyn_ros.errors import ArgumentError, DemoError
from robodyn_ros.model.resources import robot_path
from robodyn_ros.report.document import Report
from robodyn_ros.report.run_figure import envelope, finite, MAX_POINTS
from robodyn_ros.report.scene import MovingRobot

pytest.importorskip('plotly', reason='needs pip install plotly')


class Outline(HTMLParser):
    """Tags and references of a page, and the texts of its cells."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.links, self.cells = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.links += [value for name, value in attributes if name in ('src', 'href')]

    def handle_data(self, data):
        if self.tags and self.tags[-1] == 'td':
            self.cells.append(data)


def figures(text):
    return json.loads(re.search('application/json">(.*?)</script>', text)[1])


def test_a_report_holds_everything_and_hostile_names_are_text():
    report, t = Report('<script>alert(1)</script>', '@@BODY@@ & <b>'), np.linspace(0, 1, 50)
    table = Table(title='checks')
    table.add_column('check')
    table.add_column('result')
    table.add_row('</td><script>', 'FAILED')
    report.rich('', table)
    report.plot('error @@PLOTLY@@', t, {'</script><script>': np.where(t < 0.5, t, np.nan)}, 's',
                'rad', dashed={'</script><script>': t})
    report.histogram('late', {'late': np.append(t, np.inf)}, 'µs')
    report.page('scene', '<script>"inner"</script>')
    text = report.html()
    seen = Outline(text)
    assert seen.links == [] and seen.tags.count('script') == 3 and seen.tags.count('h2') == 4
    assert '</td><script>' in seen.cells and 'FAILED' in seen.cells
    plot, histogram = figures(text)
    solid, dashed = plot['data']
    assert solid['name'] == '</script><script>' and solid['y'][-1] is None
    assert dashed['line']['dash'] == 'dash' and sum(histogram['data'][0]['y']) == 50
    assert 'robodyn_ros' in text and 'Plotly' in text


def test_curves_of_a_report():
    x = np.zeros(100_000)
    x[[777, 54_321]], x[10:20] = (5.0, -3.0), np.nan
    at = envelope(x)
    assert len(at) <= MAX_POINTS and {777, 54_321} <= set(at.tolist()) and (np.diff(at) > 0).all()
    assert envelope(x[:10]).tolist() == list(range(10))
    assert envelope(np.full(9000, np.nan)).size                 # no value at all
    assert finite(np.array([1.23456789, np.nan, np.inf])) == [1.23457, None, None]
    numbers = np.array([0.0, -1.5e-7, 1234567.8, -9.9999999e-5, 3e-280, 1.5e300])
    assert finite(numbers) == [float(f'{x:.6g}') for x in numbers]
    x = np.sin(np.linspace(0.0, 9.0, 12_000))
    x[[4_000, 8_000]] = np.nan
    at = envelope(x)
    assert np.isnan(x[at]).sum() == 2 and len(at) <= MAX_POINTS + 2


def test_a_file_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / 'file').write_text('')
    with pytest.raises(ArgumentError, match='choose a file for --report'):
        Report('x').write(tmp_path / 'file' / 'report.html')


def test_a_process_that_cannot_draw_says_why():
    """Takes 3 s: a process that imports viser."""
    pytest.importorskip('viser', reason='needs pip install viser')
    model = load_urdf(robot_path('two_link'))
    with MovingRobot() as moving:
        assert moving.page() == ''          # nothing was asked for
        moving.draw(model, Path('/nowhere/robot.urdf'), np.arange(3.0), np.zeros((3, 2)))
        with pytest.raises(DemoError, match=r'/nowhere/robot.urdf.*robodyn view'):
            moving.page()


def test_a_process_that_dies_is_not_waited_for():
    pytest.importorskip('viser', reason='needs pip install viser')
    model = load_urdf(robot_path('two_link'))
    with MovingRobot() as moving:
        moving.draw(model, None, np.arange(3.0), np.zeros((3, 2)))
        moving._process.kill()
        with pytest.raises(DemoError, match='exit code -9'):
            moving.page()
