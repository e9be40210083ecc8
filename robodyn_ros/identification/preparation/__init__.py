# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""From raw samples to a clean motion; every selection is stated."""
