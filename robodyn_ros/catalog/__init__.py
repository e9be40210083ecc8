# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Robots that commands find by name, and the optional packages that they need."""
