# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Recordings of the last control cycles before a fault: files, and replay of their cycles."""
