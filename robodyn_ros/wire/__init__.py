# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The bytes of ROS messages in and out: bounds-checked, allocation-free, without ROS."""
