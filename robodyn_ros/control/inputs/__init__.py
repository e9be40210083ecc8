# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Inputs of the control cycle, written by others: references, policy, partner, task, bounds."""
