# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Several controllers in one process: the node ``controller`` in each of the namespaces given.

Each has a loop, a guard, an executor and parameters of its own; of a parameter file it takes the
section of its full name, ``/left/controller``. They share an interpreter and the middleware, which
takes a third of the memory of four processes, and they end together.
"""

import sys
from typing import TYPE_CHECKING

from rclpy.exceptions import InvalidNamespaceException

from .controller import __main__ as controller
from .middleware import node_main
from ..errors import RosError

if TYPE_CHECKING:
    from .controller.node import ControllerNode


def make_controller(namespace: str) -> 'ControllerNode':
    """
    Make the controller of a namespace.

    :raises RosError: it is no namespace, or another one is set.
    """
    try:
        node = controller.make_controller(namespace)
    except InvalidNamespaceException as error:
        raise RosError(f'namespace {namespace} is refused', name='namespace', value=namespace,
                       remedy='use names of letters, digits and _, with / between them: left, '
                       '/cell/right') from error
    if (got := node.get_namespace()) != (wanted := '/' + namespace.strip('/')):
        node.run(spin=lambda: None, over=lambda: True)
        node.destroy_node()
        raise RosError(f'the controller of {wanted} is in {got}', name='namespace',
                       value=namespace, remedy='leave out the remapping of __ns')
    return node


def main(args: list[str] | None = None) -> int:
    """Run the nodes until a signal ends them, with the arms at rest; return the exit code."""
    return node_main.main(make_controller, args, controller.parameters(), several=True,
                          load=controller.load)


if __name__ == '__main__':
    sys.exit(main())
