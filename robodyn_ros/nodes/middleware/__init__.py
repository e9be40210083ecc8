# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Adaptations of rclpy and Fast DDS, independent of controllers."""

from typing import Any


def start(**arguments: Any) -> None:
    """Call ``rclpy.init`` with the Fast DDS profiles of this package."""
    from .middleware import start

    start(**arguments)
