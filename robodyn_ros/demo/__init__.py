# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The main job, shown: two nodes over ROS 2, an arm that falls, floats, is pushed and driven."""
