# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Flight recorder files and replay: the last seconds of a controller, read back and run again."""
