# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The 2R and RP arms against the closed forms that textbooks print."""

import numpy as np
from numpy import cos, sin
import pytest

g = 9.81
STATES = np.random.default_rng(7).uniform(-2, 2, (20, 3, 2))


def two_link(q, qd, qdd):
    """Craig 2005, eq. 6.58: both masses are points at the distal end of their link."""
    l1, l2, m1, m2 = 0.5, 0.4, 2.0, 1.0
    c1, c2, s2, c12 = cos(q[0]), cos(q[1]), sin(q[1]), cos(q[0] + q[1])
    tau1 = (m2 * l2**2 * (qdd[0] + qdd[1]) + m2 * l1 * l2 * c2 * (2 * qdd[0] + qdd[1])
            + (m1 + m2) * l1**2 * qdd[0] - m2 * l1 * l2 * s2 * qd[1]**2
            - 2 * m2 * l1 * l2 * s2 * qd[0] * qd[1] + m2 * l2 * g * c12
            + (m1 + m2) * l1 * g * c1)
    tau2 = (m2 * l1 * l2 * c2 * qdd[0] + m2 * l1 * l2 * s2 * qd[0]**2 + m2 * l2 * g * c12
            + m2 * l2**2 * (qdd[0] + qdd[1]))
    return np.array([tau1, tau2])


def two_link_mass_matrix(q):
    """Craig 2005, eq. 6.60."""
    l1, l2, m1, m2 = 0.5, 0.4, 2.0, 1.0
    c2 = cos(q[1])
    m12 = l2**2 * m2 + l1 * l2 * m2 * c2
    return np.array([[l2**2 * m2 + 2 * l1 * l2 * m2 * c2 + l1**2 * (m1 + m2), m12],
                     [m12, l2**2 * m2]])


def rp(q, qd, qdd):
    """Craig 2005, example 6.5, without the inertias about the centers of mass."""
    l1, m1, m2 = 0.3, 3.0, 1.5
    d2, dd2 = q[1], qd[1]
    tau1 = ((m1 * l1**2 + m2 * d2**2) * qdd[0] + 2 * m2 * d2 * qd[0] * dd2
            + (m1 * l1 + m2 * d2) * g * cos(q[0]))
    tau2 = m2 * qdd[1] - m2 * d2 * qd[0]**2 + m2 * g * sin(q[0])
    return np.array([tau1, tau2])


def rp_mass_matrix(q):
    """Return the factors of the accelerations above."""
    l1, m1, m2 = 0.3, 3.0, 1.5
    return np.diag([m1 * l1**2 + m2 * q[1]**2, m2])


ARMS = {'two_link': (two_link, two_link_mass_matrix), 'rp': (rp, rp_mass_matrix)}


@pytest.mark.parametrize('name', ARMS)
def test_agrees_with_the_closed_form(robot, close, name):
    dynamics, (effort, mass_matrix), rest = robot(name).dynamics, ARMS[name], np.zeros(2)
    for q, qd, qdd in STATES:
        close(dynamics.inverse_dynamics(q, qd, qdd), effort(q, qd, qdd), 1e-12)
        close(dynamics.bias(q, qd), effort(q, qd, rest), 1e-12)
        close(dynamics.gravity(q), effort(q, rest, rest), 1e-12)
        close(dynamics.mass_matrix(q), mass_matrix(q), 1e-12)
        close(dynamics.forward_dynamics(q, qd, effort(q, qd, qdd)), qdd, 1e-10)
