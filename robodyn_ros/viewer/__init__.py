# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A robot in the browser: its shapes, gravity torques, center of mass and inertia ellipsoids."""

REQUIRED_MODULES = ('viser',)
