# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
The controller: a lifecycle node between joint states and effort commands.

The node itself is in :mod:`.node`. It is imported late because its imports are the slowest part of
the start, during which other nodes are discovered.
"""

from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING

from ..middleware import node_main
from ...control.cycle import compile_ahead

if TYPE_CHECKING:
    from .node import ControllerNode
    from ..middleware.parameters import Parameter


def load() -> None:
    """Start compilation on a new machine; import the node meanwhile, which takes a second."""
    compile_ahead.begin_on_a_new_machine()
    import_module('.node', __package__)


def make_controller(namespace: str | None = None) -> 'ControllerNode':
    """Create the node; without a namespace, in that of the ROS arguments."""
    from .node import ControllerNode
    return ControllerNode(namespace)


def parameters() -> Iterator['Parameter']:
    """Yield the parameters of the node."""
    from .parameters import TABLE
    yield from TABLE


def main(args: list[str] | None = None) -> int:
    """Run the node until a signal, then bring the arm to rest; return the exit code."""
    return node_main.main(make_controller, args, parameters(), load=load)


if __name__ == '__main__':
    raise SystemExit(main())
