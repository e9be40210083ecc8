# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Answers of services are not lost, and one that does not come is named."""

from threading import Event, Thread

from processes import DEADLINE, until as eventually
import pytest
from rcl_interfaces.msg import SetParametersResult
from rcl_interfaces.srv import GetParameters, SetParametersAtomically
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from robodyn_ros.nodes.middleware.client_session import (
    PolledClient, RESEND_INTERVAL, Services, session, until)
from robodyn_ros.nodes.middleware.middleware import lone_node
from std_srvs.srv import Trigger

SUCCESS = SetParametersResult(successful=True)


@pytest.fixture
def asked():
    """Return a node of a context of its own, as in another process, that nobody spins."""
    with lone_node('asked') as asked:
        asked.declare_parameter('times', 0)
        yield asked


@pytest.fixture
def listening(plain, asked):
    """Return the executor of the node that asks, and what spins both nodes."""
    listens = SingleThreadedExecutor(context=asked.context)
    listens.add_node(asked)

    def spin():
        plain.spin_once(0.02)
        listens.spin_once(0.02)
    yield plain, spin
    listens.shutdown()


def test_nothing_is_asked_of_a_node_that_does_not_answer_yet(node, asked, listening):
    """The question itself goes out once, after the node has answered a harmless one."""
    executor, spin = listening
    services, times = Services(node, lambda: executor.spin_once(0.02)), []
    asked.add_on_set_parameters_callback(lambda changes: times.append(changes) or SUCCESS)
    request = SetParametersAtomically.Request(
        parameters=[Parameter('times', value=1).to_parameter_msg()])
    name = '/asked/set_parameters_atomically'
    with pytest.raises(TimeoutError, match=f'service {name}: its node has not answered within 3'):
        services.ask(SetParametersAtomically, name, request, 2.5 * RESEND_INTERVAL + 0.5)
    until(lambda: False, 0.5, spin)
    assert times == []

    services = Services(node, spin)
    assert services.call(SetParametersAtomically, name, request, DEADLINE,
                         DEADLINE).result.successful
    assert len(times) == 1


def test_answer_that_does_not_come(node, asked, listening):
    """Named, with the time that was waited."""
    executor, spin = listening
    deaf = Event()
    services = Services(node, lambda: executor.spin_once(0.02) if deaf.is_set() else spin())
    name, request = '/asked/get_parameters', GetParameters.Request(names=['times'])
    for _ in range(2):
        got = services.call(GetParameters, name, request, DEADLINE, DEADLINE)
        assert [value.integer_value for value in got.values] == [0]
    deaf.set()
    with pytest.raises(TimeoutError, match=f'service {name}: no answer within 0.2 s'):
        services.call(GetParameters, name, request, 0.2, DEADLINE)


def test_late_responses_do_not_hide_later_ones():
    """The response to the second request comes after the third request."""
    go_on, calls = Event(), []
    go_on.set()

    def serve(request, response):
        calls.append(request)
        go_on.wait(30.0)
        response.message = str(len(calls))
        return response

    with session('polled_client_service') as server, session('polled_client_test') as here:
        server.node.create_service(Trigger, 'slow', serve)
        over = Event()
        thread = Thread(target=lambda: server.until(over.is_set, 120.0))
        thread.start()
        try:
            client = PolledClient(here.node, Trigger, '/slow')
            assert client.call(Trigger.Request(), 30.0, 1.0) is not None
            go_on.clear()
            client.send(Trigger.Request())
            client.send(Trigger.Request())
            assert client.take() is None
            go_on.set()
            eventually(lambda: (newest := client.take()) and newest.message == str(len(calls)))
            before = len(calls)
            client.send(Trigger.Request())          # and the next one is heard as before
            eventually(lambda: (newest := client.take()) and int(newest.message) > before)
            client.close()
        finally:
            over.set()
            thread.join()
