# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Friction of an identification, read together with the URDF."""

from dataclasses import replace
import re

import numpy as np
import pytest
from robodyn_ros import load_urdf
from robodyn_ros.control.settings.friction import with_friction
from robodyn_ros.errors import IdentificationError, InertiaError
from robodyn_ros.model.friction_file import read_friction
from robodyn_ros.model.resources import robot_path
import yaml

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
    ('-9.7', '.nan', 'gravity is'), (TEXT, '', 'cannot be read'),
    ('# Friction', '# by Ann\n\n# Friction', None), ('# Friction', '\ufeff# Friction', None),
    (TEXT, '/**/controller: {ros__parameters: {viscous_frction: [1, 1]}}', 'has none of viscous'),
    (TEXT, '/**/controller: {ros__parameters: {}}', 'has none of viscous')])
def test_another_file_is_refused(file, old, new, said):
    text = TEXT.replace(old, new)
    if said is None:        # whatever precedes the names of the joints
        text, said = text.replace('joint1, joint2', 'joint2, joint1'), 'joints joint2, joint1, not'
    file.write_text(text)
    with pytest.raises(IdentificationError, match=said):
        load_urdf('two_link', friction=file)


def test_what_is_not_given_is_that_of_the_controller_with_the_same_parameters(file):
    """Static friction follows Coulomb friction, and backward motion forward motion."""
    urdf = load_urdf('two_link')
    urdf = replace(urdf, static_friction=np.array([3.0, 3.0]), coupled_friction=np.array([
        [1.0, 1.0], [0.2, 0.2], [0.3, 0.3]]), backward_friction=np.full((3, 2), 7.0))
    for given in ({'coulomb_friction': [2.0, 1.0]}, {'backward_coulomb_friction': [2.0, 1.0]},
                  {'coulomb_friction': [2.0, 1.0], 'static_friction': [4.0, 4.0]},
                  {'coupled_viscous_friction': [0.1, 0.1]}):
        file.write_text(yaml.safe_dump({'/**/controller': {'ros__parameters': given}}))
        found, other = read_friction(file, urdf)[0], with_friction(
            urdf, {name: np.array(values) for name, values in given.items()})
        for name in ('coulomb_friction', 'static_friction', 'backward_friction',
                     'coupled_friction'):
            assert np.array_equal(getattr(found, name), getattr(other, name)), (name, given)


def test_armature_of_the_file_resists_the_joints(file):
    """A model is judged with the armature that it has in the end."""
    massless = re.sub('<inertial>.*?</inertial>', '', robot_path('two_link').read_text(),
                      flags=re.DOTALL)
    with pytest.raises(InertiaError, match='no inertia'):
        load_urdf(massless)
    assert load_urdf(massless, friction=file).massless_joints == ()
    file.write_text(TEXT.replace('[0.1, 0.05]', '[0.0, 0.0]'))
    rotors = massless.replace('</robot>', '<robodyn><joint name="joint1" armature="1"/>'
                              '<joint name="joint2" armature="1"/></robodyn></robot>')
    assert load_urdf(rotors).armature.tolist() == [1.0, 1.0]
    with pytest.raises(InertiaError, match='no inertia'):
        load_urdf(rotors, friction=file)
