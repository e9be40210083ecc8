# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0

import os

import pytest
from robodyn_ros.errors import UrdfError
from robodyn_ros.nodes.controller import robot
from robots import ARM

PARAMETERS = {p.name: p.default for p in robot.PARAMETERS}


def test_a_description_is_text_and_never_the_path_of_a_file(tmp_path):
    (path := tmp_path / 'arm.urdf').write_text(ARM)
    assert robot.model(PARAMETERS, ARM).joint_names == ('shoulder', 'slide')
    os.mkfifo(pipe := tmp_path / 'pipe')        # who opens it hangs
    for description in (path, pipe):
        with pytest.raises(UrdfError, match='robot description is no XML'):
            robot.model(PARAMETERS, str(description))


def test_a_file_in_any_encoding_is_the_robot_of_the_library(tmp_path):
    (path := tmp_path / 'arm.urdf').write_bytes(
        b'\n<?xml version="1.0" encoding="gb2312"?>\n' + ARM.replace('upper"/>', '臂"/>').replace(
            'name="upper"', 'name="臂"').encode('gb2312'))
    given = PARAMETERS | {'urdf': str(path)}
    assert robot.model(given, robot.description(given)).link_names == ('臂', 'fore')
