# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Demo from start to end: nodes, scenario, tables and picture."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
import os
from pathlib import Path
import sys
import time
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from .compile import libraries
from .conductor import conducting
from .contact_scene import ContactResults, ContactScene
from .motion import check_limits
from .report import page, tables
from .results import Results
from .scenario import BUSY, Scenario
from ..catalog.robots import CatalogRobot, write_parameters
from ..compiler.cache_directory import cache_directory
from ..control.settings.settings import Settings
from ..dynamics import Dynamics
from ..extras import pip_install
from ..model.robot import RobotModel
from ..model.validate import check_inertias
from ..nodes.clients import controller_file
from ..nodes.clients.processes import ending_once, free_domain, interrupts_later, running
from ..report import REQUIRED_MODULES

NODES = ('simulator', 'controller')         # in the order in which they start
#: Scenes of the demo.
SCENES = MOTION, CONTACT = 'motion', 'contact'
FLIGHT_FOLDER = 'flights'    # of flight recordings
ESTIMATE_RATE = 200.0    # [Hz] of external efforts
BRIEF_STATE_RATE = 500.0    # [Hz] of a brief contact scene, whose run time grows with it
PROGRESS_PERIOD = 0.1    # [s]
# A machine that is busy with other things may stop a process for longer than the 50 ms and 100 ms
# after which controller and simulator usually give up. What is measured stays what it is: an arm
# that waits for its effort is off its trajectory.
PATIENCE: dict[str, dict[str, Any]] = {
    'controller': {'state_timeout': 0.5, 'missed_limit': 500, 'late_limit': 0.25},
    'simulator': {'command_timeout': 0.5}}


class Bar:
    """Progress bar without a thread: waiting code advances it."""

    def __init__(self, console: Console):
        self._progress = Progress(TextColumn('{task.description}'), BarColumn(),
                                  TimeElapsedColumn(), console=console, auto_refresh=False,
                                  transient=True, disable=not console.is_terminal)
        self._console, self._task = console, self._progress.add_task('', total=None)
        self._done = self._span = self._since = self._shown = 0.0

    def __enter__(self) -> 'Bar':
        self._progress.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._progress.stop()

    def total(self, seconds: float) -> None:
        """Set the duration of everything [s]."""
        self._progress.update(self._task, total=seconds)

    @contextmanager
    def step(self, text: str, seconds: float) -> Iterator[None]:
        """Show a step of about this duration [s]."""
        self._span, self._since = seconds, time.monotonic()
        self._progress.update(self._task, description=text, refresh=True)
        if self._progress.disable:
            self._console.print(f'{text} ...')
        yield
        self._done, self._span = self._done + seconds, 0.0

    def tick(self) -> None:
        """Advance with the time."""
        if (now := time.monotonic()) > self._shown + PROGRESS_PERIOD:
            self._shown = now
            self._progress.update(self._task, refresh=True,
                                  completed=self._done + min(now - self._since, self._span))


def environment(output: Path) -> dict[str, str]:
    """Return the environment of all three processes: an own ROS domain, on this machine."""
    return {**os.environ, 'ROS_DOMAIN_ID': str(free_domain()),
            'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST',
            'ROBODYN_CACHE_DIR': str(cache_directory()),
            'ROS_LOG_DIR': os.environ.get('ROS_LOG_DIR', str(output / 'log')),
            'ROBODYN_PROGRESS': '0', 'PYTHONUNBUFFERED': '1'}


def parameters(robot: CatalogRobot, output: Path, contact: bool,
               brief: bool = False) -> dict[str, dict[str, Any]]:
    """
    Return the parameters of both nodes: those of the robot, of the demo and of its scene.

    The contact scene is in lockstep on simulation time: each state waits for the answer of the
    controller, so that a busy machine does not make a detection late.
    """
    own: dict[str, dict[str, Any]] = {
        'simulator': {'publish_description': True, 'brakes': True, 'joint_damping': 0.0},
        'controller': {'autostart': False, 'robot_compensates_gravity': False}}
    if contact:
        own['simulator'] |= {'lockstep': True, 'publish_clock': True, 'command_timeout': 5.0}
        own['controller'] |= {'use_sim_time': True, 'trigger': 'state',
                              'flight_folder': str(output / FLIGHT_FOLDER),
                              'external_effort_rate': ESTIMATE_RATE}
        if brief:
            for node in NODES:
                own[node]['rate'] = BRIEF_STATE_RATE
    return {node: {**robot.parameters[node], **PATIENCE[node], **own[node]} for node in NODES}


def viewer(robot: CatalogRobot) -> list[str]:
    """Return the command that shows the robot as its nodes publish it: with its locked joints."""
    read = robot.urdf_parameters()
    locked = zip(read.get('locked_joints', []), read.get('locked_positions', []))
    return [sys.executable, '-m', 'robodyn_ros.cli', 'view', read['urdf'], '--live',
            *(f'--locked={name}={position}' for name, position in locked)]


def save_gains(robot: CatalogRobot, output: Path) -> Path:
    """Write the gains and limits of the demo as a parameter file for the controller alone."""
    file = output / f'{robot.name}_controller.yaml'
    values = robot.urdf_parameters() | controller_file.parameters(robot.model, robot.pose,
                                                                  Settings())
    file.write_text(controller_file.controller_file(robot.model, values, robot.pose,
                                                    robot.source, Settings()))
    return file


def compile_all(model: RobotModel | None, output: Path, env: Mapping[str, str],
                tick: Callable[[], None], *, trigger: str = 'timer') -> None:
    """
    Compile what all three processes need, then load it here.

    :param model: the robot, whose kernels are compiled; None for nodes with generic ones.
    :param trigger: of the controller.
    """
    command = [sys.executable, '-m', 'robodyn_ros.demo.compile', trigger]
    if model is not None:
        urdf = output / 'robot.urdf'
        urdf.write_text(model.to_urdf())
        command.append(str(urdf))
    with running({'compiler': command}, output, env) as children:
        while not children['compiler'].done:
            time.sleep(PROGRESS_PERIOD)
            tick()
    with interrupts_later():
        libraries()


def draw(model: RobotModel, results: Results, path: Path) -> None:
    """Write the picture of a scene."""
    # Matplotlib takes its time
    from . import contact_picture, picture
    if isinstance(results, ContactResults):
        contact_picture.draw(model, results, path)
    else:
        picture.draw(model, results.trackings, path)


def write_report(robot: CatalogRobot, results: Results, file: Path) -> str:
    """Write the report of a run; return its path, or why there is none."""
    if isinstance(results, ContactResults):
        return 'none of this scene'
    if missing := [name for name in REQUIRED_MODULES if find_spec(name) is None]:
        return f'none, {pip_install(*missing)}'
    page(robot.model, robot.path, results, parameters(robot, file.parent, False)).write(file)
    return str(file)


def run(robot: CatalogRobot, output: Path, console: Console, *, brief: bool = False,
        scene: str = MOTION, view: bool = False) -> int:
    """
    Run the demo and print its results.

    :param output: folder of logs, parameters and picture.
    :param brief: shorter motions, contacts at half the rate; all checks are made.
    :param scene: one of :data:`SCENES`.
    :param view: whether to show it in the browser.
    :return: 0 if every check has passed, else 1.
    :raises InertiaError: the controller would refuse the inertias of this robot.
    """
    check_limits(robot.model)
    check_inertias(robot.model, robot.parameters['controller'].get('accepted_links', []))
    output.mkdir(parents=True, exist_ok=True)
    output = output.resolve()
    contact = scene == CONTACT
    file = output / f'{robot.name}.yaml'
    picture = output / f'{robot.name}{"_contact" if contact else ""}.png'
    write_parameters(file, parameters(robot, output, contact, brief))
    env = environment(output)
    os.environ.update(env)
    with ending_once(), Bar(console) as bar:
        with bar.step('compiling, once on a machine', 0):
            compile_all(robot.model, output, env, bar.tick,
                        trigger='state' if contact else 'timer')
            dynamics = Dynamics(robot.model)
        commands = {node: [sys.executable, '-m', f'robodyn_ros.nodes.{node}', '--ros-args',
                           '--params-file', str(file)] for node in NODES}
        if view:        # beside the scenario, which pushes and changes modes, it only looks
            commands['viewer'] = viewer(robot)
        with running(commands, output, env) as children, \
                conducting(robot.model, children, bar.tick, simulated=contact) as conductor:
            made = (robot, dynamics, conductor, brief, bar.step)
            played = ContactScene(*made, output / FLIGHT_FOLDER) if contact else Scenario(*made)
            bar.total(played.duration)
            results = played.run()
        with bar.step('drawing', 0):
            draw(robot.model, results, picture)
            report = write_report(robot, results, output / 'report.html')
    console.print(tables(robot.model, results))
    console.print(f'Picture: {picture}\nReport: {report}\n'
                  f'Logs and parameters of the nodes: {output}\n'
                  f'Gains and limits, for a controller of your own: {save_gains(robot, output)}',
                  soft_wrap=True)
    if not results.passed and results.busy > BUSY:
        console.print(f'The machine was busy: the controller missed {results.busy:.0%} of its '
                      'periods. Try again when less is going on.')
    return 0 if results.passed else 1
