# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Life cycle of the controller node, alone and with others in a process."""

import gc
import signal
import sys
import weakref

from diagnostic_msgs.msg import DiagnosticArray
from nodes.bring_up import bring_up, CONTROLLER, IN_STEP, LOCKSTEP, parameters, SIMULATOR
import numpy as np
from processes import node
import pytest
from rclpy.lifecycle import TransitionCallbackReturn
from robodyn_ros.nodes import controller, controllers, simulator
from robodyn_ros.nodes.controller.node import ControllerNode
from robodyn_ros.nodes.middleware import node_main
from std_msgs.msg import Float64MultiArray

# The controller, which says whether it discovers others since before its imports
EARLY = """
import sys, time
from robodyn_ros.nodes.controller import __main__ as run
from robodyn_ros.nodes.middleware import middleware, node_main
assert 'numba' not in sys.modules, 'it takes most of the time of the imports'

def make():
    made = time.monotonic()
    node = run.make_controller()
    hidden, = (n for n in node.get_node_names() if n.startswith('_robodyn_start'))
    print('services', node.get_service_names_and_types_by_node(hidden, '/'))
    print('topics', [t for t, _ in node.get_publisher_names_and_types_by_node(hidden, '/')])
    print('earlier:', middleware.discovering_since(node) < made, flush=True)
    return node

sys.exit(node_main.main(make, None, load=run.load))
"""


def test_others_are_discovered_while_modules_are_imported(start, remote):
    """By a hidden node, which asks for nothing and is gone when the controller is there."""
    controller = start([sys.executable, '-c', EARLY])
    controller.wait_for_line('earlier: True')
    assert 'services []\n' in controller.text, 'what a security policy would have to permit'
    assert "topics ['/parameter_events']\n" in controller.text
    remote.until(lambda: 'controller' in (names := remote.node.get_node_names())
                 and not any(name.startswith('_robodyn_start') for name in names), 'the node')
    assert controller.interrupt() == 0


@pytest.mark.parametrize('node', [controller, simulator])
def test_help_and_unknown_arguments(ends, node):
    """Neither starts a node, which would wait for ever."""
    code, printed = ends(node.main, '--help')
    name = node.__name__.rpartition('.')[2]
    assert code == 0 and f'The {name}: a ' in printed
    assert '--params-file' in printed and '  urdf (str): ' in printed
    code, printed = ends(node.main, '--bogus', '--ros-args', '-p', 'urdf:=two_link')
    assert code == 2 and 'unrecognized arguments: --bogus' in printed


@pytest.mark.parametrize(('given', 'why'), [
    ({'mode': 'own_laws:SPRNG'}, 'own_laws has no Law of the name SPRNG'),
    ({'mode': 'no_such:LAW'}, 'module no_such cannot be imported'),
    ({'cpus': [0, -1]}, 'cpus = [0, -1] is refused: every element must be')])
def test_a_value_that_cannot_be_is_refused_at_the_start(ends, given, why):
    code, printed = ends(controller.main, *CONTROLLER, *parameters(**given))
    assert code == 1 and why in printed


def test_a_signal_ends_the_wait_for_states(start, remote):
    """
    While it is being activated too: the node does not wait for the arming timeout.

    It is gone at once, for everybody: its services are not asked any more.
    """
    controller = start(node('controller'), *CONTROLLER, *parameters(
        arming_timeout=60.0, urdf='two_link', autostart=True))

    def services():
        return remote.node.count_services('/controller/change_state')
    remote.until(services, 'the controller')
    controller.wait_for_line('arming')
    assert controller.interrupt(deadline=30.0) == 0
    assert remote.commands == []
    remote.until(lambda: not services(), 'the end', deadline=10.0)      # else believed for 20 s


def test_simulation_time_goes_on_while_the_node_waits(pair, remote, gravity):
    """At a fixed rate on /clock: arming and stopping, which the executor waits for, see time."""
    sim, controller = pair({'publish_clock': True}, {'use_sim_time': True}, real_time=True)
    bring_up(remote)
    remote.until(lambda: remote.command_count > 100, 'commands')
    assert abs(np.array(remote.commands) - gravity).max() < 0.05
    assert remote.change('deactivate')
    remote.until(lambda: remote.newest_command() == [0.0, 0.0], 'the last message')
    sim.wait_for_line('brakes engaged: no command')


def test_an_exception_in_a_transition_leaves_nothing_running(capfd, ends):
    """It is in the log, the control thread has ended, and the node is unconfigured again."""
    class Failing(ControllerNode):
        def _begin_arming(self, standing):  # noqa: CNL100
            self.armed = self.loop
            raise OSError('out of order')

        def run(self, spin, over):
            self.trigger_configure()
            assert self.trigger_activate() == TransitionCallbackReturn.ERROR
            assert not self.armed.running and self.loop is None
            assert self.trigger_configure() == TransitionCallbackReturn.SUCCESS
            super().run(spin, lambda: True)

    assert node_main.main(Failing, ['--ros-args', '-p', 'urdf:=two_link']) == 0
    gc.collect()                    # or the tests after this one would still see the node
    assert 'OSError: out of order' in capfd.readouterr().err


def test_a_controller_that_was_cleaned_up_is_released(ends):
    """With its flight recorder, tens of megabytes, by the next configuration at the latest."""
    class Repeated(ControllerNode):
        def run(self, spin, over):
            for _ in range(3):
                assert self.trigger_configure() == TransitionCallbackReturn.SUCCESS
                controllers.append(weakref.ref(self.loop.controller))
                assert self.trigger_cleanup() == TransitionCallbackReturn.SUCCESS
            assert [c() for c in controllers[:2]] == [None, None]
            super().run(spin, lambda: True)
    controllers = []
    assert node_main.main(Repeated, ['--ros-args', '-p', 'urdf:=two_link']) == 0
    gc.collect()


def test_a_request_ends_autostart(start, remote):
    """One that is refused, too: nothing is armed later that nobody waits for."""
    controller = start(node('controller'), *CONTROLLER, '-p', 'autostart:=true',
                       '-p', 'urdf:=two_link', '-p', 'arming_timeout:=0.3')
    controller.wait_for_line('not activated')
    assert not remote.change('activate')
    start(node('simulator'), *SIMULATOR).wait_for_line('simulator ready')
    remote.listen(1.5)              # three times as long as between two attempts
    assert remote.state() == 'inactive'
    assert remote.set('controller', arming_timeout=60.0) == ''
    assert remote.change('activate')


def test_autostart(pair, remote, start):
    """With autostart the node waits for robot and states by itself, in any order of starting."""
    controller = start(node('controller'), *CONTROLLER, '-p', 'autostart:=true',
                       '-p', 'description_timeout:=0.2', '-p', 'arming_timeout:=0.5')
    controller.wait_for_line('nothing came on topic robot_description')
    start(node('simulator'), *SIMULATOR).wait_for_line('simulator ready')
    controller.wait_for_line('RUNNING')
    assert remote.state() == 'active'


SIDES = 'left', 'right'


def test_a_signal_ends_all(start, remote, tmp_path):
    """Each has its parameters; both are brought to rest, and get zero as the last message."""
    file = tmp_path / 'arms.yaml'
    file.write_text('/left/controller:\n  ros__parameters:\n    mode: joint_impedance\n'
                    '/right/controller:\n  ros__parameters:\n    mode: gravity_compensation\n')
    clocks = ['-r', '/clock:=clock']            # two simulators have two times
    simulators = [start(node('simulator'), *SIMULATOR, *LOCKSTEP, *clocks, '-r',
                        f'__ns:=/{side}') for side in SIDES]
    efforts = {side: [] for side in SIDES}
    for side in SIDES:
        remote.node.create_subscription(
            Float64MultiArray, f'/{side}/commands',
            lambda message, side=side: efforts[side].append(list(message.data)), 10)
    for one in simulators:
        one.wait_for_line('simulator ready')
    named = {}
    remote.node.create_subscription(
        DiagnosticArray, '/diagnostics', lambda message: named.update(
            (told.name, told.hardware_id) for told in message.status), 10)
    both = start(node('controllers'), *SIDES, *CONTROLLER, *IN_STEP, *clocks,
                 *parameters(damping=[40.0, 8.0], autostart=True), '--params-file', file)
    both.wait_for_line(r'left\.controller\]: configured: .*joint_impedance')
    both.wait_for_line(r'right\.controller\]: configured: .*gravity_compensation')
    remote.until(lambda: all(len(heard) > 300 for heard in efforts.values()), 'efforts of both')
    assert both.popen.poll() is None
    remote.until(lambda: named == {f'{side}/controller: {what}': f'{side}/two_link'
                                   for side in SIDES for what in ('control loop', 'timing')},
                 'reports of both')
    both.popen.send_signal(signal.SIGTERM)
    remote.until(lambda: all(heard[-1] == [0.0, 0.0] for heard in efforts.values()), 'zero')
    assert both.wait() == 0
    assert 'FAULT' not in both.text


@pytest.mark.parametrize(('words', 'code', 'why'), [
    (['left', '/left'], 2, 'error: a namespace is given twice: left /left'),
    (['left', 'no good'], 1, 'error: namespace no good is refused: use names of letters'),
    (['left', 'right', '--ros-args', '-r', '__ns:=/both'], 1,
     'error: the controller of /left is in /both: leave out the remapping of __ns'),
    ([], 2, 'the following arguments are required: NAMESPACE'),
])
def test_what_cannot_be_is_told_in_one_line(ends, words, code, why):
    """And a controller that has been made already ends."""
    ended, printed = ends(controllers.main, *words)
    assert ended == code and why in printed
