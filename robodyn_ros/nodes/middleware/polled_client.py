# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Service client without executor: its thread polls for the response."""

from collections.abc import Callable
from math import inf
import time
from typing import Any

from rclpy.node import Node

from .executor_subscription import own_executor
from .raw_subscription import LeftAlone

POLL_PERIOD = 0.002    # [s]
PRIVATE_CLIENT_METHODS = 'send_request', 'take_response'    # of rclpy


def never() -> bool:
    """Return False."""
    return False


class PolledClient:
    """
    Client for use by one thread, which may be that of a callback.

    :param kind: type of the service; ``name``: its resolved name.
    """

    def __init__(self, node: Node, kind: Any, name: str):
        self.name, self._node, self._kind = name, node, kind
        self._group = LeftAlone()
        self._client: Any = node.create_client(kind, name, callback_group=self._group)
        self._pending: set[int] = set()     # sequence numbers of requests without a response
        self._futures: list[Any] = []       # of them, where an executor takes the responses
        known = all(hasattr(self._client.handle, name) for name in PRIVATE_CLIENT_METHODS)
        self._spun = None if known else self._spin()

    def call(self, request: Any, within: float, again: float = inf,
             over: Callable[[], bool] = never) -> Any:
        """
        Return the response to a request, None without one.

        :param within: time for the service to be there and to respond [s].
        :param again: time after which a request without response is sent again [s]; a response
            may be lost while the service discovers the client.
        :param over: returns whether to stop waiting.
        """
        self._pending.clear()
        self._futures = []
        end, next_time = time.monotonic() + within, 0.0
        while (now := time.monotonic()) < end and not over():
            if now >= next_time and self._client.service_is_ready():
                self._send(request)
                next_time = now + again
            if (response := self.take()) is not None:
                self._pending.clear()
                self._futures = []      # responses to earlier requests are outdated
                return response
            time.sleep(POLL_PERIOD)
        return None

    def send(self, request: Any) -> None:
        """Send a request, whose response :meth:`take` returns."""
        if self._client.service_is_ready():
            self._send(request)

    def take(self) -> Any:
        """Return the newest response since the last call, None if there is none."""
        newest = None
        if self._spun:
            self._spun[1].spin_once(timeout_sec=0.0)
            while any(future.done() for future in self._futures):
                while not (future := self._futures.pop(0)).done():
                    pass                # a response to an earlier request is outdated
                newest = future.result()
            return newest
        while True:
            header, response = self._client.handle.take_response(self._kind.Response)
            if response is None:
                return newest
            number = header.request_id.sequence_number
            if number in self._pending:
                self._pending = {later for later in self._pending if later > number}
                newest = response

    def _send(self, request: Any) -> None:
        if self._spun:
            self._futures.append(self._client.call_async(request))
        else:
            self._pending.add(self._client.handle.send_request(request))

    def _spin(self) -> tuple[Node, Any]:
        """Fall back to a client of a companion node, whose executor :meth:`take` spins."""
        node = self._node
        node.get_logger().warning('unknown rclpy client; falling back to an executor', once=True)
        node.destroy_client(self._client)
        own, executor = own_executor(node, 'client')
        self._client = own.create_client(self._kind, self.name)
        return own, executor

    def close(self) -> None:
        """Destroy the client."""
        if self._spun:
            self._spun[1].shutdown()
            self._spun[0].destroy_node()
        else:
            self._node.destroy_client(self._client)
