# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subcommand `calibrate collision`: collision thresholds of a running controller."""

from __future__ import annotations

from pathlib import Path
import time
from typing import Annotated, Any, TYPE_CHECKING

import numpy as np
from numpy import ndarray
from rich.console import Console
import typer
import yaml

from .options import (
    command,
    connected,
    console,
    Force,
    NodeName,
    output,
    RUN,
    seconds_bar,
    SimTime,
    table,
    Wait,
)
from ..errors import check_new, IdentificationError, require_modules, RosError

if TYPE_CHECKING:
    from ..control.learning import CollisionThresholds
    from ..control.settings.settings import Settings
    from ..identification.recordings.recording import Recording
    from ..model.robot import RobotModel

MIN_MOTION = 0.05    # [rad | m] of a joint that counts as moved
MIN_SAMPLES = 50


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
        with recording(here, f'/{node.strip("/")}/external_torque', wait) as recorder:
            out.print(f'listening to {recorder.topic}: move the arm as it will work, and let it '
                      'touch nothing')
            begun = time.monotonic()
            with seconds_bar(out) as bars:
                bar = bars.add_task('quiet run', total=duration)
                while time.monotonic() - begun < duration:
                    here.poll()
                    bars.update(bar, completed=time.monotonic() - begun)
        quiet = recorder.recording()
        found = learned(quiet, model, settings, margin)
        show(found, model, np.ptp(np.asarray(quiet.position), axis=0), out)
        values = {name: [round(float(x), 4) for x in value]
                  for name, value in found._asdict().items()}
        if output is not None:
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
    q, qd, effort = _ordered(recording, model)
    bias = Batch(model).inverse_dynamics(q, qd, np.zeros_like(q))
    limit = (settings.per_joint(model, 'effort_limit') if settings.effort_limit
             else model.effort_limit)
    return thresholds(qd, bias, effort, limit, margin=margin)


def _ordered(recording: Recording, model: RobotModel) -> tuple[ndarray, ndarray, ndarray]:
    """Return position, velocity and effort (N, nv) in the joint order of the model."""
    order = [recording.joint_names.index(name) for name in model.joint_names]
    assert recording.velocity is not None and recording.effort is not None  # the topic has both
    return (recording.position[:, order], recording.velocity[:, order],
            recording.effort[:, order])


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
