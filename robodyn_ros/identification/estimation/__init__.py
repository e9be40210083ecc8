# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Estimation of parameters from a motion, with their uncertainty."""
