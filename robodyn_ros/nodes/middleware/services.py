# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Service clients whose responses are not lost during discovery."""

from collections.abc import Callable
from typing import Any

from rcl_interfaces.srv import GetParameterTypes
from rclpy.client import Client
from rclpy.node import Node
from rclpy.task import Future

from .client_session import until

RESEND_INTERVAL = 1.0    # [s] of idempotent requests


class Services:
    """
    Clients of services, made at their first request and used once the server has discovered them.

    A service that is ready has been discovered by the client, which need not have been discovered
    by the server: Fast DDS drops a response whose reader it has not discovered within 100 ms
    (ros2/rmw_fastrtps, issue 842), for one in thirty first requests to a node that has just
    started on a busy machine. Endpoints of a process are announced in order. A second client, made
    later, therefore sends a harmless request, repeatedly if necessary; once it is answered, the
    first one has been discovered too.

    :param poll: called repeatedly while waiting; it spins the node.
    """

    def __init__(self, node: Node, poll: Callable[[], None]):
        self._node, self._poll = node, poll
        self._clients: dict[str, Client] = {}

    def ask(self, kind: Any, name: str, request: Any, within: float) -> Future:
        """
        Call a service of a node that has parameter services; return the future of its response.

        :param name: node and service, e.g. ``/controller/change_state``.
        :param within: time [s] for the node to start and be discovered.
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
        Call a service and return its response.

        :param within: time [s] for the response.
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
            return ready() and until(later.call_async(GetParameterTypes.Request()).done,
                                     RESEND_INTERVAL,
                                     self._poll)
        try:
            if not until(answered, within, self._poll):
                raise TimeoutError(f'service {name}: its node has not answered within '
                                   f'{within:g} s')
        finally:
            self._node.destroy_client(later)
