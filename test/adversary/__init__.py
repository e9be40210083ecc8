# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults injected from outside, singly and in random compositions, and what becomes of them."""
