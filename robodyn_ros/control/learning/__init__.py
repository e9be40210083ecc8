# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Efforts, payloads, thresholds and gains learned from recorded or simulated runs."""
