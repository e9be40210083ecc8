# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The controller node: parameters, lifecycle, control loop, reports."""


def main(args: list[str] | None = None) -> int:
    """Run the node until a signal ends it; return the exit code."""
    from . import __main__ as program

    return program.main(args)
