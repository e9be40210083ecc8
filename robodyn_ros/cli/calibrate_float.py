# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subcommand `calibrate float`: gravity and friction from a slow motion of all joints."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, NamedTuple, TYPE_CHECKING

import numpy as np
from numpy import ndarray
from rich.table import Table
import typer

from .calibrate import announce, recorded
from .options import (
    command, console, Force, NodeName, output, playing, RUN, SimTime, States, table, Wait)
from ..errors import check_new, IdentificationError, ParameterError

if TYPE_CHECKING:
    from ..control.settings.settings import Settings
    from ..identification import Estimate, Motion
    from ..identification.recordings.recording import Recording
    from ..model.robot import RobotModel

# Equations that are left: a slow motion carries little information a second
MAX_SAMPLES = 1500
# What the checks of a recording may say about a model with false masses, and about joints that
# stick while the motion is slow
ACCEPT_OPTIONS = 'gravity', 'stuck'
TRAINING_SHARE = 2.0 / 3.0    # of the motion; the rest tests the result
# Speed [rad/s | m/s] below which samples are left out: a joint that sticks bears any effort up to
# its friction, which would look like less friction at low speeds
SLIDING_VELOCITY = 0.02
# Least presliding distance that is compensated, in standard deviations of the noise of positions.
# With half of it the noise passes the play of friction compensation, and an arm at rest creeps.
MIN_DISTANCE = 40.0


class Calibration(NamedTuple):
    """
    Result: the estimate, and RMS errors of efforts (nv,) on the part that was not fitted.

    :param before: of the model as it was, ``after``: of the estimate [N·m | N].
    :param distance: (nv,) presliding distance for friction compensation [rad | m], 0 where none
        was found: the estimated one, or MIN_DISTANCE ``noise`` where that is more.
    :param noise: (nv,) standard deviation of the positions [rad | m].
    :param note: on the search for presliding.
    """

    estimate: Estimate
    before: ndarray
    after: ndarray
    distance: ndarray
    noise: ndarray
    note: str

    def too_noisy(self) -> list[str]:
        """Return sentences on joints whose contact the noise of their positions hides in part."""
        estimated = self.estimate.with_friction().presliding_distance
        return [f'of {name} {1e3 * distance:.2g} mrad are compensated, {MIN_DISTANCE:g} times '
                'the noise of its position: more than that is left of the force that sets it '
                'moving' for name, distance, least in zip(
                    self.estimate.model.joint_names, self.distance, estimated) if distance > least]


@command(RUN, '', 'calibrate')
def calibrate_float(folder: Annotated[Path, output(
                        'Folder for corrected.urdf and friction.yaml.', 'FOLDER'
                        )] = Path('calibrated'), force: Force = False,
                    amplitude: Annotated[float, typer.Option(
                        min=0.1, max=3.0,
                        help='Largest displacement of a joint (rad or m).')] = 0.6,
                    duration: Annotated[float, typer.Option(
                        min=10.0, max=60.0, help='Duration of the motion (s).')] = 30.0,
                    states: States = '',
                    node: NodeName = 'controller', sim_time: SimTime = False,
                    wait: Wait = 10.0) -> None:
    """
    Identify masses and friction from a slow motion, so that the arm floats.

    All joints move about the present pose. The motion is NOT CHECKED FOR COLLISIONS: make sure
    that the way is free. The result is a URDF and friction parameters for the controller.
    """
    from ..identification.excitation.payload_motion import float_motion
    from ..identification.result_files import FRICTION, URDF, writable_folder

    out = console()
    if not force:
        check_new([folder / URDF, folder / FRICTION], '--output',
                  'choose another --output, or --force to replace them')
    with playing('calibrate float', node, states, sim_time, wait) as (
            here, controller, player), writable_folder(folder):
        from ..nodes.clients.play import slowed

        settings, urdf = controller.settings(), controller.urdf()
        robot = without_payload(controller.model(), settings)
        motion = float_motion(slowed(robot, settings), player.pose(robot.joint_names),
                              amplitude=amplitude, duration=duration)
        announce(motion, np.ptp(motion.positions, axis=0) / 2.0, 'masses and friction', out)
        found = calibrate(recorded(here, player, motion, robot, wait, out), robot)
    out.print(errors_table(found, robot))
    out.print('; '.join((found.note, *found.too_noisy())))
    model, friction = write(folder, found, robot, urdf)
    out.print(f'written: {model}, {friction}. Start the controller with -p urdf:={model} and '
              f'--params-file {friction}; friction_compensation, at most 0.8 in '
              'gravity_compensation, makes the arm lighter to move'
              + (', from rest too.' if found.distance.any() else ' once it moves.'))


def without_payload(model: RobotModel, settings: Settings) -> RobotModel:
    """
    Return the model as the controller has it.

    :raises ParameterError: a payload is set, which would become part of the robot.
    """
    if settings.payload_mass:
        raise ParameterError('a payload is set', name='payload_mass', value=settings.payload_mass,
                             remedy='take it off the arm, and `robodyn set payload_mass=0`')
    return settings.loaded(model)


def calibrate(recording: Recording, robot: RobotModel) -> Calibration:
    """
    Return physically consistent masses, centers of mass and friction that explain a recording.

    What a slow motion does not show, inertias above all, stays near the model: see
    :func:`~robodyn_ros.identification.estimation.physical_consistency.consistent`.

    :raises RecordingError: the recording has errors that no model explains.
    :raises IdentificationError: the estimate does not predict the last third of the motion better
        than the model.
    """
    from ..identification import identify, ParameterSelection
    from ..identification.estimation.search import find_effects
    from ..identification.options import PreparationOptions
    from ..identification.recorded_motion import checked_motion, require_torques
    from ..identification.result import of_estimate, of_model

    require_torques(recording)
    motion = checked_motion(recording, robot, PreparationOptions(accept=ACCEPT_OPTIONS)).motion
    train, test = motion.split(TRAINING_SHARE)
    selection = ParameterSelection(armature=False, decimate=max(1, len(train) // MAX_SAMPLES))
    mounting, way = find_effects(robot, sliding(train), selection, ['presliding'])
    selection = replace(selection, presliding=way, moving=SLIDING_VELOCITY)
    found = identify(robot, train, selection, 'consistent')
    before, after = of_model(robot, test).rms, of_estimate(found, test).rms
    if not np.linalg.norm(after / robot.effort_limit) < np.linalg.norm(
            before / robot.effort_limit):
        raise IdentificationError(
            'the estimate predicts the last third of the motion no better than the model',
            name=robot.name, remedy='keep the model, or look for what changes between repeats: '
            'cables, temperature, contact')
    noise = position_noise(recording.of(robot.joint_names).position)
    distance = found.with_friction().presliding_distance
    return Calibration(found, before, after, np.where(
        distance > 0.0, np.maximum(distance, MIN_DISTANCE * noise), 0.0), noise,
        mounting.notes[0])


def sliding(motion: Motion) -> Motion:
    """
    Return a motion from the first sample on at which all joints slide, all of it without one.

    Before, a joint sticks, and what its contact bears depends on how it came to rest.
    """
    slide = (np.abs(motion.velocity) >= SLIDING_VELOCITY).all(1)
    return motion.part(int(slide.argmax()), len(motion))


def position_noise(position: ndarray) -> ndarray:
    """
    Return the standard deviation (nv,) of what is not motion in positions (N, nv) [rad | m].

    Third differences of white noise of deviation σ have the variance 20 σ²; those of a slow motion
    are next to nothing. Steps of an encoder are noise, too.
    """
    return np.sqrt((np.diff(position, 3, axis=0)**2).mean(0) / 20.0)


def errors_table(found: Calibration, robot: RobotModel) -> Table:
    """Return errors and friction of each joint."""
    out = table('Efforts of the last third, which was not fitted', 'joint', 'RMS error before',
                'after', 'Coulomb friction', 'unit')
    friction = found.estimate.with_friction().coulomb_friction
    for name, slides, *values in zip(robot.joint_names, robot.slides, found.before, found.after,
                                     friction):
        out.add_row(name, *(f'{value:.4g}' for value in values), 'N' if slides else 'N·m')
    return out


def write(folder: Path, found: Calibration, robot: RobotModel, urdf: str) -> tuple[Path, Path]:
    """Write the corrected URDF and the parameter file of the friction; return their paths."""
    from ..identification.result_files import (
        FRICTION, friction_parameters, write_friction, write_urdf)

    friction, parameters = found.estimate.with_friction(), friction_parameters(found.estimate)
    if found.distance.any():
        friction = replace(friction, presliding_distance=found.distance)
        parameters['presliding_distance'] = found.distance.round(6).tolist()
    write_friction(file := folder / FRICTION, parameters, robot.joint_names)
    return write_urdf(folder, urdf, robot, found.estimate, friction), file
