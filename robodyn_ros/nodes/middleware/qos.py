# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Quality-of-service profiles of all topics."""

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

# Compatible with publishers and subscribers of either reliability
STATES_OUT = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE)
# In lockstep no state is lost to a reliable subscriber, however long it waits for a processor
ALL_STATES = QoSProfile(depth=5000, reliability=ReliabilityPolicy.RELIABLE)
STATES_IN = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
# Forward controllers of ros2_control request reliable publishers.
COMMANDS = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE)
# As robot_state_publisher: late subscribers receive the last message.
DESCRIPTION = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE,
                         durability=DurabilityPolicy.TRANSIENT_LOCAL)
# Displays may request either reliability.
TELEMETRY = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE)
# /clock as rclpy itself subscribes to it; only the newest counts.
CLOCK_OUT = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE)
CLOCK_IN = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
# Compatible with publishers of either reliability; a late heartbeat is worthless.
HEARTBEAT = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
# A stop must not be lost: best-effort publishers do not match, and silence is a stop. A volatile
# reader matches both durabilities; a transient local one receives earlier messages.
STOP = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE)
LATCHED_STOP = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE,
                          durability=DurabilityPolicy.TRANSIENT_LOCAL)
