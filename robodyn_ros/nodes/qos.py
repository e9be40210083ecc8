# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The quality of service of our topics; both ends of a topic take it from here."""

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

# Joint states are published so that anybody hears them, and heard however they are published: a
# lost one is as good as an old one.
STATES_OUT = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE)
STATES_IN = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
# Forward controllers of ros2_control subscribe reliably, and hear nothing less.
COMMANDS = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE)
# As robot_state_publisher: who comes late gets the last one.
DESCRIPTION = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE,
                         durability=DurabilityPolicy.TRANSIENT_LOCAL)
# /clock as rclpy itself hears it; only the newest counts.
CLOCK_OUT = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE)
CLOCK_IN = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
# However it is published, a heartbeat is heard; one that is late is worth nothing.
HEARTBEAT = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
# A stop must come through: a publisher that may lose it is not heard, and not hearing is a stop.
# A volatile reader hears publishers of both durabilities, a latched one what was said before it.
STOP = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE)
LATCHED_STOP = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE,
                          durability=DurabilityPolicy.TRANSIENT_LOCAL)
