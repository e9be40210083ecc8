# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Fixtures for tests of other packages: an arm in MuJoCo, its controller, trajectories and faults.

Simulator and controller are the real nodes, in separate processes and a unique namespace. They
advance in lockstep on simulation time, so that a busy machine makes a test slow but not wrong.
While the simulation is paused, parameters, pushes and trajectories take effect at an exact time:
the states of :meth:`SimulatedArm.run` are then the same on every machine.

    def test_my_law_holds_the_arm():
        with simulated_arm('two_link', controller={'mode': 'joint_impedance'}) as arm:
            arm.wait_for('RUNNING')
            arm.move([0.5, 0.2], duration=1.0)
            assert abs(arm.position() - [0.5, 0.2]).max() < 0.05
            arm.pause()
            arm.push('link2', [0.0, 0.0, 20.0])
            states = arm.run(0.2)
            assert abs(states.velocity).max() > 0.1
            arm.resume()
            arm.second_state_publisher()
            arm.wait_for('FAULT')
            assert arm.reason_code() == 'TWO_STATE_PUBLISHERS'
"""

from typing import TYPE_CHECKING

from ..extras import from_modules

if TYPE_CHECKING:
    from .lockstep import simulated_arm, SimulatedArm, START_TIMEOUT, States, TIME_TOLERANCE

__all__ = ['START_TIMEOUT', 'SimulatedArm', 'States', 'TIME_TOLERANCE', 'simulated_arm']

# Motors without ROS are beside it
__getattr__ = from_modules(__name__, dict.fromkeys(__all__, '.lockstep'))
