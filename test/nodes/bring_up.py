# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The two nodes as most tests start them."""

POSE = [0.3, 0.5]


def parameters(**values: object) -> list[str]:
    """Return the arguments of a node that set parameters."""
    return [word for name, value in values.items() for word in (
        '-p', f'{name}:={str(value).lower() if isinstance(value, bool) else value}')]


SIMULATOR = ['--ros-args', *parameters(
    urdf='two_link', initial_position=POSE, publish_description=True, command_timeout=1.0,
    rate=500.0)]                # half of the processor time that 1 kHz takes
# Tests of other publishers wait until these are discovered, or start them later. A busy machine
# must not look like a dead robot, except where a test is about that. The flight recorder has its
# own tests: here it need not fill megabytes, nor write them after each fault
CONTROLLER = ['--ros-args', *parameters(
    discovery_time=0.0, flight_recorder=0.2, state_timeout=1.0, missed_limit=5000, late_limit=1.0,
    stiffness=[400.0, 100.0], damping=[40.0, 10.0], acceleration_kp=[400.0],
    acceleration_kd=[40.0], acceleration_limit=[20.0])]     # which these gains can follow
# On simulation time, which waits for each command, so that a busy machine changes nothing; no
# faster than wall time, for most of what tests wait for are other processes. Only a machine that
# stands still exceeds timeouts of wall time
LOCKSTEP = parameters(lockstep=True, lockstep_settle=0.5, lockstep_timeout=60.0,
                      publish_clock=True, command_timeout=60.0, rate=250.0, real_time_factor=1.0)
IN_STEP = parameters(use_sim_time=True, trigger='state', rate=250.0, state_timeout=1.0,
                     motor_test_effort=0.0)


def bring_up(remote):
    """Configure and activate."""
    assert remote.change('configure') and remote.change('activate')
    assert remote.state() == 'active'
