# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Capsules of links enclose their shapes, tightly; shapes survive as text."""

from dataclasses import replace
import struct
import sys

from hypothesis import given, settings, strategies as st
import numpy as np
import pytest
from robodyn_ros import load_urdf
from robodyn_ros.errors import UrdfError
from robodyn_ros.model.capsules import (
    around, capsule_around, link_capsules, mesh_points, segment, volume)
from robodyn_ros.model.resources import robot_path
from robodyn_ros.model.shapes import Shape
from robodyn_ros.model.to_urdf import to_urdf

near = pytest.approx
SOLID = robot_path('two_link').read_text().replace('visual>', 'collision>')
CUBE = np.stack(np.meshgrid(*3 * [[-1.0, 1.0]]), -1).reshape(-1, 3)


def distance(points, begin, end):
    along = end - begin
    t = np.clip((points - begin) @ along / max(along @ along, 1e-300), 0.0, 1.0)
    return np.linalg.norm(points - begin - t[:, None] * along, axis=1)


def surface(shape, rng, count=500):
    """Points of the surface of a primitive, in the frame of its link."""
    u = rng.normal(size=(count, 3))
    u /= np.linalg.norm(u, axis=1)[:, None]
    size = np.array(shape.size)
    if shape.kind == 'box':
        points = size * CUBE[rng.integers(8, size=count)]
    elif shape.kind == 'sphere':
        points = size[0] * u
    else:
        points = np.column_stack([size[0] * u[:, :2] / np.linalg.norm(u[:, :2], axis=1)[:, None],
                                  size[1] * rng.choice([-1.0, 1.0], count)])
    return shape.origin + points @ shape.rotation.T


lengths = st.floats(1e-3, 1.0)
numbers = st.tuples(*3 * [st.floats(-2.0, 2.0)])
primitives = st.one_of(
    st.builds(Shape, st.just('a'), st.just('box'), st.tuples(*3 * [lengths]), numbers, numbers,
              st.none()),
    st.builds(Shape, st.just('a'), st.just('cylinder'), st.tuples(lengths, lengths), numbers,
              numbers, st.none()),
    st.builds(Shape, st.just('a'), st.just('sphere'), st.tuples(lengths), numbers, numbers,
              st.none()))


@settings(max_examples=15)
@given(primitives)
def test_a_capsule_encloses_its_shape_and_is_one_of_its_own(shape):
    capsule = capsule_around(shape)
    points = surface(shape, np.random.default_rng(0))
    assert distance(points, *segment(capsule)).max() <= capsule.size[0] * (1.0 + 1e-6)
    assert capsule_around(capsule) == capsule


def test_capsules_are_tight():
    """A rod gets itself; the others are as small as those of a search without mercy (1.02)."""
    rod = capsule_around(Shape('a', 'cylinder', (0.02, 0.5), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)))
    assert rod.size == near((0.02, 0.5), rel=0.02)
    # Least volumes of 3000 random starts: the cube, and boxes
    for edges, least in (((1, 1, 1), 21.12), ((1, 1, 3), 48.04), ((1, 2, 3), 132.77)):
        found = around(CUBE * edges)
        assert found.volume <= 1.02 * least
        length = np.linalg.norm(found.end - found.begin)
        assert found.volume == near(volume(found.radius, length))


def test_shapes_of_a_link_become_few():
    """Two balls in a rod vanish; four boxes of a finger become two capsules around all of them."""
    model = load_urdf(SOLID)
    rod = Shape('link1', 'capsule', (0.05, 0.3), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    balls = [Shape('link1', 'sphere', (0.04,), (0.0, 0.0, 0.0), (0.0, 0.0, z)) for z in (-.3, .3)]
    found, problems = link_capsules(replace(model, shapes=(balls[0], rod, balls[1])))
    assert len(found) == 1 and not problems
    assert found[0].size == near((0.05, 0.3), rel=0.02)
    boxes = [Shape('link2', 'box', (0.01, 0.02, 0.005), (0.1 * k, 0.0, 0.0), (0.0, 0.0, 0.05 * k))
             for k in range(4)]
    found, _ = link_capsules(replace(model, shapes=tuple(boxes)))
    assert len(found) == 2
    for box in boxes:
        points = surface(box, np.random.default_rng(1))
        assert min(distance(points, *segment(one)).max() - one.size[0] for one in found) < 1e-9


def test_the_model_has_shapes_and_keeps_them_as_text():
    model = load_urdf(SOLID)
    assert [one.kind for one in model.shapes] == ['box', 'cylinder', 'sphere'] + [
        'cylinder', 'sphere']
    assert model.shapes[1].origin == (0.25, 0.0, 0.0) and model.shapes[1].size == (0.02, 0.25)
    assert load_urdf(to_urdf(model, shapes=True)).shapes == model.shapes
    assert load_urdf(model.to_urdf()).shapes == ()
    capsules, _ = link_capsules(model)
    text = to_urdf(replace(model, shapes=capsules), shapes=True)
    assert link_capsules(load_urdf(text))[0] == capsules


def binary(points):
    rows = b''.join(struct.pack('<12fH', 0, 0, 1, *p.ravel(), 0) for p in points.reshape(-1, 3, 3))
    return b'solid that is none'.ljust(80) + struct.pack('<I', len(points) // 3) + rows


def text(points):
    return ('solid a\n' + ''.join(
        'facet normal 0 0 1\nouter loop\n' + ''.join(
            'vertex ' + ' '.join(map(repr, p.tolist())) + '\n' for p in three)
        + 'endloop\nendfacet\n' for three in points.reshape(-1, 3, 3)) + 'endsolid\n').encode()


def obj(points):
    return ('# v 9 9 9\nvn 5 5 5\n' + ''.join(
        f'v {x} {y} {z}\n' for x, y, z in points) + 'f 1 2 3\n').encode()


@pytest.mark.parametrize('write, name', [(binary, 'a.stl'), (text, 'b.STL'), (obj, 'c.obj')])
def test_meshes_are_read(write, name, tmp_path):
    points = np.vstack([CUBE, [[0.0, 0.0, 0.0]]])
    (tmp_path / name).write_bytes(write(points))
    found = mesh_points(tmp_path / name)
    assert {*map(tuple, found)} == {*map(tuple, CUBE)}      # what is inside does not count


@pytest.mark.parametrize('content, name, word', [
    (b'', 'a.stl', 'no vertices'), (b'v 1 2\nv x', 'a.obj', 'no vertices'),
    (b'v 1 2 3e\n', 'a.obj', 'damaged'), (binary(np.full((3, 3), np.nan)), 'a.stl', 'not finite'),
    (b'v 1e999 0 0\n', 'a.obj', 'not finite'), (b'<xml/>', 'a.ply', 'use .stl, .obj or .dae'),
    (b'<xml/>', 'a.dae', 'COLLADA|no vertices'),
    (None, 'a.stl', 'cannot be read')])
def test_meshes_that_are_none_leave_their_link_without_a_shape(content, name, word, tmp_path):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(UrdfError, match=word):
        mesh_points(tmp_path / name)
    (tmp_path / name).write_bytes(content or b'')
    path = tmp_path / 'arm.urdf'
    path.write_text(SOLID.replace('<box size="0.12 0.12 0.12"/>', f'<mesh filename="{name}"/>'))
    found, problems = link_capsules(load_urdf(path))
    assert 'base_link' not in {one.link for one in found} and len(found) == 4
    assert len(problems) == 1 and "link 'base_link'" in problems[0]


def collada(points, declared=''):
    numbers = ' '.join(map(str, (1e3 * points).ravel()))
    return f"""<?xml version="1.0"?>{declared}
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><created>2026-01-01T00:00:00</created><modified>2026-01-01T00:00:00</modified>
<unit name="millimeter" meter="0.001"/><up_axis>Y_UP</up_axis></asset>
<library_geometries><geometry id="a"><mesh>
<source id="p"><float_array id="f" count="{points.size}">{numbers}</float_array>
<technique_common><accessor source="#f" count="{len(points)}" stride="3">
<param name="X" type="float"/><param name="Y" type="float"/><param name="Z" type="float"/>
</accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="1"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1 2</p></triangles>
</mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s"><node><translate>1000 0 0</translate>
<instance_geometry url="#a"/></node></visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene></COLLADA>""".encode()


def test_collada_meshes_are_read_in_meters_where_their_scene_has_them(tmp_path):
    pytest.importorskip('collada', reason='pycollada is not installed')
    (tmp_path / 'a.dae').write_bytes(collada(CUBE))
    assert np.sort(mesh_points(tmp_path / 'a.dae'), 0) == pytest.approx(
        np.sort(CUBE + [1.0, 0.0, 0.0], 0), abs=1e-6)
    for content, word in ((collada(CUBE, '<!DOCTYPE a [<!ENTITY b "c">]>'), 'document type'),
                          (collada(CUBE)[:500], 'damaged'),
                          (collada(CUBE).replace(b'<scene>', b'<!--').replace(b'</scene>', b'-->'),
                           'no vertices')):
        (tmp_path / 'a.dae').write_bytes(content)
        with pytest.raises(UrdfError, match=word):
            mesh_points(tmp_path / 'a.dae')


def test_without_pycollada_the_error_has_the_file_and_the_remedy(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, 'collada', None)
    (tmp_path / 'a.dae').write_bytes(b'<xml/>')
    with pytest.raises(UrdfError, match=r"a.dae' is a COLLADA file, .*pip install .*pycollada"):
        mesh_points(tmp_path / 'a.dae')


def test_meshes_of_a_text_are_found_where_it_comes_from(tmp_path):
    mesh = SOLID.replace('<box size="0.12 0.12 0.12"/>', '<mesh filename="package://arm/a.obj"/>')
    package = tmp_path / 'arm'
    package.mkdir()
    (package / 'a.obj').write_bytes(obj(CUBE))
    model = load_urdf(mesh, meshes=package / 'arm.urdf')
    assert model.shapes[0].mesh == package / 'a.obj' and not model.shape_problems
    lost = load_urdf(mesh)
    assert 'not there' in lost.shape_problems[0] and lost.shapes == model.shapes[1:]
    assert lost.warnings == ()              # nobody who needs no shapes hears of them


def test_meshes_of_a_real_robot_are_enclosed():
    model = load_urdf(robot_path('ur5'))
    for shape in model.shapes:
        if shape.mesh is not None:
            capsule = capsule_around(shape)
            points = shape.origin + (mesh_points(shape.mesh) * shape.size) @ shape.rotation.T
            away = distance(points, *segment(capsule))
            assert away.max() == near(capsule.size[0], rel=1e-3)        # and touched
