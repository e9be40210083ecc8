# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The simulator node: a simulated arm on the topics of the controller."""


def main(args: list[str] | None = None) -> int:
    """Run the node until a signal ends it; return the exit code."""
    from .node import main as run

    return run(args)
