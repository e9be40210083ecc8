# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Friction and armature in the URDF: what is read again is what was asked, and no more changes."""

from dataclasses import replace
import re

import numpy as np
import pytest
from robodyn_ros import load_urdf
from robodyn_ros.identification.urdf_friction import ELEMENT_NAMES, urdf_with_friction
from robots import EXTENDED, GRIPPER, OWN, PANDA_LOCKED, REAL

CASES = {'panda': (REAL['panda'].read_text(), {'locked': PANDA_LOCKED}),
         'ur5': (REAL['ur5'].read_text(), {}), 'arm6': (OWN['arm6'].read_text(), {}),
         'middle': (OWN['arm6'].read_text(), {'root': 'link_2', 'tip': 'link_4', 'locked': {
             'joint_2': 0.1, 'joint_5': 0.3, 'joint_6': -0.2}}),
         'gripper': (GRIPPER, {}), 'extended': (EXTENDED, {})}
ELEMENT = re.compile(r'\s*<dynamics\b[^>]*>(\s*</dynamics>)?|\s*<robodyn\b.*?</robodyn\s*>|'
                     r'\s*<robodyn\s*/>', re.S)


def rusty(model, seed=0):
    """Return the model with friction and armature that a URDF alone cannot express."""
    rng, n = np.random.default_rng(seed), model.nv
    forward = rng.uniform(0.1, 2.0, (2, n))
    return replace(
        model, viscous_friction=forward[0], coulomb_friction=forward[1],
        static_friction=1.3 * forward[1], armature=rng.uniform(0.01, 1.0, n),
        backward_friction=rng.uniform(0.1, 2.0, (3, n)), friction_velocity=np.full(n, 0.02),
        presliding_distance=np.full(n, 1e-3), load_friction=np.full(n, 0.03))


@pytest.mark.parametrize('name', CASES)
@pytest.mark.parametrize('newline', ['\n', '\r\n'])
def test_what_is_read_again_is_what_was_asked(name, newline):
    text, options = CASES[name]
    text = '\ufeff' * (newline != '\n') + text.replace('\r\n', '\n').replace('\n', newline)
    model = load_urdf(text, **options)
    asked = rusty(model)
    result = urdf_with_friction(text, model, asked)
    again = load_urdf(result, **options)
    for field in ELEMENT_NAMES:
        np.testing.assert_allclose(getattr(again, field), getattr(asked, field), rtol=1e-14)
    np.testing.assert_array_equal(again.inertial_parameters, model.inertial_parameters)
    np.testing.assert_array_equal(again.gravity_vector, model.gravity_vector)
    assert again.warnings == model.warnings
    assert ELEMENT.sub('', result).split() == ELEMENT.sub('', text).split()
    assert newline == '\n' or '\n' not in result.replace('\r\n', '')


def test_the_usual_friction_needs_no_element_of_this_package():
    text = OWN['arm6'].read_text()
    model = load_urdf(text)
    viscous, coulomb = np.arange(1.0, 7.0), np.arange(2.0, 8.0)
    asked = replace(model, viscous_friction=viscous, coulomb_friction=coulomb,
                    static_friction=coulomb,
                    backward_friction=np.array([viscous, coulomb, coulomb]))
    result = urdf_with_friction(text, model, asked)
    assert result.count('<robodyn') == text.count('<robodyn')
    assert 'damping="6.0"' in result and 'friction="7.0"' in result


def test_joints_that_did_not_change_are_left_as_they_are():
    text, options = CASES['extended']
    model = load_urdf(text, **options)
    assert urdf_with_friction(text, model, model) is text
