# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The report: one file, with all in it that a reader needs."""

from html import unescape
from html.parser import HTMLParser
import json
import re

from motions import nominal, real, write_csv
import numpy as np
import pytest
from robodyn_ros.cli.identification_report import report
from robodyn_ros.identification.friction_file import friction_parameters, write_friction
from robodyn_ros.identification.options import PipelineOptions
from robodyn_ros.identification.pipeline import identify_parts
from robodyn_ros.identification.recorded_motion import checked_motion, parts_of
from robodyn_ros.identification.recordings.read import read
from robodyn_ros.model.friction_file import read_friction
import yaml

pytestmark = pytest.mark.slow


@pytest.fixture(scope='module')
def found(tmp_path_factory):
    path = write_csv(tmp_path_factory.mktemp('report') / 'fit.csv', real(), 4, 16.0)
    model = nominal()
    checked = checked_motion(read(path, model), model)
    return identify_parts(parts_of([checked], 0.7), model, PipelineOptions(
        delay=0.0, tilt=False, presliding=0.0, armature=False))


@pytest.fixture(scope='module')
def text(found):
    return report(found, 'a <b>bag</b>', '<p>"moving"</p>').html()


class Reader(HTMLParser):
    """What a page refers to, and whether its elements are closed."""

    def __init__(self):
        super().__init__()
        self.references, self.open = [], []

    def handle_starttag(self, tag, attrs):
        self.references += [value for name, value in attrs if name in ('src', 'href')]
        if tag not in ('meta', 'img'):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def plots(text):
    return json.loads(re.search('application/json">(.*?)</script>', text)[1])


def test_it_needs_no_other_file(text):
    page = Reader()
    page.feed(text)
    assert not page.open and not page.references


def test_it_tells_everything(found, text):
    words = unescape(text)
    for line in (*found.notes, *found.terms, *found.warnings, *found.estimate.base.texts):
        assert line in words
    for name in (*found.estimate.names, *found.validations, *found.nominal.joint_names):
        assert name in words
    assert 'numpy' in words and 'scipy' in words and f'{found.estimate.condition:.4g}' in words


def test_its_plots_show_what_was_measured_and_predicted(found, text):
    one, other, errors, parameters, position, _ = plots(text)
    valid = found.validation
    for j, plot in enumerate((one, other)):
        measured, predicted, before = (np.array(trace['y'], float) for trace in plot['data'])
        assert np.nanmax(measured) == pytest.approx(valid.motion.effort[:, j].max(), rel=1e-5)
        assert np.nanmin(predicted) == pytest.approx(valid.predicted[:, j].min(), rel=1e-5)
        assert np.isnan(measured).sum() == np.isnan(before).sum() == len(valid.motion.segments)
    assert [trace['name'] for trace in errors['data']] == ['joint1', 'joint2']
    values, nominal = parameters['data']
    assert values['y'] == nominal['y'] == list(found.estimate.base.base_names)
    assert len(values['error_x']['array']) == len(values['y'])
    assert max(map(abs, nominal['x'])) <= 3.2
    train, test = position['data'][:2]
    assert test['line']['dash'] == 'dash'
    assert np.nanmax(np.array(train['y'], float)) == pytest.approx(
        found.train.position[:, 0].max(), rel=1e-5)


def test_text_of_others_is_text(text):
    assert 'a &lt;b&gt;bag&lt;/b&gt;' in text and '&lt;p&gt;&quot;moving&quot;' in text


def test_gravity_of_a_tilted_base_is_a_parameter_of_the_controller(found, tmp_path):
    gravity, file = np.array([0.1, -0.2, -9.8]), tmp_path / 'friction.yaml'
    write_friction(file, friction_parameters(found.estimate), found.nominal.joint_names, gravity)
    model, _ = read_friction(file, found.nominal)
    assert model.gravity_vector.tolist() == gravity.tolist()
    parameters = yaml.safe_load(file.read_text())['/**/controller']['ros__parameters']
    assert parameters['gravity'] == gravity.tolist()
    write_friction(file, friction_parameters(found.estimate), found.nominal.joint_names)
    model, _ = read_friction(file, found.nominal)
    assert model.gravity_vector.tolist() == found.nominal.gravity_vector.tolist()
