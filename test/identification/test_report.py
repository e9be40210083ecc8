# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The report: one file, with all in it that a reader needs."""

import re
from html.parser import HTMLParser

import pytest
from recorded_files import real, shipped, write_csv

from robodyn_ros.identification.chain import Wishes, run
from robodyn_ros.identification.outputs import with_gravity
from robodyn_ros.identification.pictures import draw_all
from robodyn_ros.identification.recordings.read import read
from robodyn_ros.identification.report import report
from robodyn_ros.model.urdf import load_urdf
from robots import EXTENDED, OWN


@pytest.fixture(scope='module')
def found(tmp_path_factory):
    path = write_csv(tmp_path_factory.mktemp('report') / 'fit.csv', real(), 4, 16.0)
    model = shipped()
    return run(read(path, model), model, Wishes(method='weighted', delay=0.0, tilt=False))


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
    for name in (*found.estimate.names, *found.validations, *found.shipped.joint_names):
        assert name in text
    assert 'numpy' in text and 'scipy' in text and f'{found.estimate.condition:.4g}' in text


def test_text_of_others_is_text(text):
    assert 'a &lt;b&gt;bag&lt;/b&gt;' in text and 'robodyn identify x &amp; y' in text


@pytest.mark.parametrize('urdf', [OWN['two_link'].read_text(), EXTENDED])
def test_gravity_goes_into_the_urdf(urdf):
    gravity = [0.1, -0.2, -9.8]
    model = load_urdf(with_gravity(urdf, gravity))
    assert model.gravity_vector.tolist() == gravity
    before = load_urdf(urdf)
    assert model.inertial_parameters.tolist() == before.inertial_parameters.tolist()
    assert model.armature.tolist() == before.armature.tolist()
