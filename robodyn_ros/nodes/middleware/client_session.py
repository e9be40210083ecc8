# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Nodes of the command-line tools, and clients of services: with an executor, and without."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import inf
import signal
import threading
import time
from typing import Any

from rcl_interfaces.srv import GetParameterTypes
from rclpy.client import Client
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.task import Future

from .executor import CoarseClockExecutor
from .middleware import lone_node
from .raw_subscription import LeftAlone, own_executor

REPLY_POLL_PERIOD = 0.002    # [s]
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
            time.sleep(REPLY_POLL_PERIOD)
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


POLL_PERIOD = 0.05    # [s]


class Session:
    """
    Node of a command with its executor, for use by one thread.

    :ivar over: set by SIGINT and SIGTERM.
    :ivar look: called in each :meth:`poll`; what it raises ends the wait.
    """

    def __init__(self, node: Node, executor: CoarseClockExecutor, over: threading.Event):
        self.node, self.over, self._executor = node, over, executor
        self.look: Callable[[], None] = lambda: None

    def poll(self, within: float = POLL_PERIOD) -> None:
        """Run a callback, due ``within`` [s]; raise :class:`KeyboardInterrupt` after a signal."""
        self._executor.spin_once(timeout_sec=within)
        if self.over.is_set():
            raise KeyboardInterrupt
        self.look()

    def until(self, condition: Callable[[], object], within: float) -> bool:
        """Wait at most ``within`` [s] until the condition holds; return whether it does."""
        return until(condition, within, self.poll)


def until(condition: Callable[[], object], within: float, poll: Callable[[], None]) -> bool:
    """Poll at most ``within`` [s] until the condition holds; return whether it does."""
    end = time.monotonic() + within
    while not condition():
        if time.monotonic() > end:
            return False
        poll()
    return True


@contextmanager
def session(name: str, sim_time: bool = False,
            arguments: Sequence[str] = ()) -> Iterator[Session]:
    """
    Yield a session, whose node has no parameter services, and end it afterwards.

    :param arguments: of ROS, beginning with ``--ros-args``.
    """
    over = threading.Event()
    before = {number: signal.signal(number, lambda *_: over.set())
              for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        with lone_node(name, arguments, enable_rosout=False, start_parameter_services=False,
                       parameter_overrides=[Parameter('use_sim_time', value=sim_time)]) as node:
            executor = CoarseClockExecutor(node.context)
            executor.add_node(node)
            try:
                yield Session(node, executor, over)
            finally:
                executor.shutdown()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


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
