# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Drivers of arms that people own; the interface is :mod:`robodyn_ros.driver`."""
