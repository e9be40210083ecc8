# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Declarations of parameters, and the records and vectors of the control cycle."""
