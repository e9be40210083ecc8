# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The ROS 2 nodes: parameters, lifecycle, topics and diagnostics around the other rooms."""
