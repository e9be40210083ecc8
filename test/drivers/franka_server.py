# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
A robot for pylibfranka: franka-sim, with the limits of communication and motion of the robot.

The Python that runs this may have no other package of ours or of the tests: franka-sim requires
old ones. The environment variable FR3_MJCF names the scene.
"""

from franka_sim import FrankaSimServer
from franka_sim.mujoco_franka_sim import ARM_POSITION_KD, ARM_POSITION_KP, MujocoFrankaSim

publish = MujocoFrankaSim._read_and_publish_state


def publish_torques(self):
    """Publish joint torques with gravity, as the sensors of the robot do, and not the commands."""
    publish(self)
    self._state_snapshot['tau_J'] = (
        self.latest_torques + self.data.qfrc_gravcomp[self.arm_dofs_idx])


if __name__ == '__main__':
    # The servos that hold a robot without a motion oscillate at 1 ms with rotors of 0.074 kg·m²
    for gains in ARM_POSITION_KP, ARM_POSITION_KD:
        gains[4:] /= 4.0
    MujocoFrankaSim._read_and_publish_state = publish_torques
    server = FrankaSimServer(host='127.0.0.1', enable_gripper=False, enforce_comm_constraints=True,
                             enforce_motion_limits=True)
    try:
        server.start()
    except KeyboardInterrupt:
        pass
    finally:
        server.stop()
