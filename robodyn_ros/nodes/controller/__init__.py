# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The controller node: parameters, lifecycle, control loop, reports."""


def main(args: list[str] | None = None) -> int:
    """Run the node until a signal ends it; return the exit code."""
    from .run import main as run

    return run(args)
