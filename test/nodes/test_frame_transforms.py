# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Poses after a transform; those of other frames are refused where there is no tf2."""

from importlib.util import find_spec

from geometry_msgs.msg import PoseStamped, Transform
import numpy as np
import pytest
from robodyn_ros.errors import TrajectoryError
from robodyn_ros.nodes.topics.tool_topics import FrameTransforms, transformed
from scipy.spatial.transform import Rotation


def test_a_pose_is_that_of_the_matrices():
    random = np.random.default_rng(0)
    turn, own = Rotation.random(random_state=1), Rotation.random(random_state=2)
    shift, position = random.uniform(-1, 1, 3), random.uniform(-1, 1, 3)
    message = Transform()
    t, r = message.translation, message.rotation
    t.x, t.y, t.z = shift.tolist()
    r.x, r.y, r.z, r.w = turn.as_quat().tolist()
    p, q = transformed(message, position, own.as_quat())
    assert p == pytest.approx(turn.as_matrix() @ position + shift)
    assert Rotation.from_quat(q).as_matrix() == pytest.approx(turn.as_matrix() @ own.as_matrix())
    # What is no rotation stays none, for the check that refuses it
    assert np.linalg.norm(transformed(message, position, 3.0 * own.as_quat())[1]) == (
        pytest.approx(3.0))
    assert not transformed(message, position, np.zeros(4))[1].any()


@pytest.mark.skipif(find_spec('tf2_ros') is not None, reason='tf2 is installed')
def test_without_tf2_another_frame_is_refused_with_the_remedy():
    transforms, message = FrameTransforms(None), PoseStamped()
    message.pose.position.x = 0.3
    for frame in '', 'base':
        message.header.frame_id = frame
        assert transforms.to_base(message, 'base')[0].tolist() == [0.3, 0.0, 0.0]
    message.header.frame_id = 'camera'
    with pytest.raises(TrajectoryError, match="'camera', and tf2_ros is not installed.*base"):
        transforms.to_base(message, 'base')
    transforms.close()
