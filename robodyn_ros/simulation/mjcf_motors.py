# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Check that the actuators of an MJCF scene apply the efforts of a controller unchanged."""

from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from ..errors import ParameterError, SimulationError
from ..model.robot import RobotModel

MOTOR_REMEDY = 'replace it by <motor joint="..." name="..."/>, whose command is the effort'


def check_scene(mjcf: str | Path, model: RobotModel) -> list[str]:
    """
    Refuse a scene whose actuators would not apply this robot's efforts; return warnings.

    MuJoCo itself reads the scene, with its includes and defaults; meshes are not needed. An
    actuator counts by its gain, bias, dynamics and gear, not by its tag: <general> may be a motor
    or a servo.

    :param mjcf: path of the scene.
    :return: joints at which the scene clips efforts that the robot may have.
    :raises SimulationError: MuJoCo cannot read it, or a joint of the robot has several actuators,
        or one whose force is not its command.
    :raises ParameterError: a joint of the robot has no actuator.
    """
    try:
        spec = mujoco.MjSpec.from_file(str(mjcf))
    except ValueError as error:
        raise SimulationError(f'MuJoCo cannot read the scene {str(mjcf)!r} '
                              f'({" ".join(str(error).split())})', name='mjcf',
                              remedy='give the path of an MJCF file') from error
    found: dict[str, list[mujoco.MjsActuator]] = {name: [] for name in model.joint_names}
    for actuator in spec.actuators:
        if actuator.trntype == mujoco.mjtTrn.mjTRN_JOINT and actuator.target in found:
            found[actuator.target].append(actuator)
    for name, actuators in found.items():
        if len(actuators) > 1:
            raise SimulationError(f'joint {name!r} has {len(actuators)} actuators in the scene',
                                  name=name, remedy='keep the motor only')
        if actuators and (deviations := _deviations(actuators[0])):
            raise SimulationError(
                f'the actuator of joint {name!r} is not a torque motor: {", ".join(deviations)}',
                name=name, remedy=MOTOR_REMEDY)
    if missing := [name for name, actuators in found.items() if not actuators]:
        raise ParameterError(f'the scene has no actuator for {", ".join(missing)}', name='mjcf',
                             value=missing, remedy='add <motor joint="..." name="..."/> for each')
    if absent := [name for name in found if spec.joint(name) is None]:
        raise SimulationError(f'the scene has no joint {", ".join(absent)}', name='mjcf',
                              value=absent, remedy='name the joints as in the URDF')
    return [f'the scene clips the effort of joint {name!r} at {least:g}, its limit is {limit:g}'
            for name, limit in zip(found, model.effort_limit)
            if (least := _clip(found[name][0], spec.joint(name))) < limit < np.inf]


def _clip(actuator: mujoco.MjsActuator, joint: mujoco.MjsJoint) -> float:
    """Return the largest effort [N·m | N] that is applied in both directions, inf for any."""
    limits = ((actuator.ctrllimited, actuator.ctrlrange),
              (actuator.forcelimited, actuator.forcerange),
              (joint.actfrclimited, joint.actfrcrange))
    automatic = mujoco.mjtLimited.mjLIMITED_AUTO        # limited if there is a range
    return min((min(-low, high) for limited, (low, high) in limits
                if limited and (limited != automatic or low or high)), default=np.inf)


def _deviations(actuator: mujoco.MjsActuator) -> list[str]:
    """Return why the force of an actuator is not its command, in terms of MJCF; [] if it is."""
    deviations = []
    bias = actuator.biasprm[:3]
    if actuator.biastype == mujoco.mjtBias.mjBIAS_AFFINE and any(bias):
        kind = 'position servo' if bias[1] else 'velocity servo' if bias[2] else 'constant force'
        deviations.append(f'a {kind} (biasprm {_words(bias)})')
    elif actuator.biastype not in (mujoco.mjtBias.mjBIAS_NONE, mujoco.mjtBias.mjBIAS_AFFINE):
        deviations.append(f'biastype {_value(actuator.biastype)}')
    if actuator.gaintype != mujoco.mjtGain.mjGAIN_FIXED:
        deviations.append(f'gaintype {_value(actuator.gaintype)}')
    elif actuator.gainprm[0] != 1.0:
        deviations.append(f'gain {actuator.gainprm[0]:g}')
    if actuator.dyntype != mujoco.mjtDyn.mjDYN_NONE:
        deviations.append(f'dyntype {_value(actuator.dyntype)}')
    if actuator.gear[0] != 1.0:
        deviations.append(f'gear {actuator.gear[0]:g}')
    if actuator.plugin.active:
        deviations.append('a plugin')
    return deviations


def _value(kind: Any) -> str:
    """Return a constant of MuJoCo as MJCF spells it: mjDYN_FILTEREXACT is filterexact."""
    return kind.name.rpartition('_')[2].lower()


def _words(values: list[float]) -> str:
    return ' '.join(f'{value:g}' for value in values)
