# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What clients ask of a controller, of the page above all, with services that the test plays."""

from contextlib import nullcontext
from math import tau
from types import SimpleNamespace

from control.rig import TURNING
from lifecycle_msgs.msg import State
from lifecycle_msgs.srv import ChangeState, GetState
import numpy as np
import pytest
from rcl_interfaces.msg import ParameterType, SetParametersResult
from rcl_interfaces.srv import GetParameters, SetParametersAtomically
from rclpy.parameter import Parameter
from rclpy.task import Future
from robodyn_ros import load_urdf
from robodyn_ros.control.cycle.compile_ahead import COMPILING
from robodyn_ros.control.references.trajectory import QUINTIC_PEAK_RATIO, Waypoints
from robodyn_ros.errors import RosError
from robodyn_ros.model.resources import robot_path
from robodyn_ros.nodes.clients import play
from robodyn_ros.nodes.clients.live_control import BASE, GAINS, LiveControl
from robodyn_ros.nodes.clients.running_controller import (
    PARAMETERS, RETRY_INTERVAL, TRANSITION_TIMEOUT, TRANSITIONS)
from robodyn_ros.viewer.wishes import Change, Command, Go
from std_srvs.srv import Trigger

UNCONFIGURED, INACTIVE, ACTIVE = (getattr(State, f'PRIMARY_STATE_{name}') for name in (
    'UNCONFIGURED', 'INACTIVE', 'ACTIVE'))
RESET, BRAKES = '/left/controller/reset', '/left/simulator/release_brakes'


class Page:
    """Client of the page for an arm in the namespace `left`, and the node that it asks."""

    def __init__(self, state=ACTIVE, model=None, **parameters):
        self.state, self.sent, self.published, self.now = state, [], [], 1.0
        self.values = {name: PARAMETERS[name].default for name in (*BASE, *GAINS)} | parameters
        #: Reasons of services that refuse once, and responses that are to come.
        self.refusals, self.waiting = {}, []
        self.control = LiveControl(self, 'left/controller', 'left/simulator', model)
        self.go_on()

    def do(self, wish):
        """Do what the page asks for; return its answers."""
        self.control.do(wish, self.now)
        return self.go_on()

    def go_on(self):
        """Respond as long as something is asked; return the answers of the page."""
        lines = self.control.answers(self.now)
        while self.waiting:
            lines += self.respond()
        return lines

    def respond(self):
        """Respond to what has been asked; return the answers of the page."""
        waiting, self.waiting = self.waiting, []
        for future, response in waiting:
            future.set_result(response)
        return self.control.answers(self.now)

    # The node

    def create_client(self, kind, name):
        return SimpleNamespace(service_is_ready=lambda: True,
                               call_async=lambda request: self._call(kind, name, request))

    def _call(self, kind, name, request):
        response, why = kind.Response(), self.refusals.pop(name, '')
        if kind is GetState:
            response.current_state.id = self.state
        elif kind is GetParameters:
            response.values = [Parameter(one, value=self.values[one]).get_parameter_value()
                               for one in request.names]
        elif kind is SetParametersAtomically:
            self.sent.append(request.parameters)
            response.result = SetParametersResult(successful=not why, reason=why)
        elif kind is ChangeState:
            self.sent.append({n: t for t, n in TRANSITIONS.items()}[request.transition.id])
            response.success = not why
        else:
            self.sent.append(name)
            response = Trigger.Response(success=not why, message=why or 'done')
        self.waiting.append((Future(), response))
        return self.waiting[-1][0]

    def get_service_names_and_types(self):
        return [(name, []) for name in (BRAKES, '/simulator/release_brakes',
                                        '/left/other/inner/release_brakes')]

    def create_publisher(self, kind, topic, qos):
        return SimpleNamespace(get_subscription_count=lambda: 1, publish=self.published.append)

    def create_subscription(self, *_):
        pass


@pytest.mark.parametrize(('state', 'asked'), [
    (UNCONFIGURED, ['configure', 'activate', BRAKES]), (INACTIVE, ['activate', BRAKES]),
    (ACTIVE, [RESET, BRAKES])])
def test_arming_releases_the_brakes_beside_the_controller(state, asked):
    page = Page(state)
    (line,) = page.do(Command.ARM)
    assert page.sent == asked and not line.problem and line.text.endswith('; done')


@pytest.mark.parametrize(('service', 'asked'), [(RESET, [RESET]), (BRAKES, [RESET, BRAKES])])
def test_a_refusal_is_reported_and_ends_arming(service, asked):
    page = Page()
    page.refusals[service] = 'it moves'
    assert page.do(Command.ARM) == [(f'{service} refused: it moves', True)]
    assert page.sent == asked


@pytest.mark.parametrize(('stop', 'asked'), [
    (Command.STOP, ['configure', 'deactivate']), (Command.EMERGENCY_STOP, ['configure'])])
def test_no_stop_is_followed_by_an_activation(stop, asked):
    """Of an arm that is being configured when the button is pressed."""
    page = Page(UNCONFIGURED)
    page.control.do(Command.ARM, page.now)
    page.respond()
    assert page.sent == ['configure']
    page.do(stop)
    assert page.sent == asked


def test_arming_is_waited_for_as_long_as_it_may_take():
    page = Page()
    page.control.do(Command.ARM, page.now)
    page.respond()
    assert page.control.answers(page.now + PARAMETERS['arming_timeout'].upper) == []
    (line,) = page.control.answers(page.now + TRANSITION_TIMEOUT + 1.0)
    assert line.problem and 'no answer' in line.text


def test_a_change_whose_code_is_being_compiled_is_made_later():
    page = Page()
    page.refusals['/left/controller/set_parameters_atomically'] = f'the code is {COMPILING}'
    assert page.do(Change({'mode': 'pd'})) == [] and len(page.sent) == 1
    page.now += 2.0 * RETRY_INTERVAL
    assert page.go_on() == [('accepted: mode = pd', False)] and len(page.sent) == 2


def test_an_empty_list_has_the_type_of_its_parameter():
    page = Page()
    page.do(Change({'velocity_limit': '[]', 'poses': '[]'}))
    (limit, poses), = page.sent
    assert limit.value.type == ParameterType.PARAMETER_DOUBLE_ARRAY
    assert poses.value.type == ParameterType.PARAMETER_STRING_ARRAY


@pytest.mark.parametrize('given', [[0.4, 0.8], []])
def test_a_motion_is_slow_by_the_limits_of_the_controller(given):
    """Which a URDF may lack, and a person may lower."""
    text = robot_path('two_link').read_text()
    model = load_urdf(text.replace('velocity="8"', 'velocity="0"') if given else text)
    page = Page(model=model, velocity_limit=given, velocity_scale=0.5)
    assert page.do(Go(np.array([0.0, 0.3]), np.array([0.5, 0.3]))) == []
    (message,) = page.published
    (point,) = message.points
    limit = 0.5 * (given or model.velocity_limit)[0]
    assert point.positions.tolist() == [0.5, 0.3]
    assert point.time_from_start.sec + 1e-9 * point.time_from_start.nanosec == pytest.approx(
        max(2.0, QUINTIC_PEAK_RATIO * 0.5 / (0.25 * limit)))


def test_a_motion_takes_the_time_of_the_shortest_way():
    """A continuous joint is a turn further than its goal, which is 0.5 rad away."""
    page = Page(model=TURNING, velocity_limit=[0.4, 0.8], velocity_scale=1.0)
    assert page.do(Go(np.array([6.7, 0.3]), np.array([6.2 - tau, 0.3]))) == []
    (point,) = page.published[0].points
    assert point.positions.tolist() == pytest.approx([6.2, 0.3])
    assert point.time_from_start.sec == int(QUINTIC_PEAK_RATIO * 0.5 / (0.25 * 0.4))


@pytest.mark.parametrize(('why', 'turns', 'end', 'taken'), [
    ('', 0.0, 1.0, 100.0), ('', tau, 1.0, 100.0),
    ('is not running: it is blocked', 0.0, 1.0, 50.0),
    ('does not go to the end: it is blocked', 0.0, 0.3, 45.0)])
def test_a_motion_that_bounds_slow_down_is_played_to_its_end(monkeypatch, why, turns, end, taken):
    """It takes 100 s in place of 2, in whatever turn; a fault is an error, or an early end."""
    time = [1.0]
    monkeypatch.setattr(play, 'time', SimpleNamespace(monotonic=lambda: time[0]))

    def poll():
        time[0] += 0.5
        player._report = {'phase': 'FAULT' if 'running' in why and time[0] > 50.0 else 'RUNNING',
                          'message': 'it is blocked', play.ACCEPTED: '1',
                          'held by': 'nothing' if end == 1.0 else 'SELF_COLLISION'}
        player._reference = {'joint1': turns + min(0.01 * time[0], end)}

    def until(condition, within):
        end = time[0] + within
        while not condition() and time[0] < end:
            poll()
        return condition()
    publisher = SimpleNamespace(publish=lambda message: None, get_subscription_count=lambda: 1)
    node = SimpleNamespace(
        create_publisher=lambda *_: publisher, create_subscription=lambda *_: None,
        count_publishers=lambda topic: 1, resolve_topic_name=lambda topic: topic,
        get_parameter=lambda name: SimpleNamespace(value=False))
    player = play.Player(SimpleNamespace(node=node, poll=poll, until=until), 'controller',
                         within=1.0)
    motion = Waypoints(['joint1'], np.array([2.0]), np.ones((1, 1)))
    with pytest.raises(RosError, match=why) if why else nullcontext():
        player.play(motion, lambda at, end: None)
    assert time[0] == pytest.approx(taken, abs=2.0)
