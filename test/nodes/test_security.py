# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The security policy is about the nodes as they are, and keeps out whom it does not name."""

from collections import defaultdict
from contextlib import suppress
from importlib.util import find_spec
import os
import re
import subprocess
import sys
from xml.etree import ElementTree

from diagnostic_msgs.msg import DiagnosticArray
from nodes.bring_up import bring_up, CONTROLLER, SIMULATOR
from nodes.remote import Remote
from processes import DEADLINE, node
import pytest
import rclpy
from robodyn_ros.model.resources import share_path
from robodyn_ros.nodes.middleware import qos
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String

POLICY = share_path('config', 'security_policy.xml')
CONTROL, PLANT, OPERATOR = (f'/robodyn/{name}' for name in ('controller', 'simulator', 'operator'))
# What every node has, and nobody else takes for more than it is
COMMON = {'/parameter_events', '/rosout'}
GUEST = '/guest'


def in_enclave(name):
    """Command line of a node."""
    return ['--ros-args', '--enclave', name]


TRIAL = {(action, '/controller/data_path_trial') for action in ('publish', 'subscribe')}
ASKED = {('request', '/simulator/get_parameters')}      # while it arms


def policy():
    """Everything that each enclave may do: {enclave: {('publish', '/commands'), ...}}."""
    allowed = defaultdict(set)
    for enclave in ElementTree.parse(POLICY).iter('enclave'):
        for profile in enclave.iter('profile'):
            namespace = profile.get('ns').rstrip('/')
            for group in profile:
                ((action, qualifier),) = group.attrib.items()
                assert qualifier == 'ALLOW'
                for name in (entry.text for entry in group):
                    if name.startswith('~'):
                        name = f'{namespace}/{profile.get("node")}{name[1:]}'
                    elif not name.startswith('/'):
                        name = f'{namespace}/{name}'
                    allowed[enclave.get('path')] |= entries(action, name)
    return allowed


def entries(action, name):
    """Return what a policy allows with a name: topics, and services of an action."""
    if action not in ('execute', 'call'):
        return {(action, name)}
    if find_spec('control_msgs') is None:       # without it the controller serves no action
        return set()
    service, topic = ('reply', 'publish') if action == 'execute' else ('request', 'subscribe')
    return {*((service, f'{name}/_action/{part}') for part in ('send_goal', 'cancel_goal',
                                                               'get_result')),
            *((topic, f'{name}/_action/{part}') for part in ('feedback', 'status'))}


def graph(remote, name):
    """Everything that a running node has, in the words of a policy; nothing while unknown."""
    if name not in remote.node.get_node_names():
        return set()
    ask = {'publish': remote.node.get_publisher_names_and_types_by_node,
           'subscribe': remote.node.get_subscriber_names_and_types_by_node,
           'reply': remote.node.get_service_names_and_types_by_node,
           'request': remote.node.get_client_names_and_types_by_node}
    return {(action, topic) for action, names in ask.items() for topic, _ in names(name, '/')}


def test_policy_is_what_the_nodes_use(pair, remote):
    """Neither more nor less than the running nodes, with every option that opens a topic."""
    pair(controller={'emergency_stop': True, 'heartbeat_timeout': 1.0,
                     'external_wrench_frame': 'tool0'})
    assert remote.change('configure')
    listed = {name: policy()[f'/robodyn/{name}'] for name in ('controller', 'simulator')}
    assert listed['controller'] > TRIAL | ASKED
    listed['controller'] -= TRIAL | ASKED   # which are not in use while the node is configured
    with suppress(AssertionError):              # what is missing is better told below
        remote.until(lambda: all(listed[name] <= graph(remote, name) for name in listed), 'all')
    remote.listen(1.0)              # what the policy does not list would have come by now too
    for name, wanted in listed.items():
        assert graph(remote, name) == wanted


def test_nobody_is_allowed_more_than_his_part():
    """One source of efforts, states and time; no patterns; the operator's words have hearers."""
    allowed = policy()
    who = defaultdict(set)
    for enclave, wanted in allowed.items():
        for entry in wanted:
            who[entry].add(enclave)
    sources = dict.fromkeys(('/joint_states', '/robot_description', '/clock'), PLANT)
    for topic, source in {**sources, '/commands': CONTROL}.items():
        assert who['publish', topic] == {source}
    assert [e for e in who if '*' in e[1]] == [('reply', '/_ros2cli_*/get_type_description')]
    assert not [e for e in who if e[0] == 'request' and '/set_parameters' in e[1]]
    ends = {'publish': 'subscribe', 'subscribe': 'publish', 'request': 'reply'}
    nodes = allowed[CONTROL] | allowed[PLANT]
    for action, name in allowed[OPERATOR]:
        if action != 'reply' and name not in COMMON:
            assert (ends[action], name) in nodes, name


def secured(keystore):
    """Environment in which everything is secured by a keystore, or does not start."""
    return {'ROS_SECURITY_ENABLE': 'true', 'ROS_SECURITY_STRATEGY': 'Enforce',
            'ROS_SECURITY_KEYSTORE': str(keystore)}


@pytest.fixture(scope='module')
def refusal(tmp_path_factory):
    """How a controller ends whose enclave has no keys."""
    keystore = tmp_path_factory.mktemp('empty')
    (keystore / 'enclaves' / CONTROL[1:]).mkdir(parents=True)
    return subprocess.run([*node('controller'), *in_enclave(CONTROL)],
                          env={**os.environ, **secured(keystore)}, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=DEADLINE)


def test_what_cannot_be_secured_does_not_start(refusal):
    assert refusal.returncode == 1
    assert re.search('^error: ROS gives no node: .*security', refusal.stderr, re.MULTILINE)
    assert 'Traceback' not in refusal.stderr


@pytest.fixture(scope='module')
def keystores(refusal, tmp_path_factory):
    """
    Return a keystore with the policy's enclaves, and a forger's, as `ros2 security` makes them.

    The robot's also has a guest, with the permissions of an enclave that no policy is about: all.
    The forger's operator has the robot's certificate, and permissions that he signed for himself;
    he trusts both authorities, so that it is not he who refuses.
    """
    if without := re.search("^.*doesn't have the security libraries", refusal.stderr, re.M):
        pytest.skip(f'the middleware is built without security: {without[0]}')
    sros2 = pytest.importorskip('sros2.keystore', reason='needs sros2 of a ROS installation')
    robot, forger = tmp_path_factory.mktemp('robot'), tmp_path_factory.mktemp('forger')
    for keystore in (robot, forger):
        sros2.create_keystore(keystore)
        for enclave in (*policy(), GUEST):
            sros2.create_enclave(keystore, enclave)
    for enclave in policy():
        sros2.create_permission(robot, enclave, POLICY)
    own, forged = (keystore / 'enclaves' / OPERATOR[1:] for keystore in (robot, forger))
    authorities = [(folder / 'permissions_ca.cert.pem').read_text() for folder in (forged, own)]
    for name in ('cert.pem', 'key.pem', 'identity_ca.cert.pem', 'permissions_ca.cert.pem'):
        (forged / name).unlink()        # links, some of them
        (forged / name).write_text(''.join(authorities) if name.startswith('permissions')
                                   else (own / name).read_text())
    return robot, forger


@pytest.fixture
def secure(monkeypatch):
    """Return what secures with a keystore all that is made from here on, here and in processes."""
    def secure(keystore):
        for name, value in secured(keystore).items():
            monkeypatch.setenv(name, value)
    return secure


# A process of its own, left without a farewell: a participant of Fast DDS that was refused a
# publisher may abort when it ends.
ATTEMPTS = """
import os, sys
import rclpy
from rclpy.utilities import remove_ros_args
from std_msgs.msg import Empty
from std_srvs.srv import Trigger

rclpy.init(args=sys.argv)
node = rclpy.create_node('operator')
words = remove_ros_args(sys.argv)[1:]
for action, name in zip(words[::2], words[1::2]):
    try:
        if action == 'publish':
            node.create_publisher(Empty, name, 1)
        elif action == 'subscribe':
            node.create_subscription(Empty, name, print, 1)
        elif action == 'reply':
            node.create_service(Trigger, name, print)
        else:
            node.create_client(Trigger, name)
    except Exception as error:
        print(error)
    else:
        print(f'made {action} {name}\\n', end='')       # at once: the middleware prints too
os._exit(0)
"""


class Stranger:
    """Has a voice where the arm listens, with words that leave a trace, and ears elsewhere."""

    def __init__(self, name, enclave='/'):
        self.context = rclpy.Context()
        self.context.init(in_enclave(enclave))
        self.node = rclpy.create_node(name, context=self.context)
        self.commands = self.node.create_publisher(Float64MultiArray, 'commands', qos.COMMANDS)
        self.states = self.node.create_publisher(JointState, 'joint_states', qos.STATES_OUT)
        self.diagnostics = self.node.create_subscription(DiagnosticArray, '/diagnostics', print, 1)
        self.description = self.node.create_subscription(String, 'robot_description', print,
                                                         qos.DESCRIPTION)

    def shout(self):
        """Say what both nodes refuse, and log, if they hear it."""
        self.commands.publish(Float64MultiArray(data=[1.0] * 7))
        self.states.publish(JointState(name=['joint1', 'joint1']))

    def contacts(self):
        """How many know it: nodes, listeners to commands and to states, sources of the others."""
        return [len(self.node.get_node_names()) - 1,
                self.commands.get_subscription_count(), self.states.get_subscription_count(),
                self.diagnostics.get_publisher_count(), self.description.get_publisher_count()]

    def close(self):
        """Release everything."""
        self.node.destroy_node()
        self.context.shutdown()


@pytest.fixture
def people(keystores, secure):
    """Operator and guest of the robot, a forger, and somebody without any keys."""
    robot, forger = keystores
    unsecured = Stranger('unsecured')
    secure(forger)
    people = [unsecured, Stranger('forger', OPERATOR)]
    secure(robot)
    people += [Stranger('guest', GUEST), Remote('operator', in_enclave(OPERATOR))]
    yield people[::-1]
    for person in people:
        person.close()


def test_a_secured_arm_obeys_its_operator_and_knows_nobody_else(start, people):
    operator, guest, forger, unsecured = people
    sim = start(node('simulator'), *SIMULATOR, '--enclave', PLANT)
    sim.wait_for_line('simulator ready')
    controller = start(node('controller'), *CONTROLLER, '--enclave', CONTROL)
    bring_up(operator)
    operator.until(lambda: len(operator.commands) > 100 and operator.diagnostics, 'commands')
    operator.until(lambda: all(guest.contacts()), 'what the guest may do')
    for stranger in (forger, unsecured):
        stranger.shout()
        assert stranger.contacts() == [0] * 5
    operator.listen(1.0)
    assert operator.state() == 'active' and 'refused' not in sim.text + controller.text
    guest.shout()                   # this is what it would have come to
    sim.wait_for_line('command refused')
    controller.wait_for_line('joint states are refused')


def test_an_enclave_gets_what_its_policy_lists_and_nothing_else(start, keystores, secure):
    """Of all that there is, the operator can make exactly the endpoints that are his."""
    secure(keystores[0])
    there = {(action, name) for entries in policy().values() for action, name in entries
             if name not in COMMON and not name.startswith(('/operator/', '/_ros2cli_'))}
    words = [word for entry in sorted(there) for word in entry]
    attempts = start([sys.executable, '-c', ATTEMPTS], *words, *in_enclave(OPERATOR))
    assert attempts.wait() == 0
    made = set(re.findall(r'made (\w+) (\S+)', attempts.text))
    assert made == there & policy()[OPERATOR]
