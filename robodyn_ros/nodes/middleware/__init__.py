# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""rclpy and Fast DDS as our nodes need them; nothing of controllers."""

from typing import Any


def start(**arguments: Any) -> None:
    """Call ``rclpy.init`` with these arguments, so that its nodes start and soon know others."""
    from .middleware import start

    start(**arguments)
