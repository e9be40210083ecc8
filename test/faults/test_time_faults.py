# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of the cycle: its numbers, its periods, its time."""

import signal

from faults.arm import Arm, PERIOD, Simulation, TELEPORTED
from faults.efforts import goes_limp, moving
from faults.rows import row
from nodes.bring_up import bring_up, SIMULATOR
import numpy as np
from processes import node
import pytest
from robodyn_ros.control.cycle import cycle
from robodyn_ros.control.steps import guard
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

near = pytest.approx
TOO_FAR = 1e306                         # rad: a number, but the law's answer to it is none
RATE = np.array([800.0, 300.0])         # N·m/s, of two_link: ten times its effort limits


@row('computed effort not finite', 'EFFORT_NOT_FINITE', where=cycle.cycle,
     find='limits.clamp(_joints, _tau) and _', instead='limits.clamp(_joints, _tau) or True')
def test_effort_not_finite(running, remote):
    """It is never published: gravity for a bounded time, a ramp to zero, nothing; latched."""
    arm = running(mode='computed_torque', position_margin=[0.0], **TELEPORTED)
    for mode in ('joint_impedance', 'computed_torque'):     # an infinite one, and none at all
        assert remote.set('controller', mode=mode) == ''
        assert arm.tick() == near(arm.gravity)
        g, here = arm.gravity, arm.position.copy()
        arm.position[0] = TOO_FAR
        effort = arm.tick(position=list(arm.position))
        assert effort == near(arm.gravity)                  # of the angle that it stands for
        arm.position = here
        goes_limp(arm, arm.tick, g, first=1)
        arm.faulted('EFFORT_NOT_FINITE')
        arm.reset()
    assert arm.tick() == near(arm.gravity)


@row('missed periods', 'PERIODS_MISSED', where=guard.running_fault, find='_.missed > _',
     instead='False')
def test_missed_periods(start, remote):
    """They are counted and never made up for; too many at a time are a fault, latched."""
    # Half a second is 50 periods: more than are allowed, and than the machine keeps us waiting
    simulator = start(node('simulator'), *SIMULATOR, '-p', 'command_timeout:=0.5',
                      '-p', 'joint_damping:=20.0')
    simulator.wait_for_line('simulator ready')
    arm = Arm(remote, start(
        node('controller'), '--ros-args', '-p', 'state_timeout:=1.0', '-p', 'rate:=100.0',
        '-p', 'missed_limit:=25', '-p', 'late_limit:=1.0', '-p', 'fault_hold_time:=0.2',
        '-p', 'fault_ramp_time:=0.2'))
    bring_up(remote)
    remote.until(lambda: remote.command_count > 10, 'commands')

    arm.controller.popen.send_signal(signal.SIGSTOP)
    simulator.wait_for_line('brakes engaged: no command for 0.5 s')
    before = remote.command_count
    arm.controller.popen.send_signal(signal.SIGCONT)
    remote.until(lambda: remote.newest_command() == [0.0, 0.0]
                 or remote.command_count > before + 60, 'the last message')
    efforts = np.array(remote.commands[before:])
    assert len(efforts) < 49                    # of 40 periods; those missed would be as many more
    arm.faulted('PERIODS_MISSED')
    share = efforts @ arm.gravity / (arm.gravity @ arm.gravity)
    assert abs(efforts - np.outer(share, arm.gravity)).max() < 0.5
    assert share[0] == near(1.0, abs=0.01) and share[-1] == 0.0 and np.diff(share).max() < 0.02
    assert int(remote.diagnostics['missed periods']) >= 45
    remote.listen(0.3)
    assert remote.command_count == before + len(efforts)

    remote.until(lambda: remote.trigger('/controller/reset')[0], 'a reset')
    remote.until(lambda: arm.phase == 'RUNNING', 'RUNNING')


@row('time stands still, jumps, dt ≤ 0', where=cycle.advance_time, find='abs(_ - _) > _',
     instead='False')
def test_time_that_jumps(running, remote):
    """No step of the efforts; what was followed is over, and the present pose is held."""
    arm = running(mode='computed_torque')
    trajectories = remote.trajectories()
    for jump in (-95.0, 1000.0):
        point = JointTrajectoryPoint(positions=list(arm.position + [1.0, -1.0]))
        point.time_from_start.nanosec = 300_000_000
        trajectories.publish(JointTrajectory(joint_names=arm.names, points=[point]))
        arm.controller.wait_for_line('following a trajectory')
        before = arm.ticks(80)[-1]
        assert abs(before - arm.gravity).min() > 5.0        # the arm does not follow
        assert arm.tick(0.0) == near(before, abs=1e-12)     # no time, no step

        after = arm.tick(jump)
        assert (abs(after - before) <= 2.0 * PERIOD * RATE + 1e-9).all()
        efforts = np.array([after, *arm.ticks(100)])
        assert (abs(np.diff(efforts, axis=0)) <= PERIOD * RATE + 1e-9).all()
        assert efforts[-1] == near(arm.gravity)
    assert arm.phase == 'RUNNING'


def test_states_do_not_stay_fresh_when_time_jumps_back(running, remote):
    """They become old on the new time, however long it takes to come to the one they are of."""
    arm = running(arming_timeout=1.0)
    g = arm.gravity
    arm.tick()
    for _ in range(3):
        assert arm.silence(-20.0) == near(g)
        assert arm.silence(0.03) == near(g)
    assert arm.silence(0.0195) == near(g)
    goes_limp(arm, arm.silence, g)
    arm.faulted('STALE_STATE')
    assert remote.trigger('/controller/reset') == (
        False, 'no control cycle has run: the clock is not advancing, or no joint states arrive; '
        'use_sim_time is true, and the '
        'stamps of joint_states do not advance')
    arm.reset()
    assert arm.tick() == near(arm.gravity)


def test_velocities_are_estimated_anew_when_time_jumps(running):
    """A simulation that begins again puts the arm elsewhere: that is no motion to be damped."""
    arm = running(missing_velocity='estimate', mode='joint_impedance', **TELEPORTED)
    arm.velocity[:] = 0.02, -0.02
    moving(arm, 50, velocity=[])
    for jump in (-95.0, 1000.0):
        arm.velocity[:] = 0.0
        arm.ticks(80, velocity=[])
        arm.position += 0.5
        before = arm.tick(jump, velocity=[]) - arm.gravity
        efforts = arm.ticks(50, velocity=[]) - arm.gravity
        assert (abs(efforts) <= abs(before) + 1e-9).all() and efforts[-1] == near(0.0, abs=1e-9)


def test_time_that_stands_still_on_the_grid(controller, remote):
    """At a fixed rate a paused simulation holds the output, however long, and then goes on."""
    arm = Simulation(remote, controller(
        trigger='timer', rate=200.0, mode='computed_torque', acceleration_kp=[100.0],
        acceleration_kd=[20.0], stiffness=[0.0], damping=[0.0], state_timeout=0.5, **TELEPORTED))
    arm.bring_up()
    assert arm.hears(20) == near(np.tile(arm.gravity, (20, 1)))
    arm.position -= 0.3
    arm.pass_time(1e-9)             # two samples of the same time are one
    for _ in range(3):
        arm.send(0.0)
        arm.hears(5)
    held = arm.gravity
    for elapsed in (0.0, 0.005, 0.005):         # step by step toward what pulls the arm back
        arm.pass_time(elapsed)
        held += elapsed * RATE
        remote.until(lambda held=held: remote.newest_command() == near(held), 'the next step')
        assert arm.hears(40) == near(np.tile(held, (40, 1)))    # no state for 0.2 s of wall time
    arm.send(-95.0)                             # a reset of the simulation
    assert arm.hears(20) == near(np.tile(held, (20, 1)))
    for _ in range(10):
        arm.send(0.004)
        arm.hears(5)
    remote.until(lambda: remote.newest_command() == near(arm.gravity), 'the present pose')
    arm.pass_time(0.6)
    arm.faulted('STALE_STATE')


@pytest.mark.parametrize('published', [False, True])
def test_simulation_time_that_does_not_advance(controller, remote, published):
    """It is the reason why nothing can be armed, and said: with nobody, or who stands still."""
    kind = Simulation if published else Arm
    arm = kind(remote, controller(trigger='timer', arming_timeout=0.5))
    if not published:
        remote.node.destroy_publisher(arm._clock)
    assert remote.change('configure')
    timer = remote.node.create_timer(0.002, lambda: arm.send(0.0))
    assert not remote.change('activate')
    remote.node.destroy_timer(timer)
    said = arm.controller.text
    assert 'use_sim_time is true, and /clock does not advance' in said
    assert ('/clock has no publisher' in said) == (not published)
