# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""ROS 2 nodes: parameters, lifecycle, topics and diagnostics around the other subpackages."""
