# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks.robots` tells what loads, what is refused and why, and what differs."""

import re

from benchmarks import robots
import numpy as np
import pinocchio as pin
import pytest
from robodyn_ros import load_urdf
from robots import ARM, GRIPPER, OWN

pytestmark = pytest.mark.slow



@pytest.fixture
def folder(tmp_path):
    files = {
        'a/arm.urdf': ARM, 'a/gripper.urdf': GRIPPER, 'two_link.urdf': OWN['two_link'].read_text(),
        'empty.urdf': re.sub('<inertial>.*?</inertial>', '', ARM, flags=re.DOTALL),
        'loose.urdf': ARM.replace('parent link="base"', 'parent link="lost"'),
        'reversed.urdf': ARM.replace('lower="-2" upper="2"', 'lower="2" upper="-2"'),
        'blank.urdf': ARM.replace('izz="0.01"', 'izz="0.01\n"'), 'notes.txt': 'nothing'}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_every_file_is_counted_and_every_refusal_has_its_reason(folder, program):
    done = program(robots.main, folder)
    assert done.exit_code == 0, done.output
    assert '7 files: 5 loaded (1 of them with joints that no inertia resists), 2 refused ' \
        '(1 of them by Pinocchio, too)' in done.stdout
    assert 'loaded, or refused by Pinocchio too: 6 of 7 (85.7%)' in done.stdout
    assert "loose.urdf: refused (by Pinocchio, too): joint 'shoulder': its parent" in done.stdout
    assert 'refused by us alone, 1 times: lower limit _ is above the upper limit _' in done.stdout
    assert 'blank.urdf: 2 joints, agrees to ' in done.stdout
    assert 'compared with Pinocchio: 5, largest difference ' in done.stdout
    assert ', 0 above 1e-10' in done.stdout


def test_a_difference_is_found():
    other = pin.buildModelFromXML(ARM.replace('<mass value="2"/>', '<mass value="2.001"/>'))
    assert 1e-5 < robots.difference(load_urdf(ARM), other) < 1e-2
    assert robots.difference(load_urdf(ARM), pin.buildModelFromXML(ARM)) < 1e-14
    assert robots.difference(load_urdf(GRIPPER), pin.buildModelFromXML(ARM)) == np.inf


def test_a_folder_without_robots_is_refused(tmp_path, program):
    done = program(robots.main, tmp_path)
    assert done.exit_code == 2 and 'no .urdf file' in done.stderr
