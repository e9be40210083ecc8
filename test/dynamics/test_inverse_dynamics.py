# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Inverse dynamics against Pinocchio."""

from dataclasses import replace

import numpy as np
from robodyn_ros import Dynamics


def test_agrees_with_pinocchio(case, close):
    for q, qd, qdd in case.states():
        close(case.dynamics.inverse_dynamics(q, qd, qdd), case.rnea(q, qd, qdd))


def test_agrees_under_wrenches_on_the_moving_bodies(case, close):
    wrenches = np.random.default_rng(2).uniform(-20, 20, (case.model.nv, 6))
    by_name = dict(zip(case.model.link_names, wrenches, strict=True))
    for q, qd, qdd in case.states():
        theirs = case.rnea(q, qd, qdd, by_name)
        close(case.dynamics.inverse_dynamics(q, qd, qdd, wrenches, 'body'), theirs)
        close(case.dynamics.inverse_dynamics(q, qd, qdd, by_name, 'body'), theirs)


def test_agrees_under_wrenches_on_every_frame(case, close):
    rng = np.random.default_rng(3)
    wrenches = {name: rng.uniform(-20, 20, 6) for name in case.model.frame_names}
    fixed_ones = set(case.model.frame_names) - set(case.model.link_names)
    assert fixed_ones
    for q, qd, qdd in case.states():
        close(case.dynamics.inverse_dynamics(q, qd, qdd, wrenches, 'body'),
              case.rnea(q, qd, qdd, wrenches))


def test_a_force_that_lifts_a_body_takes_its_weight_off_the_joints(robot, close):
    case = robot('two_link')
    q, zero = np.array([0.3, 0.4]), np.zeros(2)
    c1, c12 = np.cos(q[0]), np.cos(q.sum())
    lift = {'tool0': [0, 0, 5.0, 0, 0, 0]}
    held = case.dynamics.inverse_dynamics(q, zero, zero, lift, 'aligned')
    saved = case.dynamics.gravity(q) - held
    close(saved, 5.0 * np.array([0.5 * c1 + 0.4 * c12, 0.4 * c12]), 1e-12)


def test_armature_adds_to_the_effort_of_acceleration_alone(robot, close):
    case = robot('panda')
    armature = np.arange(1.0, 8.0)
    heavy = Dynamics(replace(case.model, armature=armature))
    for q, qd, qdd in case.states():
        close(heavy.inverse_dynamics(q, qd, qdd), case.rnea(q, qd, qdd) + armature * qdd)
        close(heavy.bias(q, qd), case.bias(q, qd))


def test_positions_far_out_are_as_good_as_near_ones(robot, close):
    case = robot('ur5')
    for q, qd, qdd in case.states():
        far = q + 2 * np.pi * 1e9
        close(case.dynamics.inverse_dynamics(far, qd, qdd), case.rnea(far, qd, qdd))
