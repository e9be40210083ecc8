# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Compilation of plain functions to machine code; no other subpackage knows Numba's inside."""
