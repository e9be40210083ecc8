# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Hostile bytes for the decoders of `robodyn_ros.wire`, and what has to hold for each of them."""
