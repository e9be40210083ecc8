# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Discovery, wake-ups, lost samples with profiles for Fast DDS; ports left in shared memory."""

import os
from pathlib import Path
import subprocess
import sys
import time

from nodes import lossy_writer
from processes import OWN_MEMORY, require_own_memory
import pytest
from robodyn_ros.nodes.middleware import middleware
from robodyn_ros.nodes.middleware.middleware import unfinished_ports
from robodyn_ros.nodes.topics.publishers import discovery_end
from std_msgs.msg import Float64MultiArray

NAMESPACE = ['unshare', '--map-root-user', '--net']
SAMPLES, ROUNDS = 100, 5     # the thread wakes up by time, too: on a busy machine, more often


def test_the_thread_of_events_sleeps_through_commands(start):
    """It is woken by almost no sample, and without the profile several times by each."""
    start([sys.executable, '-c', READER]).wait_for_line('there')
    plain, tuned = (start([sys.executable, '-c', WRITER, way]) for way in ('plain', 'tuned'))
    assert plain.wait() == tuned.wait() == 0, plain.text + tuned.text
    assert int(plain.text.split()[-1]) > SAMPLES
    assert int(tuned.text.split()[-1]) < int(plain.text.split()[-1]) / 4


READER = """
import rclpy
from rclpy.node import Node
from std_msgs.msg import Float64MultiArray
rclpy.init()
node = Node('reader')
for topic in '/plain_commands', '/tuned_commands':
    node.create_subscription(Float64MultiArray, topic, lambda message: None, 10)
print('there', flush=True)
rclpy.spin(node)
"""
# Prints how often the thread of events has slept while samples were published, at most or at least
WRITER = f"""
from pathlib import Path
import re, sys, time
import rclpy
from robodyn_ros.nodes.middleware import middleware, qos
from std_msgs.msg import Float64MultiArray

def wake_ups():
    for task in Path('/proc/self/task').iterdir():
        if (task / 'comm').read_text().startswith('dds.ev'):
            status = (task / 'status').read_text()
            return int(re.search(r'^voluntary_ctxt_switches:\\s*(\\d+)', status, re.M)[1])
    raise AssertionError('Fast DDS has no thread of events')

way = sys.argv[1]
(middleware.start if way == 'tuned' else rclpy.init)()
node = rclpy.create_node(way)
writer = node.create_publisher(Float64MultiArray, f'/{{way}}_commands', qos.COMMANDS)
while not writer.get_subscription_count():
    time.sleep(0.01)
time.sleep(0.5)
counts = []
for _ in range({ROUNDS}):
    before = wake_ups()
    for _ in range({SAMPLES}):
        writer.publish(Float64MultiArray(data=[0.0] * 7))
        time.sleep(0.002)       # far below the time between two heartbeats
    counts.append(wake_ups() - before)
print(max(counts) if way == 'plain' else min(counts))
"""


@pytest.mark.alone
def test_answers_to_announcements_are_heard(start, tmp_path):
    """
    Another process that answers, but announces itself only once, is discovered by most nodes.

    Many do not hear its answer where nodes announce themselves before they listen, few with the
    profile. Over UDP: in shared memory an answer may also
    be lost with the port of a node that has just ended.
    """
    profile, env = tmp_path / 'silent.xml', {'FASTDDS_BUILTIN_TRANSPORTS': 'UDPv4'}
    profile.write_text(SILENT)
    start([sys.executable, '-c', SPEAKER], env={
        **env, 'FASTDDS_DEFAULT_PROFILES_FILE': str(profile)}).wait_for_line('there')
    listeners = [start([sys.executable, '-c', LISTENERS], env=env) for _ in range(2)]
    for process in listeners:
        assert process.wait() == 0, process.text
    assert sum(int(process.text.split()[-1]) for process in listeners) >= 17


LISTENERS = """
import time
import rclpy
from robodyn_ros.nodes.middleware.middleware import hears_answers, lone_node
discovered = 0
for _ in range(10):
    with lone_node('listener') as node:
        assert hears_answers(node)
        end = time.monotonic() + 2.0
        while not node.count_publishers('/from_the_speaker') and time.monotonic() < end:
            time.sleep(0.01)
        discovered += node.count_publishers('/from_the_speaker')
print(discovered)
"""
SILENT = """<?xml version="1.0" encoding="UTF-8"?>
<dds xmlns="http://www.eprosima.com"><profiles>
<participant profile_name="silent" is_default_profile="true"><rtps><builtin><discovery_config>
<leaseDuration><sec>DURATION_INFINITY</sec></leaseDuration>
<leaseAnnouncement><sec>1000</sec></leaseAnnouncement>
<initialAnnouncements><count>0</count></initialAnnouncements>
</discovery_config></builtin></rtps></participant></profiles></dds>"""
SPEAKER = """
import rclpy
from rclpy.node import Node
from std_msgs.msg import Float64MultiArray
rclpy.init()
node = Node('speaker')
node.create_publisher(Float64MultiArray, '/from_the_speaker', 10)
print('there', flush=True)
rclpy.spin(node)
"""


def test_lost_samples_are_sent_again(start):
    """While the network is down three samples are lost; all arrive, in order."""
    if subprocess.run([*NAMESPACE, 'ip', 'link'], capture_output=True).returncode:
        pytest.skip('no network namespace can be made here (unshare --map-root-user --net)')
    process = start([*NAMESPACE, sys.executable, lossy_writer.__file__, 'write'],
                    env={'FASTDDS_BUILTIN_TRANSPORTS': 'UDPv4',
                         'ROS_AUTOMATIC_DISCOVERY_RANGE': 'SUBNET'})
    assert process.wait(60.0) == 0, process.text
    assert process.text.split() == [str(i) for i in range(lossy_writer.SAMPLES)]


# A node whose middleware gets the processor only while all else sleeps, as on a busy machine; on
# one that never sleeps, it would get none
LEAVING = """
import os, time
from pathlib import Path
import rclpy
from robodyn_ros.nodes.middleware import middleware
from std_srvs.srv import Trigger

os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
with middleware.lone_node('leaving') as node:
    node.create_service(Trigger, '~/service', lambda request, response: response)
    while not node.count_publishers('/of_the_test'):
        time.sleep(0.01)
    for task in Path('/proc/self/task').iterdir():
        if (task / 'comm').read_text().startswith('dds.asyn'):
            os.sched_setscheduler(int(task.name), os.SCHED_IDLE, os.sched_param(0))
            print('idle', flush=True)
print('over', flush=True)
"""


@pytest.mark.alone
def test_the_end_of_a_node_is_heard(remote, start):
    """At once, although another thread sends it; else it would be believed in for 20 s."""
    process = start([sys.executable, '-c', LEAVING])
    remote.until(lambda: remote.node.count_services('/leaving/service'), 'the service')
    publisher = remote.node.create_publisher(Float64MultiArray, '/of_the_test', 1)
    process.wait_for_line('over')
    assert 'idle' in process.text
    remote.until(lambda: not remote.node.count_services('/leaving/service'), 'its end',
                 deadline=5.0)
    remote.node.destroy_publisher(publisher)


@pytest.mark.parametrize('heard, least', [(True, 0.7), (False, 2.0)])
def test_activating_waits_longer_where_answers_are_lost(heard, least):
    """Counted from the start of the node; at least half a second from the publisher."""
    now = time.monotonic()
    assert discovery_end(now, -1.0, heard) == now + least
    assert discovery_end(now, 7.0, heard) == now + 7.0
    assert discovery_end(now - 100.0, -1.0, heard) >= now + 0.5


@pytest.fixture
def used(monkeypatch, tmp_path):
    """Return what tells what an environment has a process name that has no nodes, or ``late``."""
    monkeypatch.chdir(tmp_path)

    def used(*, late=False, **env):
        with monkeypatch.context() as process:
            for variable in middleware.VARIABLES:
                process.delenv(variable, raising=False)
            for variable, value in env.items():
                process.setenv(variable, value)
            process.setattr(middleware, '_named', [])
            if not late:
                process.setattr(middleware, 'middleware_threads', list)
            return middleware.use_profiles(), [*map(os.environ.get, middleware.VARIABLES)]
    return used


def test_profiles_are_named_in_the_environment(used):
    """A process of a process that has named them names the same."""
    hears, named = used()
    path, = {*named} - {None}
    assert hears and '<participant' in Path(path).read_text()
    variable = middleware.VARIABLES[named.index(path)]
    assert used(**{variable: path}) == (hears, named)


@pytest.mark.parametrize('variable', middleware.OTHER_DISCOVERY)
def test_another_protocol_of_discovery_is_not_relied_on(used, variable):
    """A discovery server, for example, has none; the timer is suppressed all the same."""
    hears, named = used(**{variable: '127.0.0.1:11811'})
    path, = {*named} - {None}
    text = Path(path).read_text()
    assert not hears and '<data_writer' in text and '<participant' not in text


def test_profiles_of_the_user_decide_alone(used, tmp_path):
    """A variable or a file in the working directory that Fast DDS reads."""
    assert used(FASTDDS_DEFAULT_PROFILES_FILE='mine.xml') == (False, ['mine.xml', None])
    (tmp_path / 'DEFAULT_FASTDDS_PROFILES.xml').write_text('')
    assert used() == (False, [None, None])


def test_a_process_that_has_nodes_already_is_left_as_it_is(node, used):
    """Fast DDS has read its profiles."""
    assert used(late=True) == (False, [None, None])


@pytest.mark.parametrize('content', [b'', bytes(400), b'\1\0\0\0' + bytes(396)],
                         ids=['empty', 'uninitialized', 'initializing'])
def test_unfinished_ports_are_found_and_left_alone(tmp_path, content):
    """Whatever a killed process had written; not ports that work or are new, nor other files."""
    contents = {'fastdds_port7411': content, 'fastrtps_port7413': content,
                'fastdds_port7412': b'\2\0\0\0' + bytes(396), 'fastdds_port7411_el': b'',
                'sem.fastdds_port7411_mutex': bytes(32), 'fastdds_00ff00ff00ff00ff': b''}
    for name, text in contents.items():
        (tmp_path / name).write_bytes(text)
        os.utime(tmp_path / name, (0.0, time.time() - 10.0))
    (tmp_path / 'fastdds_port7415').write_bytes(content)
    unfinished = [tmp_path / 'fastdds_port7411', tmp_path / 'fastrtps_port7413']
    assert unfinished_ports(tmp_path) == unfinished
    assert {name: (tmp_path / name).read_bytes() for name in contents} == contents


# Beside an unfinished port of a participant that does not exist
UNFINISHED = 'touch -d "10 seconds ago" /dev/shm/fastdds_port7599 && "$@" && ls /dev/shm'
CONTEXT = 'from robodyn_ros.nodes import middleware; middleware.start()'


def test_a_process_says_what_to_do():
    """And removes nothing, since it cannot know whose the port is."""
    require_own_memory()
    result = subprocess.run([*OWN_MEMORY, 'sh', '-c', UNFINISHED, 'sh', sys.executable, '-c',
                             CONTEXT], text=True, check=True, capture_output=True)
    assert '/dev/shm/fastdds_port7599 is unfinished' in result.stderr
    assert '`fastdds shm clean`' in result.stderr and 'fastdds_port7599' in result.stdout
