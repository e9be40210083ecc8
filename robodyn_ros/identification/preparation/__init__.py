# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Preparation of a recording: from raw samples to a filtered motion."""
