# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""When things happen: the grid of a fixed-rate loop and figures about it."""
