# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0

import sysconfig

import pytest
from robodyn_ros.errors import UnknownNameError, UrdfError
from robodyn_ros.model import resources
from robodyn_ros.model.resources import EXAMPLE_ROBOTS, OWN_ROBOTS, robot_path, share_path


@pytest.mark.parametrize('name', [*OWN_ROBOTS, *EXAMPLE_ROBOTS])
def test_known_robots_are_found(name):
    assert '<robot' in robot_path(name).read_text()


def test_a_path_is_taken_as_it_is(tmp_path):
    (path := tmp_path / 'mine.urdf').write_text('<robot/>')
    assert robot_path(path) == robot_path(str(path)) == path


def test_an_unknown_robot_is_refused_with_the_known_ones():
    with pytest.raises(UrdfError, match='panda') as refused:
        robot_path('pandora')
    assert refused.value.name == 'pandora'


def test_a_robot_that_is_not_installed_says_what_to_install(monkeypatch):
    monkeypatch.setattr(resources, '_ament_share', lambda package: None)
    monkeypatch.setattr(resources.metadata, 'files', lambda package: None)
    with pytest.raises(UrdfError, match='pip install example-robot-data'):
        robot_path('panda')


@pytest.mark.parametrize('kind', ['prefix', 'user'])
def test_files_are_found_where_the_package_is_installed(tmp_path, monkeypatch, kind):
    source = share_path('urdf', 'rp.urdf')
    monkeypatch.setattr(resources, '_ament_share', lambda package: None)
    monkeypatch.setattr(resources, 'get_path', lambda what, scheme: str(tmp_path / scheme))
    assert share_path('urdf', 'rp.urdf').samefile(source)
    installed = (tmp_path / sysconfig.get_preferred_scheme(kind) / 'share' / 'robodyn_ros' / 'urdf'
                 / 'rp.urdf')
    installed.parent.mkdir(parents=True)
    installed.touch()
    assert share_path('urdf', 'rp.urdf') == installed


def test_an_ament_index_comes_first(tmp_path, monkeypatch):
    pytest.importorskip('ament_index_python')
    index = tmp_path / 'share' / 'ament_index' / 'resource_index' / 'packages'
    file = tmp_path / 'share' / 'robodyn_ros' / 'urdf' / 'rp.urdf'
    for path in (index / 'robodyn_ros', file):
        path.parent.mkdir(parents=True)
        path.touch()
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path))
    assert share_path('urdf', 'rp.urdf') == file


def test_a_file_that_is_nowhere_is_refused_with_those_that_are_there():
    with pytest.raises(UnknownNameError, match='urdf/two_link.urdf'):
        share_path('urdf', 'two_links.urdf')
