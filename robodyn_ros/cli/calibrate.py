# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subcommands `calibrate collision` and `calibrate payload`, of a running controller."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, TYPE_CHECKING

import numpy as np
from numpy import ndarray
from rich.console import Console
import typer
import yaml

from .options import (
    command, connected, console, Force, NodeName, output, play_with_bar, playing, RUN, seconds_bar,
    SimTime, States, table, Wait, wait_with_bar)
from .recording_options import OF_LOAD
from ..errors import check_new, IdentificationError, require_modules, RosError, writing
from ..model.rigid_body import UPPER_TRIANGLE

if TYPE_CHECKING:
    from ..control.learning import CollisionThresholds
    from ..control.settings.settings import Settings
    from ..identification.estimation.payload import Payload
    from ..identification.excitation.trajectory_file import JointTrajectory
    from ..identification.recordings.recording import Recording
    from ..model.robot import RobotModel
    from ..nodes.clients.play import Player
    from ..nodes.clients.running_controller import RunningController
    from ..nodes.middleware.client_session import Session

MIN_MOTION = 0.05    # [rad | m] of a joint that counts as moved
MIN_SAMPLES = 50
LEAD_TIME = 1.0     # [s] to the start, the present pose, from the reference that a load sags from


@command(RUN, '--set', 'calibrate')
def calibrate_collision(duration: Annotated[float, typer.Option(
                            min=1.0, max=3600.0, help='Duration of the recording (s).')] = 60.0,
                        margin: Annotated[float, typer.Option(
                            min=1.0, max=10.0, help='Factor of the thresholds over the external '
                            'efforts without contact.')] = 1.5,
                        setting: Annotated[bool, typer.Option(
                            '--set', help='Set the thresholds in the controller.')] = False,
                        output: Annotated[Path | None, output('Parameter file to write.')] = None,
                        force: Force = False,
                        node: NodeName = 'controller', sim_time: SimTime = False,
                        wait: Wait = 10.0) -> None:
    """
    Learn collision thresholds from usual motions of the arm, without contact.

    Move the arm meanwhile, for instance with `robodyn play`: the thresholds fit the recorded
    motions, speeds and loads. --set sets them in the controller.
    """
    require_modules('calibrate collision', ['rclpy'], RosError)
    from ..nodes.clients.record import recording

    out = console()
    if output is not None and not force:
        check_new([output], '--output', 'choose another --output, or --force to replace it')
    with connected('calibrate collision', node, sim_time, wait) as (here, controller):
        settings = controller.settings()
        model = settings.loaded(controller.model())
        with recording(here, f'{controller.name}/external_torque', wait) as recorder:
            out.print(f'listening to {recorder.topic}: move the arm as it will work, and let it '
                      'touch nothing')
            with seconds_bar(out) as bars:
                wait_with_bar(here, bars, 'quiet run', duration)
        quiet = recorder.recording()
        found = learned(quiet, model, settings, margin)
        show(found, model, np.ptp(np.asarray(quiet.position), axis=0), out)
        values = {name: [round(float(x), 4) for x in value]
                  for name, value in found._asdict().items()}
        if output is not None:
            with writing(output, '--output'):
                output.write_text(parameter_file(values, model), encoding='utf-8')
            out.print(f'written: {output}')
        if setting:
            controller.set(values)
            out.print('accepted: collisions are detected from now on, except in '
                      'gravity_compensation')


def learned(recording: Recording, model: RobotModel, settings: Settings,
            margin: float) -> CollisionThresholds:
    """
    Return the thresholds from a run without contact.

    :param recording: of ``~/external_torque``: positions, velocities and external efforts.
    :param model: with its payload and friction.
    :raises IdentificationError: there are too few samples.
    :raises ArgumentError: see :func:`.learning.thresholds`.
    """
    from ..control.learning import thresholds
    from ..dynamics import Batch

    if len(recording.time) < MIN_SAMPLES:
        raise IdentificationError(f'{len(recording.time)} samples are too few', name='samples',
                                  remedy='listen longer, with the arm driven, or raise the '
                                  'parameter external_effort_rate')
    quiet = recording.of(model.joint_names)
    assert quiet.velocity is not None and quiet.effort is not None      # the topic has both
    bias = Batch(model).inverse_dynamics(quiet.position, quiet.velocity,
                                         np.zeros_like(quiet.position))
    return thresholds(quiet.velocity, bias, quiet.effort,
                      settings.per_joint(model, 'effort_limit'),
                      settings.per_joint(model, 'velocity_limit'), margin=margin)


def show(found: CollisionThresholds, model: RobotModel, moved: ndarray, out: Console) -> None:
    """Print the thresholds, and which joints have not moved."""
    rows = table('Collision thresholds', 'joint', 'threshold', 'per velocity', 'share of effort',
                 'unit')
    for name, slides, *values in zip(model.joint_names, model.slides, *found):
        rows.add_row(name, *(f'{value:.3g}' for value in values), 'N' if slides else 'N·m')
    out.print(rows)
    if still := [n for n, range_ in zip(model.joint_names, moved) if range_ < MIN_MOTION]:
        out.print(f'! hardly moved: {", ".join(still)}; their thresholds are those of an arm at '
                  'rest', style='yellow')


def parameter_file(values: dict[str, Any], model: RobotModel) -> str:
    """Return the text of a parameter file of the controller."""
    return (f'# Collision thresholds of the joints {", ".join(model.joint_names)}\n'
            + yaml.safe_dump({'/**': {'ros__parameters': values}}, sort_keys=False,
                             default_flow_style=None, width=95))


@command(RUN, '--set', 'calibrate')
def calibrate_payload(frame: Annotated[str, typer.Option(
                          help='Link that holds it; default: payload_frame of the controller, '
                          'else the last link.')] = '',
                      amplitude: Annotated[float, typer.Option(
                          min=0.05, max=1.0,
                          help='Largest displacement of a joint (rad or m).')] = 0.35,
                      duration: Annotated[float, typer.Option(
                          min=5.0, max=60.0, help='Duration of the motion (s).')] = 10.0,
                      setting: Annotated[bool, typer.Option(
                          '--set', help='Set the identified payload.')] = False,
                      states: States = '',
                      node: NodeName = 'controller', sim_time: SimTime = False,
                      wait: Wait = 10.0) -> None:
    """
    Identify the payload of a running controller from a short motion about the present pose.

    The motion is NOT CHECKED FOR COLLISIONS: make sure that the way is free.
    """
    from .identification_report import print_load
    from ..identification.excitation.payload_motion import payload_motion

    out = console()
    with playing('calibrate payload', node, states, sim_time, wait) as (here, controller, player):
        from ..nodes.clients.play import slowed

        settings = controller.settings()
        robot = replace(settings, payload_mass=0.0).loaded(controller.model())
        offset = settings.per_joint(robot, 'friction_offset')
        frame = frame or settings.payload_frame or robot.link_names[-1]
        pose = player.pose(robot.joint_names)
        motion = payload_motion(slowed(robot, settings), frame, pose, amplitude=amplitude,
                                duration=duration)
        announce(motion.trajectory, motion.amplitude, f'the load at {frame}', out)
        recording = recorded(here, player, motion.trajectory, robot, wait, out)
        found = estimate(recording, robot, frame, offset)
        print_load(found, robot.joint_names, out)
        if setting:
            _check_determined(found)
            _set(controller, _found(found), frame, out)


def estimate(recording: Recording, robot: RobotModel, frame: str, offset: ndarray) -> Payload:
    """
    Return the load that explains a recording of the motion.

    :param robot: without a load; ``offset`` (nv,) of the efforts [N·m | N].
    :raises RecordingError, IdentificationError: the recording does not determine it.
    """
    from ..identification.estimation.payload import find_payload
    from ..identification.options import PreparationOptions
    from ..identification.recorded_motion import checked_motion, require_torques

    require_torques(recording)
    # The model has no load: at wrist joints the efforts of one may contradict it entirely. Joints
    # that the motion leaves alone have velocities of noise, which nothing here uses.
    motion, *_ = checked_motion(recording, robot,
                                PreparationOptions(accept=(*OF_LOAD, 'velocity')))
    return find_payload(robot, motion, frame, offset)


def announce(motion: JointTrajectory, amplitude: ndarray, purpose: str, out: Console) -> None:
    """Print which joints will move, by their amplitudes (nv,) [rad | m]."""
    moved = [f'{name} by {x:.2f}' for name, x in zip(motion.joint_names, amplitude) if x]
    out.print(f'moving {", ".join(moved)} rad or m to either side for {motion.times[-1]:g} s, to '
              f'find {purpose}; nothing has looked for collisions')


def recorded(here: Session, player: Player, motion: JointTrajectory, robot: RobotModel,
             wait: float, out: Console) -> Recording:
    """
    Play a motion and return its recording, also of drivers whose positions begin anew at ±π.

    :raises RosError: the controller or the joint states are silent, or the motion is refused.
    """
    from ..identification.recordings.read import without_jumps
    from ..nodes.clients.play import SETTLE_TIME
    from ..nodes.clients.record import recording

    motion = replace(motion, times=motion.times + LEAD_TIME)
    with recording(here, player.states, wait) as recorder, seconds_bar(out) as bars:
        here.until(lambda: False, SETTLE_TIME)
        play_with_bar(player, bars, 'motion', motion)
    return without_jumps(recorder.recording(), robot)


def _check_determined(found: Payload) -> None:
    """Refuse to set a mass or a center of mass that the motion does not determine."""
    if missing := [line for line in found.unseen if not line.startswith('inertia')
                   and 'separable' not in line]:
        raise IdentificationError(
            f'the load is not set: {"; ".join(missing)}', name=found.frame,
            remedy='find it in another pose, or with a larger --amplitude')


def _found(found: Payload) -> dict[str, Any]:
    inertia = np.zeros(6) if found.inertia is None else found.inertia[UPPER_TRIANGLE]
    return {'payload_mass': float(found.mass), 'payload_com': found.com.tolist(),
            'payload_inertia': inertia.tolist()}


def _set(controller: RunningController, values: dict[str, Any], frame: str,
         out: Console) -> None:
    """Set the payload at a frame, '' for the present one, and print the present payload."""
    controller.set(values | ({'payload_frame': frame} if frame else {}))
    now = controller.settings()
    out.print(f'accepted: {now.payload_mass:.4g} kg at {_listed(now.payload_com)} m of '
              f'{now.payload_frame}, inertia {_listed(now.payload_inertia)} kg·m²; active '
              f'after {now.payload_transition:g} s')


def _listed(values: Sequence[float]) -> str:
    return f'[{", ".join(f"{value:.4g}" for value in values)}]'
