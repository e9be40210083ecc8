# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Friction of an identification, read together with the URDF."""

import pytest
from robodyn_ros import load_urdf
from robodyn_ros.errors import IdentificationError

TEXT = """\
# Friction as it was identified, of the joints joint1, joint2.
/**/controller:
  ros__parameters:
    viscous_friction: [1.5, 0.5]
    coulomb_friction: [2.0, 1.0]
    armature: [0.1, 0.05]
    friction_offset: [0.2, 0.0]
    gravity: [0.0, 1.0, -9.7]
"""


@pytest.fixture
def file(tmp_path):
    (path := tmp_path / 'friction.yaml').write_text(TEXT)
    return path


def test_it_replaces_the_friction_of_the_urdf(file):
    model = load_urdf('two_link', friction=str(file))
    assert model.viscous_friction.tolist() == model.backward_friction[0].tolist() == [1.5, 0.5]
    assert model.coulomb_friction.tolist() == model.static_friction.tolist() == [2.0, 1.0]
    assert model.armature.tolist() == [0.1, 0.05]
    assert model.gravity_vector.tolist() == [0.0, 1.0, -9.7]
    assert 'friction_offset [0.2, 0.0]' in model.warnings[-1]
    given = load_urdf('two_link', gravity=(0, 0, -1), friction=file)
    assert given.gravity_vector.tolist() == [0.0, 0.0, -1.0]


@pytest.mark.parametrize(('old', 'new', 'said'), [
    ('joint1, joint2', 'shoulder, elbow', 'is for the joints shoulder, elbow, not joint1, joint2'),
    ('[1.5, 0.5]', '[1.5]', 'viscous_friction in .* is not 2 numbers'),
    ('[2.0, 1.0]', '[2.0, .nan]', 'coulomb_friction in .* is not 2 numbers'),
    ('[0.1, 0.05]', '[0.1, -0.05]', 'armature in .* is'),
    ('-9.7', '.nan', 'gravity is'), (TEXT, '', 'cannot be read')])
def test_another_file_is_refused(file, old, new, said):
    file.write_text(TEXT.replace(old, new))
    with pytest.raises(IdentificationError, match=said):
        load_urdf('two_link', friction=file)
