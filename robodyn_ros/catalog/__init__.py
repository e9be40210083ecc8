# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Catalog of robots by name, and of the optional packages that commands require."""
