# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Mutated URDFs and messages, and what has to hold for each of them; `make fuzz`."""
