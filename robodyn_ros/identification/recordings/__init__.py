# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What was recorded: files of any kind become raw samples in SI units."""
