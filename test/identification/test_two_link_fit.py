# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Masses and lengths of the textbook's arm; what cannot be told, and why."""

from dataclasses import replace

from exciting import motion, noisy
import numpy as np
import pytest
from robodyn_ros import DhLink, from_dh
from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification import two_link
from robodyn_ros.identification.estimation.two_link import coefficients, derivatives, terms

TRUTH = np.array([2.0, 0.7, 0.5, 0.3])


def arm(m1=2.0, m2=0.7, l1=0.5, l2=0.3, g=9.81):
    return from_dh([DhLink(0, 0, l1, 0, mass=m1), DhLink(0, 0, l2, 0, mass=m2)],
                   gravity=(0, -g, 0))


def test_formulas_are_those_of_the_dynamics():
    given = motion(arm(), 50)
    np.testing.assert_allclose(terms(given) @ coefficients([*TRUTH, 9.81]), given.effort.ravel(),
                               atol=1e-12)


def test_derivatives_are_those_of_the_coefficients():
    x = np.array([*TRUTH, 9.81])
    numeric = np.column_stack([(coefficients(x * np.exp(1e-6 * e)) - coefficients(
        x * np.exp(-1e-6 * e))) / 2e-6 for e in np.eye(5)])
    np.testing.assert_allclose(derivatives(x), numeric, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize('truth', [TRUTH, [0.3, 4.0, 0.2, 1.5], [10.0, 0.05, 2.0, 0.1]])
def test_without_noise_it_is_exact(truth):
    np.testing.assert_allclose(two_link(motion(arm(*truth), 200)).values, truth, rtol=1e-7)


def test_standard_errors_hold():
    exact = motion(arm(), 400)
    z = []
    for seed in range(60):
        found = two_link(noisy(exact, 0.2, seed))
        z += list(abs(found.values - TRUTH) / found.standard_errors)
    assert 0.58 < np.mean(np.array(z) < 1) < 0.78
    assert np.mean(np.array(z) < 3) > 0.98


def test_gravity_is_not_told_from_the_rest():
    found = two_link(motion(arm(), 200))
    assert found.rank == 4
    np.testing.assert_allclose(found.unseen, [-2, -2, 1, 1, 1], atol=1e-6)
    other = arm(2.0 / 4, 0.7 / 4, 0.5 * 2, 0.3 * 2, 9.81 * 2)
    np.testing.assert_allclose(motion(other, 200).effort, motion(arm(), 200).effort, atol=1e-9)
    assert 'm1 by -2 %' in found.unseen_text and 'g by +1 %' in found.unseen_text


def test_another_gravity_gives_another_arm_with_the_same_efforts():
    given = motion(arm(), 200)
    found = two_link(given, g=2 * 9.81)
    np.testing.assert_allclose(found.values, TRUTH * [0.25, 0.25, 2, 2], rtol=1e-7)
    assert found.sigma < 1e-9


def test_what_makes_no_sense_is_refused(planar, spatial):
    given = motion(planar, 50)
    still = replace(given, velocity=0 * given.velocity, acceleration=0 * given.acceleration)
    for refused, options in ((motion(spatial, 20), {}), (given, {'g': 0.0}), (still, {}),
                             (given.part(0, 2), {})):
        with pytest.raises(IdentificationError):
            two_link(refused, **options)
