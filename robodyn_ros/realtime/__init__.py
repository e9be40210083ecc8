# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Control loop at a fixed rate: timing, scheduling and statistics."""
