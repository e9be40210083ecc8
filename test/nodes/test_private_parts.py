# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Without the private parts of rclpy, librcl and librcutils the nodes do the same, more slowly."""

import ctypes
import sys
import threading
import time

from processes import DEADLINE, until
import pytest
from rclpy.executors import Executor
from rclpy.serialization import serialize_message
from robodyn_ros.errors import DataPathError
from robodyn_ros.nodes.middleware import client_session, raw_subscription, raw_waitable
from robodyn_ros.nodes.middleware.executor import TolerantExecutor
from robodyn_ros.wire import cdr
from std_msgs.msg import String
from std_srvs.srv import Trigger


class Without:
    """The extension module of rclpy, or one of its classes, without a name."""

    def __init__(self, whole, missing):
        self._whole, self._missing = whole, missing

    def __getattr__(self, name):
        if name == self._missing:
            raise AttributeError(name)
        return getattr(self._whole, name)


def heard(node, subscription):
    """Return a message that is published to a subscription."""
    publisher, taken = node.create_publisher(String, 'text', 10), None
    end = time.monotonic() + DEADLINE
    while taken is None and time.monotonic() < end:
        publisher.publish(String(data='here'))
        subscription.wait(20_000_000)
        taken = subscription.take()
    return taken.message


@pytest.mark.parametrize('name', ['GuardCondition', 'WaitSet', 'Subscription'])
def test_messages_are_taken_by_an_executor(node, monkeypatch, capfd, name):
    """The native and the python data path say why not, and a topic is heard all the same."""
    monkeypatch.setattr(raw_subscription, '_rclpy', Without(raw_subscription._rclpy, name))
    with pytest.raises(DataPathError, match=f'rclpy lacks {name}'):
        raw_subscription.SerializedSubscription(node, String, 'text', 10)
    subscription = raw_subscription.open_subscription(node, String, 'text', 10)
    assert isinstance(subscription, raw_subscription.ExecutorSubscription)
    assert heard(node, subscription) == serialize_message(String(data='here'))
    assert capfd.readouterr().err.count('rclpy lacks ') == 1
    subscription.destroy()


@pytest.fixture
def libraries():
    """Let the libraries be loaded anew."""
    for function in raw_waitable.rcl, cdr.rcutils:
        function.cache_clear()
    yield
    for function in raw_waitable.rcl, cdr.rcutils:
        function.cache_clear()


@pytest.mark.parametrize('missing', ['librcl.so', 'librcutils.so', 'layout'])
def test_large_messages_are_taken_by_rclpy(node, plain, monkeypatch, libraries, capfd, missing):
    """The first bytes, the size and the age of each; a warning says what it costs."""
    load = ctypes.CDLL

    def without(name, *arguments, **options):
        if name == missing:
            raise OSError(f'{name}: cannot open shared object file')
        return load(name, *arguments, **options)
    monkeypatch.setattr(ctypes, 'CDLL', without)
    if missing == 'layout':
        monkeypatch.setattr(cdr.SerializedBytes, 'capacity', 0)
    got = []
    messages = raw_waitable.subscribe(node, String, 'text', 10, 10,
                                      lambda data, size: got.append((bytes(data), size)))
    assert isinstance(messages, raw_waitable.CopiedMessages)
    publisher = node.create_publisher(String, 'text', 10)
    until(lambda: got, lambda: publisher.publish(String(data='a message'))
          or plain.spin_once(0.02))
    sent = serialize_message(String(data='a message'))
    assert got[0] == (sent[:10], len(sent)) and 0.0 < messages.transit < DEADLINE
    assert 'a message of a megabyte' in capfd.readouterr().err


def test_the_nodes_can_be_imported_without_the_libraries(start):
    """What needs them says so where it is used."""
    code = """
import ctypes, sys
load = ctypes.CDLL
def without(name, *arguments, **options):
    if name in ('librcl.so', 'librcutils.so'):
        raise OSError(name)
    return load(name, *arguments, **options)
ctypes.CDLL = without
import robodyn_ros.nodes.controller.node, robodyn_ros.nodes.simulator
print('imported')
"""
    process = start([sys.executable, '-c', code])
    assert process.wait() == 0 and 'imported' in process.text


def test_callbacks_run_where_rclpy_makes_their_handlers_in_another_way(node, monkeypatch, capfd):
    """As if the method had another name; an exception still does not end the node."""
    monkeypatch.setattr(Executor, '_renamed', Executor._make_handler, raising=False)
    for function in vars(Executor).values():
        code = getattr(function, '__code__', None)
        if code and '_make_handler' in code.co_names:
            monkeypatch.setattr(function, '__code__', code.replace(co_names=tuple(
                '_renamed' if name == '_make_handler' else name for name in code.co_names)))
    monkeypatch.delattr(Executor, '_make_handler')
    executor, ticks = TolerantExecutor(node), []

    def tick():
        ticks.append(0)
        raise OSError('out of order')
    node.create_timer(0.001, tick)
    until(lambda: len(ticks) >= 5, lambda: executor.spin_once(0.1))
    executor.shutdown()
    said = capfd.readouterr().err
    assert said.count('unknown rclpy executor') == 1
    assert 'OSError: out of order' in said


def test_requests_are_sent_where_the_handle_cannot(node, plain, monkeypatch, capfd):
    """A client of a node of its own sends them, and an executor takes the responses."""
    def answer(request, response):
        response.message = 'done'
        return response
    node.create_service(Trigger, 'ask', answer)
    over = threading.Event()

    def serve():
        while not over.is_set():
            plain.spin_once(0.05)
    monkeypatch.setattr(client_session, 'PRIVATE_CLIENT_METHODS',
                        ('send_request_of_another_version',))
    client = client_session.PolledClient(node, Trigger, '/ask')
    thread = threading.Thread(target=serve)
    thread.start()
    try:
        assert client.call(Trigger.Request(), DEADLINE, 1.0).message == 'done'
        client.send(Trigger.Request())
        responses = []
        until(lambda: responses.append(client.take()) or responses[-1])
        assert responses[-1].message == 'done'
    finally:
        over.set()
        thread.join()
        client.close()
    assert capfd.readouterr().err.count('unknown rclpy client') == 1
