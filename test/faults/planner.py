# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A planner that sends feedback policies to the controller of an :class:`~faults.arm.Arm`."""

import numpy as np
from robodyn_ros.nodes.topics.policy_message import policy_message
from std_msgs.msg import Float64MultiArray

GAIN = np.hstack([np.diag([40.0, 10.0]), np.diag([4.0, 1.0])])


def planner(arm):
    """Return a publisher of policies that the controller hears."""
    publisher = arm.remote.node.create_publisher(Float64MultiArray, '/controller/policy', 1)
    arm.remote.until(publisher.get_subscription_count, 'the controller')
    return publisher


def planned(arm, names=None, stamp=None, **changed):
    """Return a policy that holds the arm with another effort than g(q)."""
    parts = {'effort': arm.gravity + [1.0, 0.5], 'position': arm.position,
             'velocity': np.zeros(2), 'gain': GAIN, **changed}
    return policy_message(names or arm.names, arm.time if stamp is None else stamp, **parts)
