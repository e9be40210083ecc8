# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Planning of trajectories and poses, outside of the control cycle."""
