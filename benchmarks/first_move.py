# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
`python -m benchmarks.first_move [ROBOT ...]`: whether arms go where they are told by default.

Each arm of example-robot-data that has limits gets suggested gains and nothing else. In MuJoCo,
with the friction of its URDF, it moves each joint by 1 rad (0.1 m), or as far as its limits and
gravity allow. The exit code is 1 if an arm rests further than RESTING_ERROR from its target after
3 s, and nothing has said so before.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy import ndarray
from rich import box
from rich.console import Console
from rich.table import Table
from robodyn_ros import (
    Dynamics, load_urdf, RobotModel, Settings, simulate, suggest_gains, Waypoints)
from robodyn_ros.control.settings.motion_limits import most_resting_error, resting_error_warning
from robodyn_ros.errors import RobodynError, UrdfError
from robodyn_ros.model.resources import robot_path
from robodyn_ros.model.robot import roomy_position
import typer

# File and chain of each arm; what moves beside the chain is locked at zero
ARMS: dict[str, tuple[str, str | None, str | None]] = {
    'z1': ('z1', None, None), 'xarm7': ('xarm7', None, None),
    'panda': ('panda', None, 'panda_hand'),
    'ur3': ('ur3_robot', None, None), 'ur5': ('ur5_robot', None, None),
    'ur10': ('ur10_robot', None, None),
    'kinova j2s6s200': ('kinova', None, None), 'so100': ('so100', None, None),
    'so101': ('so101', None, None),
    'talos arm': ('talos_full_v2', 'torso_2_link', 'arm_right_7_link'),
    'talos leg': ('talos_full_v2', 'base_link', 'leg_left_6_link'),
    'talos arm, old': ('talos_left_arm', None, 'arm_left_7_link'),
    'tiago': ('tiago', 'torso_lift_link', 'arm_7_link'),
    'tiago dual': ('tiago_dual', 'torso_lift_link', 'arm_left_7_link'),
    'tiago pro': ('tiago_pro', 'torso_lift_link', 'arm_left_7_link'),
    'baxter': ('baxter', 'torso', 'left_wrist'),
    'pr2': ('pr2', 'torso_lift_link', 'r_wrist_roll_link'),
    'romeo arm': ('romeo', 'torso', 'l_wrist'), 'icub arm': ('icub', 'chest', 'l_hand'),
    'g1 arm': ('g1_29dof_rev_1_0', 'torso_link', 'left_wrist_yaw_link'),
    'g1 leg': ('g1_29dof_rev_1_0', 'pelvis', 'left_ankle_roll_link'),
    'alex': ('alex_nub_hands', None, None),
    'allegro finger': ('allegro_left_hand', 'palm_link', 'link_3.0'),
    'go1 leg': ('go1', 'trunk', 'FR_calf'), 'go2 leg': ('go2', 'base', 'FL_calf'),
    'a1 leg': ('a1', 'trunk', 'FR_calf'), 'b1 leg': ('b1', 'trunk', 'FR_calf'),
    'anymal leg': ('anymal_b_simple', 'base', 'LF_FOOT'),
    'hyq leg': ('hyq_no_sensors', 'trunk', 'lf_foot'),
    'solo12 leg': ('solo12', 'base_link', 'FL_FOOT'), 'bolt leg': ('bolt', 'base_link', 'FL_FOOT'),
    'finger_edu': ('finger_edu', None, None), 'TwoDofs': ('TwoDofs', None, None)}
TURN, SLIDE = 1.0, 0.1      # [rad], [m]
ROOM_SHARE = 0.9    # of the way to a position limit
EFFORT_SHARE = 0.8    # of the effort limits, for gravity, friction and acceleration
VELOCITY_SHARE = 0.5    # of the velocity limits
LONGEST = 20.0    # [s] of a motion
REST_TIME = 3.0    # [s] after it


class Move(NamedTuple):
    """
    What came of an arm.

    :param error: [rad | m] of the joint furthest from its target, in units of what is reported;
        NaN without a motion.
    :param warning: what was said before power, or why the arm was refused.
    """

    name: str
    joints: int
    assumed: int            # rotor inertias
    friction: float         # N·m or N, the largest
    error: float
    joint: str
    ended: str              # '' or the fault
    warning: str

    @property
    def passed(self) -> bool:
        """Whether it reached its target, or something said before that it would not."""
        return bool(self.error <= 1.0 and not self.ended or self.warning)


def chain(file: str, root: str | None, tip: str | None) -> RobotModel:
    """Load a chain, with what moves beside it locked at zero."""
    locked: dict[str, float] = {}
    while True:
        try:
            return load_urdf(robot_path(file), root=root, tip=tip, locked=locked)
        except UrdfError as error:
            if error.name in locked or not error.remedy.startswith('lock'):
                raise
            locked[str(error.name)] = 0.0


def effort(dynamics: Dynamics, start: ndarray, way: ndarray, duration: float) -> float:
    """Return the largest effort of a quintic motion, in effort limits."""
    model, worst = dynamics.model, 0.0
    for x in np.linspace(0.0, 1.0, 21):
        s = x**3 * (10 - 15 * x + 6 * x**2)
        rate = 30 * x**2 * (1 - x)**2 * way / duration
        bend = 60 * x * (1 - x) * (1 - 2 * x) * way / duration**2
        tau = dynamics.inverse_dynamics(start + s * way, rate, bend) + dynamics.friction(rate)
        worst = max(worst, float((abs(tau) / model.effort_limit).max()))
    return worst


def move(name: str, scale: float = 1.0) -> Move:
    """Move an arm; ``scale``: its velocity_scale."""
    model = chain(*ARMS[name])
    gains = suggest_gains(model)
    settings = Settings(mode='computed_torque', velocity_scale=scale, **gains._asdict())
    dynamics = Dynamics(settings.loaded(model))
    start = roomy_position(model)
    up, down = (np.clip(limit - start, -np.pi, np.pi) for limit in (
        model.position_upper, model.position_lower))
    most = np.where(model.slides, SLIDE, TURN)
    way = scale * np.clip(ROOM_SHARE * np.where(up > -down, up, down), -most, most)
    duration = max(2.0, float((1.875 * abs(way) / (VELOCITY_SHARE * scale
                                                   * model.velocity_limit)).max()))
    while (share := effort(dynamics, start, way, duration)) > EFFORT_SHARE and duration < LONGEST:
        duration *= 1.5
    warning = resting_error_warning(model, settings)
    if share > 1.0:
        warning = f'the motion takes {share:.2g} of an effort limit; {warning}'
    seen: dict[str, Any] = {
        'name': name, 'joints': model.nv,
        'assumed': int((gains.armature > model.armature).sum()),
        'friction': float(model.coulomb_friction.max())}
    still = np.zeros((1, model.nv))
    try:
        run = simulate(model, settings, start, duration + REST_TIME, Waypoints(
            model.joint_names, np.array([duration]), (start + way)[None], still, still))
    except RobodynError as error:
        return Move(**seen, error=np.nan, joint='', ended='refused', warning=str(error))
    errors = abs(run.position[-1] - start - way) / most_resting_error(model)
    return Move(**seen, error=float(errors.max()), joint=model.joint_names[int(errors.argmax())],
                ended=run.code, warning=warning)


def main(robots: Annotated[list[str] | None, typer.Argument(help='Arms; default: all.')] = None,
         velocity_scale: Annotated[float, typer.Option(
             help='Of the controller; motions are as much shorter.')] = 1.0) -> None:
    """Print a table of all arms; fail if one rests elsewhere without a warning."""
    console = Console(highlight=False, markup=False, emoji=False)
    moves = [move(name, velocity_scale) for name in robots or ARMS]
    table = Table('arm', 'joints', 'assumed rotors', 'friction', 'error at rest [mrad | 0.2 mm]',
                  'joint', 'fault', 'said before', box=box.MARKDOWN)
    for one in moves:
        table.add_row(one.name, str(one.joints), str(one.assumed), f'{one.friction:.2g}',
                      f'{10.0 * one.error:.2g}', one.joint, one.ended, one.warning)
    Console(highlight=False, width=250).print(table)
    reached = sum(one.error <= 1.0 and not one.ended for one in moves)
    console.print(f'{reached} of {len(moves)} reach their targets, '
                  f'{sum(one.passed for one in moves) - reached} are named before')
    raise typer.Exit(not all(one.passed for one in moves))


if __name__ == '__main__':
    typer.run(main)
