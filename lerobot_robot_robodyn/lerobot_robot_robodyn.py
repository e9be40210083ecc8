# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Arms with a driver of robodyn_ros, as robots and leaders of LeRobot; angles in rad."""

from dataclasses import dataclass, field
from typing import Any

from lerobot.cameras import CameraConfig, make_cameras_from_configs
from lerobot.robots import Robot, RobotConfig
from lerobot.teleoperators import Teleoperator, TeleoperatorConfig
from lerobot.utils.decorators import check_if_already_connected, check_if_not_connected
import numpy as np
from robodyn_process import ArmProcess
from robodyn_ros import load_urdf

START_TIMEOUT = 60.0    # [s] in which an arm has to be driven, after a test of its motors
QUANTITIES = 'pos', 'vel', 'torque', 'external_torque'


@dataclass(kw_only=True)
class ArmConfig:
    """
    An arm, its driver and its controller.

    :param urdf: path or known name; ``tip``: last link of the chain; ``locked``: joints that are
        fixed, as those of a gripper, and their positions.
    :param driver: a name, the path of an arm's file, or ``package.module:NAME``.
    :param settings: parameters of the controller; gains that are missing are suggested ones.
    :param link: name that a leader and its follower share, to feel each other.
    """

    urdf: str
    driver: str
    tip: str = ''
    locked: dict[str, float] = field(default_factory=dict)
    driver_options: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    link: str = ''


@RobotConfig.register_subclass('robodyn_follower')
@dataclass(kw_only=True)
class RobodynFollowerConfig(ArmConfig, RobotConfig):
    """An arm that moves to targets, or after a leader through the link."""

    cameras: dict[str, CameraConfig] = field(default_factory=dict)


@TeleoperatorConfig.register_subclass('robodyn_leader')
@dataclass(kw_only=True)
class RobodynLeaderConfig(ArmConfig, TeleoperatorConfig):
    """An arm that a hand moves; through a link it feels what the follower feels."""


class Arm:
    """What follower and leader have in common."""

    mode, role = 'joint_impedance', 'follower'
    is_connected, is_calibrated = False, True
    action_features: dict[str, type] = {}
    cameras: dict[str, Any] = {}

    def __init__(self, config: Any):
        super().__init__(config)        # type: ignore[call-arg]
        self.config = config
        self._load = {'tip': config.tip or None, 'locked': config.locked}
        self.model = load_urdf(config.urdf, **self._load)
        self.action_features = {f'{joint}.pos': float for joint in self.model.joint_names}

    def calibrate(self) -> None:
        """Do nothing: the driver knows zeros and signs, and sets up the motors."""

    configure = calibrate

    @check_if_already_connected
    def connect(self, calibrate: bool = True) -> None:
        """Connect the cameras, start the control loop, and wait until the arm is driven."""
        for camera in self.cameras.values():
            camera.connect()
        c = self.config
        law = {'mode': 'leader_follower', 'coupling_role': self.role} if c.link else {
            'mode': self.mode}
        self._process = ArmProcess(
            urdf=c.urdf, load=self._load, driver=c.driver, driver_options=c.driver_options,
            settings={'rate': 500.0, **law, **c.settings}, link=c.link)
        try:
            self._process.state(START_TIMEOUT)
        except BaseException:
            self._process.close()
            raise
        self.is_connected = True

    @check_if_not_connected
    def disconnect(self) -> None:
        """Bring the arm to rest, end the control loop, and disconnect the cameras."""
        self.is_connected = False
        self._process.close()
        for camera in self.cameras.values():
            camera.disconnect()

    @check_if_not_connected
    def read(self, *quantities: str) -> dict[str, float]:
        """Return quantities of all joints; a fault of the arm is an error."""
        state = self._process.state()
        return {f'{joint}.{name}': value for name in quantities
                for joint, value in zip(self.model.joint_names, state[name].tolist())}


class RobodynFollower(Arm, Robot):
    """A robot whose policy sends positions, for which another process computes torques."""

    config_class = RobodynFollowerConfig
    name = 'robodyn_follower'
    observation_features: dict[str, Any] = {}

    def __init__(self, config: RobodynFollowerConfig):
        super().__init__(config)
        self.cameras = make_cameras_from_configs(config.cameras)
        self.observation_features = {
            **{f'{joint}.{q}': float for q in QUANTITIES for joint in self.model.joint_names},
            **{name: (one.height, one.width, 3) for name, one in self.cameras.items()}}

    def get_observation(self) -> dict[str, Any]:
        """Return the state of the arm, and the newest images."""
        return {**self.read(*QUANTITIES),
                **{name: camera.async_read() for name, camera in self.cameras.items()}}

    @check_if_not_connected
    def send_action(self, action: dict[str, Any]) -> dict[str, Any]:
        """Move toward positions, or leave this to the leader at the other end of the link."""
        if not self.config.link:
            self._process.ask({name.removesuffix('.pos'): float(value)
                               for name, value in action.items()})
        return action


class RobodynLeader(Arm, Teleoperator):
    """A leader that carries its own weight."""

    config_class = RobodynLeaderConfig
    name = 'robodyn_leader'
    mode, role = 'gravity_compensation', 'leader'
    feedback_features: dict[str, type] = {}     # forces come through the link

    def get_action(self) -> dict[str, float]:
        """Return the positions of the joints, within their limits."""
        position = self.read('pos')
        return dict(zip(position, np.clip([*position.values()], self.model.position_lower,
                                          self.model.position_upper).tolist()))

    def send_feedback(self, feedback: dict[str, Any]) -> None:
        """Do nothing: forces come through the link."""
