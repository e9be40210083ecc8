# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Questions to services of other nodes, whose answers are not lost."""

from collections.abc import Callable
from typing import Any

from rcl_interfaces.srv import GetParameterTypes
from rclpy.client import Client
from rclpy.node import Node
from rclpy.task import Future

from .client_session import until

AGAIN = 1.0         # s after which a harmless question is asked again


class Services:
    """
    Clients of services, made when they are first asked, each after it has met its server.

    That a service is ready says that the client knows it, not that it knows the client: Fast DDS
    drops an answer whose reader it has not met within 100 ms (ros2/rmw_fastrtps, issue 842), in
    one of thirty first questions to a node that has just started on a busy machine. What a process
    makes is announced in order. So a client made later asks for something harmless, again if need
    be, and once it is answered the earlier one is known too.

    :param poll: called again and again while something is waited for; it spins the node.
    """

    def __init__(self, node: Node, poll: Callable[[], None]):
        self._node, self._poll = node, poll
        self._clients: dict[str, Client] = {}

    def ask(self, kind: Any, name: str, request: Any, within: float) -> Future:
        """
        Ask a service of a node that has parameter services, and return its answer-to-be.

        :param name: node and service, e.g. ``/controller/change_state``.
        :param within: time [s] for the node to start and be met.
        :raises TimeoutError: naming the service, when it does not.
        """
        if name not in self._clients:
            client: Client = self._node.create_client(kind, name)
            self._meet(name, client, within)
            self._clients[name] = client
        if not until(self._clients[name].service_is_ready, within, self._poll):
            raise TimeoutError(f'service {name}: not ready within {within:g} s')
        return self._clients[name].call_async(request)

    def call(self, kind: Any, name: str, request: Any, within: float, start: float) -> Any:
        """
        Ask a service and wait for its answer.

        :param within: time [s] for the answer.
        :param start: time [s] for the node to start, as for :meth:`ask`.
        :raises TimeoutError: naming the service, when either is exceeded.
        """
        answer = self.ask(kind, name, request, start)
        if not until(answer.done, within, self._poll):
            raise TimeoutError(f'service {name}: no answer within {within:g} s')
        return answer.result()

    def _meet(self, name: str, client: Client, within: float) -> None:
        later: Client = self._node.create_client(
            GetParameterTypes, f'{name.rpartition("/")[0]}/get_parameter_types')

        def ready() -> bool:
            return client.service_is_ready() and later.service_is_ready()

        def answered() -> bool:
            return ready() and until(later.call_async(GetParameterTypes.Request()).done, AGAIN,
                                     self._poll)
        try:
            if not until(answered, within, self._poll):
                raise TimeoutError(f'service {name}: its node has not answered within '
                                   f'{within:g} s')
        finally:
            self._node.destroy_client(later)
