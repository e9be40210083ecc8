# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`nodes.polled_client`: responses that come late, against a real service."""

from threading import Event, Thread
import time

import pytest

pytest.importorskip('rclpy', reason='needs ROS')


def test_late_responses_do_not_hide_later_ones():
    """The response to the second request comes after the third request."""
    from robodyn_ros.nodes.middleware.client_session import session
    from robodyn_ros.nodes.middleware.polled_client import PolledClient
    from std_srvs.srv import Trigger

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
            end = time.monotonic() + 30.0
            while (newest := client.take()) is None or newest.message != str(len(calls)):
                assert time.monotonic() < end
                time.sleep(0.01)
            client.send(Trigger.Request())          # and the next one is heard as before
            while (answer := client.take()) is None:
                assert time.monotonic() < end
                time.sleep(0.01)
            assert int(answer.message) > int(newest.message)
            client.close()
        finally:
            over.set()
            thread.join()
