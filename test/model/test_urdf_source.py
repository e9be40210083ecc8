# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Sources of a URDF: encodings, namespaces, files of macros."""

from codecs import BOM_UTF8, BOM_UTF16_LE
from pathlib import Path
import re
import sys

from lxml import etree
import pytest
from robodyn_ros import load_urdf
from robodyn_ros.errors import UrdfError
from robodyn_ros.identification.excitation.collisions import shapes
from robodyn_ros.identification.recorded_motion import Source
from robodyn_ros.identification.repair import repaired_urdf
from robodyn_ros.model.ros2_control import gazebo_description, mujoco_description
from robodyn_ros.model.urdf_source import urdf_text
from robots import ARM

NAME = 'bras_é'
TEXT = ARM.replace('"upper"', f'"{NAME}"').replace('</robot>', (
    '<transmission name="t"><joint name="shoulder"/><joint name="slide"/></transmission>'
    '</robot>')).replace('<link name="base"/>', (
        '<link name="base"><collision><geometry><sphere radius="0.1"/></geometry></collision>'
        '</link>'))
XML = '<?xml version="1.0" encoding="{}"?>\n'
FILES = {
    'utf-8': TEXT.encode(),
    'utf-8 with a mark and blanks': BOM_UTF8 + b'\r\n' + XML.format('utf-8').encode()
    + TEXT.encode(),
    'utf-16 declared as utf-8': BOM_UTF16_LE + (XML.format('utf-8') + TEXT).encode('utf-16-le'),
    'iso-8859-1': (XML.format('ISO-8859-1') + TEXT).encode('iso-8859-1'),
    'blanks before the declaration': b'\n \t' + (
        XML.format('ISO-8859-1') + TEXT).encode('iso-8859-1'),
    'blanks without a declaration': b'\r\n\n' + TEXT.encode(),
    'gb2312': (XML.format('gb2312') + TEXT.replace('é', '臂')).encode('gb2312'),
    'default namespace': TEXT.replace('<robot ', '<robot xmlns="http://drake.mit.edu" ').encode(),
    'undeclared prefix': TEXT.replace('</robot>', '<sensor:camera a="1"/></robot>').encode(),
}


@pytest.fixture(params=FILES)
def file(request, tmp_path) -> Path:
    (path := tmp_path / 'arm.urdf').write_bytes(FILES[request.param])
    return path


def test_everything_reads_the_same_robot(file):
    model = load_urdf(file)
    assert model.link_names[0] in (NAME, 'bras_臂')
    text = urdf_text(file)
    assert '<?xml' not in text and etree.fromstring(text).tag.endswith('robot')
    for one in (file.read_bytes(), text, gazebo_description(file, 'c.yaml'),
                gazebo_description(text, 'c.yaml'), mujoco_description(file, 'scene.xml')):
        other = load_urdf(one)
        assert other.joint_names == model.joint_names and other.link_names == model.link_names
        assert other.mass.tolist() == model.mass.tolist()
    assert Source((), model, text).coupled == (('shoulder', 'slide'),)
    assert [one.link for one in shapes(file)] == ['base']
    assert repaired_urdf(file.read_bytes()) == (file.read_bytes(), ())


def test_warnings_survive_in_what_is_handed_on():
    text = TEXT.replace('<robot ', '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" ').replace(
        '</robot>', '<xacro:tool/></robot>')
    assert [w for w in load_urdf(urdf_text(text)).warnings if 'tool is not expanded' in w]


@pytest.mark.parametrize('read', [load_urdf, urdf_text, shapes, lambda path: gazebo_description(
    path, 'c.yaml'), lambda path: mujoco_description(path, 'scene.xml')])
def test_an_encoding_is_not_guessed(read, tmp_path):
    """A name with a replaced character could be another name."""
    (path := tmp_path / 'arm.urdf').write_bytes(TEXT.encode('iso-8859-1'))
    with pytest.raises(UrdfError, match='Invalid bytes|not proper UTF-8') as refused:
        read(path)
    assert 'encoding="ISO-8859-1"' in refused.value.remedy


MACROS = ARM.replace('<robot name="arm">', '<robot name="arm" '
                     'xmlns:xacro="http://www.ros.org/wiki/xacro">'
                     '<xacro:arg name="mass" default="4"/>').replace(
                         '<mass value="2"/>', '<mass value="${2 * $(arg mass)}"/>')


@pytest.fixture(params=['arm.urdf.xacro', 'arm.xacro.urdf'])
def macros(tmp_path, request):
    (path := tmp_path / request.param).write_text(MACROS)
    return path


def test_files_of_macros(macros, monkeypatch):
    pytest.importorskip('xacro', reason='xacro is not installed')
    assert load_urdf(macros).mass[0] == load_urdf(str(macros)).mass[0] == 8.0
    assert 'value="8"' in urdf_text(macros) and '<xacro:' not in urdf_text(macros)
    macros.write_text(MACROS.replace('$(arg mass)', '$(arg weight)'))
    with pytest.raises(UrdfError, match='weight') as refused:
        load_urdf(macros)
    assert 'argument:=value' in refused.value.remedy and refused.value.name == str(macros)
    assert 'argument weight' in str(refused.value)
    monkeypatch.delenv('AMENT_PREFIX_PATH', raising=False)
    for file, once in (('nowhere', 'No such file'), ('$(find arms)/a', 'AMENT_PREFIX_PATH')):
        macros.write_text(MACROS.replace('<xacro:arg', f'<xacro:include filename="{file}.xacro"/>'
                                         '<xacro:arg'))
        with pytest.raises(UrdfError) as refused:
            load_urdf(macros)
        assert str(refused.value).count(once) == 1
    macros.write_text(re.sub('(<robot .*?>)', r'\1<xacro:macro name="arm" params="">', MACROS
                             ).replace('</robot>', '</xacro:macro></robot>'))
    with pytest.raises(UrdfError, match='defines macros and calls none'):
        load_urdf(macros)


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
