# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Simulated worlds in which the compiled controller is judged: faults, random plants, results."""
