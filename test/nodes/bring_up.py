# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The two nodes as most tests start them."""

POSE = [0.3, 0.5]
RATE = ['-p', 'rate:=500.0']     # half of the processor time that 1 kHz takes
# A busy machine must not look like a dead robot, except where a test is about that.
SIMULATOR = ['--ros-args', '-p', 'urdf:=two_link', '-p', f'initial_position:={POSE}',
             '-p', 'publish_description:=true', '-p', 'command_timeout:=1.0',
             *RATE]
# Tests of other publishers wait until these are discovered, or start them later
AT_ONCE = ['-p', 'discovery_time:=0.0']
CONTROLLER = ['--ros-args', *AT_ONCE, '-p', 'state_timeout:=1.0', '-p', 'missed_limit:=5000',
              '-p', 'late_limit:=1.0',
              '-p', 'stiffness:=[400.0, 100.0]',
              '-p', 'damping:=[40.0, 10.0]', '-p', 'acceleration_kp:=[400.0]',
              '-p', 'acceleration_kd:=[40.0]',
              '-p', 'acceleration_limit:=[20.0]']       # which these gains can follow
# On simulation time, which waits for each command, so that a busy machine changes nothing. It is
# no faster than wall time, for most of what tests wait for are other processes, and at a rate that
# leaves them most of the processors.
LOCKSTEP = ['-p', 'lockstep:=true', '-p', 'publish_clock:=true', '-p', 'command_timeout:=5.0',
            '-p', 'real_time_factor:=1.0', *RATE]
IN_STEP = [*AT_ONCE, '-p', 'use_sim_time:=true', '-p', 'trigger:=state', '-p',
           'state_timeout:=1.0', *RATE]


def bring_up(remote):
    """Configure and activate."""
    assert remote.change('configure') and remote.change('activate')
    assert remote.state() == 'active'
