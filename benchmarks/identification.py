# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Identification judged by its files: `python -m benchmarks.identification FOLDER ...`.

Each folder has recordings of one robot (.npz, .csv, .mat, .mcap, .db3, folders of bags) and a file
`identify.txt` with the robot, and options of `robodyn identify` by which the recordings are read:

    --robot ur10e.urdf --units effort=11

Files are looked for in the folder. Options after the folders count for all of them, `--robot`
too; `--jobs` fits so many recordings at once. Prints the relative RMS error [%] of the part that
is not fitted, of each joint and their mean: of ordinary and of weighted least squares, of the
estimate, and of corrected.urdf with friction.yaml as they were written, read again; and the CPU
time. `!` marks files that predict worse than least squares; joints that are not identified have
their errors in parentheses. With `--together`, the recordings of a folder are
fitted together; one whose name begins with `verify` is then predicted.

Public recordings of real arms are in these repositories on GitHub, none of them is part of this
one. Time, position, velocity and effort of each are saved as arrays in SI units:

- Franka Panda: marcocognetti/FrankaEmikaPandaDynModel, matlab/data/Exciting_Traj/Trajectory_1
- UR10e: shamilmamedov/dynamic_calibration, dataset_ur10e/identification_data, columns 0 time, 1-6
  position, 7-12 velocity, 13-18 current times 14.87, 13.26, 11.13, 10.62, 11.03, 11.47 N·m/A
- KUKA LWR 4+: kjyv/FloBaRoID, data/KUKA/HW of the commits 4e2e5a29 and e6c077ea, 1 fitted and 2
  predicted
- Kinova Gen3: wissem01chiha/dynamic-identification, datasets/kinova/identification_data of the
  commit 44f47d56, at 1 kHz, joint 7 locked
- Rokae xMate3 Pro: YanjunLIU-ac/Dynamic_Parameter_Identification_for_Rokae_xMate,
  filtering/data/excit, at 1 kHz, kinematics from its DH parameters
- Rokae xMate7 Pro: NEUer02/Dynamic_Parameter_Identification_for_Rokae_xMate, in the same way
- Rokae AR5: FrankJIE09/Dynamics_identification_Frank, src/config,
  dynamics_identification_data_real, with `--gravity=9.81,0,0`
- AIRBOT Play: Zeyu1-oss/dynamics_calibration_airbot, results/unified_corrected_j2j3, opt and
  N8T25QR fitted, ga_N12T25 predicted, with `--accept stuck`
- Schunk LWA 4P: nikhilushinde/AutoKoopman, branch experiment_rerun, autoKoopman_codeocean/data/
  Robot, 80, 1 and 21 fitted, 100 predicted; kinematics of ipa320/schunk_modular_robotics
- Rethink Sawyer: songtangzhong/robot-dynamics-identify-v1.3, other_files/data_filter, kinematics
  from its DH parameters
- Staubli TX40: thanhndv212/figaroh-examples, examples/staubli_TX40/data, at 5 kHz, reductions and
  coupling as in its configuration
"""

import argparse
from collections.abc import Sequence
from functools import partial
from math import inf
from pathlib import Path
import shlex
import sys
import tempfile
import time
from typing import NamedTuple

from numpy import ndarray
from rich.console import Console
from rich.table import Table
from robodyn_ros.catalog.robots import CatalogRobot, load_robot
from robodyn_ros.cli.identification_report import table
from robodyn_ros.cli.options import as_option, locked_joints, numbers
from robodyn_ros.cli.recording_options import read_options
from robodyn_ros.errors import ArgumentError, RobodynError
from robodyn_ros.identification.options import (
    ParameterSelection, PipelineOptions, PreparationOptions)
from robodyn_ros.identification.pipeline import run
from robodyn_ros.identification.recorded_motion import Source
from robodyn_ros.identification.result import Identification, of_model, ORDINARY, WEIGHTED
from robodyn_ros.identification.result_files import FRICTION, URDF
from robodyn_ros.model.friction_file import read_friction
from robodyn_ros.model.urdf import load_urdf
from robodyn_ros.parallel import in_processes

WORDS, VERIFY = 'identify.txt', 'verify'
SUFFIXES = ('.npz', '.csv', '.mat', '.mcap', '.db3')
COLUMNS = ('OLS', 'WLS', 'estimate', 'shipped')


def parser() -> argparse.ArgumentParser:
    """Return the parser of folders and options; those of `robodyn identify` have its names."""
    found = argparse.ArgumentParser('benchmarks.identification', description=__doc__,
                                    formatter_class=argparse.RawDescriptionHelpFormatter)
    found.add_argument('folders', nargs='*', type=Path, metavar='FOLDER')
    for name in ('--robot', '--root', '--tip', '--gravity', '--states', '--joints'):
        found.add_argument(name, default='')
    for name in ('--locked', '--columns', '--units', '--accept'):
        found.add_argument(name, action='append', default=[])
    for name in ('--rate', '--cutoff', '--moving'):
        found.add_argument(name, type=float)
    for name in ('--static', '--directions', '--together'):
        found.add_argument(name, action='store_true')
    found.add_argument('--split', type=float, default=0.7)
    found.add_argument('--jobs', type=int, default=1)
    return found


def recordings(folder: Path) -> list[Path]:
    """
    Return the recordings of a folder, by name.

    :raises ArgumentError: there is none.
    """
    if not folder.is_dir():
        raise ArgumentError(f'{folder} is no folder', name='FOLDER', value=str(folder),
                            remedy=f'give folders with recordings and {WORDS}')
    found = sorted(path for path in folder.iterdir() if path.suffix.lower() in SUFFIXES
                   or path.is_dir() and (path / 'metadata.yaml').exists())
    if not found:
        raise ArgumentError(f'no recording in {folder}', name='FOLDER', value=str(folder),
                            remedy=f'put {", ".join(SUFFIXES)} or folders of bags into it')
    return found


def robot_of(folder: Path, options: argparse.Namespace) -> CatalogRobot:
    """
    Return the robot of a folder.

    :raises ArgumentError: none is given.
    """
    if not options.robot:
        raise ArgumentError(f'no robot for {folder}', name='--robot', value='',
                            remedy=f'write --robot and a URDF or a known name into '
                                   f'{folder / WORDS}')
    inside = folder / options.robot
    return load_robot(str(inside) if inside.is_file() else options.robot,
                      locked_joints(options.locked), [], root=options.root or None,
                      tip=options.tip or None,
                      gravity=numbers('--gravity', options.gravity) or None, massless='warn')


class Errors(NamedTuple):
    """
    Relative RMS (nv,) of the joints by column, and joints that are not identified.

    What is missing in ``of`` was not estimated.
    """

    joint_names: tuple[str, ...]
    of: dict[str, ndarray]
    lost: tuple[int, ...]

    def mean(self, column: str) -> float:
        """Return the mean of the joints, infinite where there is none."""
        return float(self.of[column].mean()) if column in self.of else inf

    def text(self, column: str) -> str:
        """Return the mean [%] as text."""
        return f'{100 * self.mean(column):.2f}' if column in self.of else '-'

    def by_joint(self, name: str) -> Table:
        """Return a table of all joints."""
        rows = table(name, '', 'mean', *self.joint_names)
        for column, values in self.of.items():
            rows.add_row(column, self.text(column), *(
                f'({100 * value:.1f})' if j in self.lost else f'{100 * value:.1f}'
                for j, value in enumerate(values)))
        return rows


def shipped(folder: Path, robot: CatalogRobot, found: Identification, options: argparse.Namespace
            ) -> ndarray:
    """Return the relative RMS (nv,) of the files of an identification, read again."""
    simulator = robot.parameters['simulator']
    locked = dict(zip(simulator.get('locked_joints', []), simulator.get('locked_positions', [])))
    model = load_urdf(folder / URDF, root=options.root or None, tip=options.tip or None,
                      locked=locked, gravity=robot.model.gravity_vector.tolist())
    model, offset = read_friction(folder / FRICTION, model)
    return of_model(model, found.test, offset).relative


def errors(paths: Sequence[Path], verification: Path | None, robot: CatalogRobot,
           options: argparse.Namespace) -> Errors:
    """Return the relative RMS by column."""
    reading = read_options(options.columns, options.units, options.rate, options.states,
                           options.joints)
    source = Source(tuple(paths), robot.model, robot.path.read_text(encoding='utf-8'), reading,
                    bool(options.gravity), verification)
    wanted = PipelineOptions(
        ParameterSelection(static=options.static, directions=options.directions,
                           moving=options.moving), split=options.split, tilt=not options.root,
        preparation=PreparationOptions(cutoff=options.cutoff, accept=tuple(options.accept)),
        force=True)
    with tempfile.TemporaryDirectory() as folder:
        found, _ = run(source, wanted, Path(folder))
        of = {name: valid.relative for name, valid in found.validations.items()}
        names = {'OLS': ORDINARY, 'WLS': WEIGHTED, 'estimate': found.estimate.method}
        return Errors(robot.model.joint_names, {
            column: of[name] for column, name in names.items() if name in of} | {
            'shipped': shipped(Path(folder), robot, found, options)},
            found.estimate.selection.unexplained)


class Job(NamedTuple):
    """Recordings of one fit, and one that it predicts."""

    name: str
    paths: Sequence[Path]
    verification: Path | None


class Fitting(NamedTuple):
    """How the recordings of a folder are fitted."""

    robot: CatalogRobot
    options: argparse.Namespace

    def timed(self, job: Job) -> tuple[str, Errors | str, float]:
        """Return the name of a job, its errors or why there are none, and the CPU time [s]."""
        begin = time.process_time()
        try:
            found: Errors | str = errors(job.paths, job.verification, *self)
        except RobodynError as error:
            found = error.render(as_option)
        return job.name, found, time.process_time() - begin


def jobs(folder: Path, together: bool) -> list[Job]:
    """Return the fits of a folder."""
    paths = recordings(folder)
    if not together:
        return [Job(f'{folder.name}/{path.name}', [path], None) for path in paths]
    held = [path for path in paths if path.name.startswith(VERIFY)]
    if len(held) > 1:
        raise ArgumentError(f'{len(held)} recordings of {folder} verify', name=str(held[1]),
                            value=len(held), remedy=f'let one name begin with {VERIFY}')
    fitted = [path for path in paths if path not in held]
    return [Job(f'{folder.name}: {len(fitted)} fitted', fitted, held[0] if held else None)]


def main(words: Sequence[str], out: Console) -> None:
    """Print what is fitted and what fails as it comes, and then the table of all folders."""
    given = parser().parse_args(words)
    if not given.folders:
        parser().error('give at least one FOLDER')
    rows = table('Mean relative RMS of the part that was not fitted [%]', 'recording', *COLUMNS,
                 'CPU [s]')
    for folder in given.folders:
        try:
            own = shlex.split((folder / WORDS).read_text(encoding='utf-8'), comments=True) \
                if (folder / WORDS).is_file() else []
            options = parser().parse_args([*own, *(word for word in words
                                                   if word not in map(str, given.folders))])
            todo = jobs(folder, given.together)
            robot = robot_of(folder, options)
        except RobodynError as error:
            out.print(error.render(as_option))
            rows.add_row(folder.name, *('-' for _ in COLUMNS), '-')
            continue
        for name, found, seconds in in_processes(partial(Fitting, robot, options), Fitting.timed,
                                                 todo, options.jobs):
            if isinstance(found, str):
                out.print(f'{name}:\n  {found}')
                rows.add_row(name, *('-' for _ in COLUMNS), '-')
                continue
            out.print(found.by_joint(name))
            worse = found.mean('shipped') > min(found.mean('OLS'), found.mean('WLS'))
            rows.add_row(name, *map(found.text, COLUMNS[:-1]),
                         found.text('shipped') + ' !' * worse, f'{seconds:.1f}')
    out.print(rows)


if __name__ == '__main__':
    main(sys.argv[1:], Console(highlight=False, markup=False, width=140))
