# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Signals that a person or a closed session sends, and the last message before the end."""

import os
import signal
import sys

from faults.arm import TELEPORTED
from faults.conftest import EXACT
from faults.live_arm import LiveArm
from faults.rows import row
from forked import FORKED
from nodes.bring_up import bring_up, CONTROLLER, parameters, SIMULATOR
import numpy as np
from processes import node
import pytest
from robodyn_ros.nodes.middleware import node_main

near = pytest.approx
MOVING = np.array([0.5, -0.4])      # rad/s
# Opens a terminal, which becomes that of its session, and logs to it
AT_TERMINAL = FORKED + """
import os, sys
from robodyn_ros.nodes.controller import main
terminal = os.open(sys.argv.pop(1), os.O_RDWR)
os.dup2(terminal, 0), os.dup2(terminal, 2)
sys.exit(main())
"""
# What nohup does
IGNORANT = FORKED + """
import signal, sys
from robodyn_ros.nodes.controller import main
signal.signal(signal.SIGHUP, signal.SIG_IGN)
sys.exit(main())
"""


@row('SIGHUP, SIGQUIT', where=node_main, find='SHUTDOWN_SIGNALS = _',
     instead='SHUTDOWN_SIGNALS = signal.SIGINT, signal.SIGTERM')
@pytest.mark.parametrize('how', ['SIGQUIT', 'SIGTERM', 'closed session'])
def test_sighup_sigquit(start, remote, how):
    """As SIGTERM, while the arm moves; SIGHUP is that of a session, whose log ends with it."""
    command, session = node('controller'), None
    if how == 'closed session':
        session, terminal = os.openpty()
        command = [sys.executable, '-c', AT_TERMINAL, os.ttyname(terminal)]
    arm = LiveArm(remote, start([*command, *CONTROLLER, *EXACT, *parameters(
        stop_timeout=0.0195, **TELEPORTED)]))       # it moves until the signal comes, however late
    if session is not None:
        os.set_blocking(session, False)
    arm.bring_up()
    arm.velocity = MOVING
    assert arm.tick() == near(arm.gravity)
    if session is None:
        arm.controller.popen.send_signal(signal.Signals[how])
    else:
        os.close(terminal)
        os.close(session)
    efforts = arm.until()               # damped gravity, then zero, exit code 0 and silence
    assert arm.controller.wait() == 0
    arm.nothing()
    assert len(efforts) >= 21
    expected = np.clip(arm.damping, -np.array([16.0, 6.0]), [16.0, 6.0])    # 20 cycles at its rate
    assert efforts[-2] == near(arm.gravity + expected)


def test_a_node_told_to_ignore_the_end_of_its_session_does(start, remote):
    """Under nohup SIGHUP is no reason to stop."""
    arm = LiveArm(remote, start([sys.executable, '-c', IGNORANT, *CONTROLLER, *EXACT]))
    arm.bring_up()
    arm.controller.popen.send_signal(signal.SIGHUP)
    arm.steady(50)
    arm.controller.popen.send_signal(signal.SIGINT)
    arm.ends()


@pytest.mark.alone
def test_signal_in_a_fault_without_states(running, remote):
    """Nothing brakes an arm whose state is unknown: its efforts have the time of a fault."""
    # A stall of the machine of `state_timeout`, here 0.5 s, would end the efforts
    arm = running(fault_hold_time=20.0, stop_timeout=0.1)
    arm.tick()
    arm.pass_time(0.4995)
    assert arm.answer() == near(arm.gravity)
    arm.pass_time()
    assert arm.answer() == near(arm.gravity)
    arm.faulted('STALE_STATE')
    arm.controller.popen.send_signal(signal.SIGTERM)
    remote.listen(1.2)              # of the wall; the clock of the simulation stands
    arm.pass_time()
    assert arm.answer() == near(arm.gravity)
    arm.pass_time(30.0)
    assert arm.controller.wait() == 0
    assert list(remote.commands[-1]) == [0.0, 0.0]


LISTENER = FORKED + """
import rclpy
from std_msgs.msg import Float64MultiArray
rclpy.init()
node = rclpy.create_node('listener')
node.create_subscription(Float64MultiArray, 'commands',
                         lambda m: print(list(m.data), flush=True), 9)
rclpy.spin(node)
"""


def test_the_process_does_not_end_before_its_last_word_is_heard(start, remote):
    """Damping must not stay in force because the listener was not quick."""
    start(node('simulator'), *SIMULATOR).wait_for_line('simulator ready')
    controller = start(node('controller'), *CONTROLLER)
    bring_up(remote)
    listener = start([sys.executable, '-c', LISTENER])
    listener.wait_for_line(r'\[\d')
    listener.popen.send_signal(signal.SIGSTOP)
    controller.popen.send_signal(signal.SIGTERM)
    remote.until(lambda: remote.newest_command() == [0.0, 0.0], 'the last message')
    remote.listen(0.2)
    listener.popen.send_signal(signal.SIGCONT)
    assert controller.wait() == 0
    listener.wait_for_line(r'\[0\.0, 0\.0\]')
