# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Steps of the control cycle: guard, limits, observers, one in each module."""
