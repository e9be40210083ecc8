# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The report: one file, with all in it that a reader needs."""

from html.parser import HTMLParser
import re

import numpy as np
import pytest
from recorded_files import nominal, real, write_csv
from robodyn_ros.identification.friction_file import (
    friction_parameters,
    read_friction,
    write_friction,
)
from robodyn_ros.identification.options import PipelineOptions
from robodyn_ros.identification.pictures import draw_all
from robodyn_ros.identification.pipeline import identify_parts
from robodyn_ros.identification.recorded_motion import checked_motion, parts_of
from robodyn_ros.identification.recordings.read import read
from robodyn_ros.identification.report import report
import yaml


@pytest.fixture(scope='module')
def found(tmp_path_factory):
    path = write_csv(tmp_path_factory.mktemp('report') / 'fit.csv', real(), 4, 16.0)
    model = nominal()
    checked = checked_motion(read(path, model), model)
    return identify_parts(parts_of([checked], 0.7), model, PipelineOptions(
        delay=0.0, tilt=False, presliding=0.0, armature=False))


@pytest.fixture(scope='module')
def text(found):
    return report(found, draw_all(found), 'a <b>bag</b>', ['robodyn identify x & y'])


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


def test_it_needs_no_other_file(text):
    page = Reader()
    page.feed(text)
    assert not page.open
    assert len(page.references) == 4
    assert all(value.startswith('data:image/png;base64,iVBOR') for value in page.references)
    assert not re.search(r'https?://|@import|url\(', text)


def test_it_tells_everything(found, text):
    for note in found.notes:
        assert note.split("'")[0].split('&')[0].split('<')[0][:60] in text
    for name in (*found.estimate.names, *found.validations, *found.nominal.joint_names):
        assert name in text
    assert 'numpy' in text and 'scipy' in text and f'{found.estimate.condition:.4g}' in text


def test_text_of_others_is_text(text):
    assert 'a &lt;b&gt;bag&lt;/b&gt;' in text and 'robodyn identify x &amp; y' in text


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
