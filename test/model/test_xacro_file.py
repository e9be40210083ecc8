# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0

import sys

import pytest
from robodyn_ros import load_urdf
from robodyn_ros.errors import UrdfError
from robodyn_ros.model.urdf_source import urdf_text
from robots import ARM

MACROS = ARM.replace('<robot name="arm">', '<robot name="arm" '
                     'xmlns:xacro="http://www.ros.org/wiki/xacro">'
                     '<xacro:arg name="mass" default="4"/>').replace(
                         '<mass value="2"/>', '<mass value="${2 * $(arg mass)}"/>')


@pytest.fixture(params=['arm.urdf.xacro', 'arm.xacro.urdf'])
def macros(tmp_path, request):
    (path := tmp_path / request.param).write_text(MACROS)
    return path


def test_a_file_of_macros_is_expanded(macros):
    pytest.importorskip('xacro', reason='xacro is not installed')
    assert load_urdf(macros).mass[0] == load_urdf(str(macros)).mass[0] == 8.0
    assert 'value="8"' in urdf_text(macros) and '<xacro:' not in urdf_text(macros)


def test_what_xacro_cannot_expand_is_said(macros):
    pytest.importorskip('xacro', reason='xacro is not installed')
    macros.write_text(MACROS.replace('$(arg mass)', '$(arg weight)'))
    with pytest.raises(UrdfError, match='weight') as refused:
        load_urdf(macros)
    assert 'argument:=value' in refused.value.remedy and refused.value.name == str(macros)


def test_without_xacro_the_remedy_is_to_install_it(macros, monkeypatch):
    monkeypatch.setitem(sys.modules, 'xacro', None)     # as where it is not installed
    with pytest.raises(UrdfError, match='not installed') as refused:
        load_urdf(macros)
    assert 'pip install xacro' in refused.value.remedy


def test_other_files_are_not_expanded(tmp_path):
    (path := tmp_path / 'arm.urdf').write_text(ARM)
    assert urdf_text(path) == ARM.strip()
    with pytest.raises(UrdfError, match='cannot be read'):
        urdf_text(tmp_path / 'nowhere.urdf')
