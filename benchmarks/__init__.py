# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Benchmarks of dynamics and control loop beside other libraries, interleaved in one run."""
