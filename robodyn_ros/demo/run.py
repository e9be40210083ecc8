# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
The demo from the start of its processes to the verdict.

`python -m robodyn_ros.demo.run URDF` compiles control cycle, loops and kernels of the robot, and
in parallel `python -m robodyn_ros.demo.run` the laws. These are processes of their own because
Numba cannot be interrupted: an exception out of a signal handler may get lost in LLVM's callbacks.
Here the signal itself ends the process.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, ExitStack
from dataclasses import replace
from importlib.util import find_spec
import os
from pathlib import Path
import signal
import sys
import time
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from .contact_scene import ContactScene
from . import scene
from .results import draw, page, real_time_table, tables, Tracking
from .scene import Scene, START_DELAY, Step
from ..catalog.robots import CatalogRobot
from ..compiler.cache_directory import all_cache_directories
from ..control.cycle.compile import compile_others, compiled, is_compiled, others_are_cached
from ..control.references import sine_motion
from ..control.references.compile_planner import compile_planner
from ..control.references.sine_motion import check_limits
from ..control.settings.settings import Settings
from ..control.settings.suggested_gains import with_assumed_rotors
from ..dynamics import Dynamics, model_data
from ..dynamics.specialize import with_kernels
from ..errors import RosError
from ..extras import pip_install
from ..model.robot import RobotModel
from ..model.urdf import load_urdf
from ..model.validate import check_inertias
from ..nodes.clients import controller_file
from ..nodes.clients.processes import ending_once, free_domain, running
from ..nodes.controller.transport import compile_loop_ahead
from ..realtime.loop_settings import LoopSettings, TRIGGERS
from ..report import REQUIRED_MODULES
from ..testing import simulated_arm, SimulatedArm
from ..wire.compile import compiled_decoders

MAX_DRIFT = 1e-3    # [rad | m] of any joint under gravity compensation
MIN_PUSH_MOTION = 0.03    # [rad | m] of some joint
AT_REST = 1e-3              # rad/s | m/s
MAX_HELD_GRAVITY = 0.2    # share of gravity that may seem compensated in the fall
MIN_FALL = 0.01    # [rad | m]
BETTER_THAN_PD, BETTER_THAN_IMPEDANCE = 20.0, 5.0       # computed torque, RMS
# Where friction, which no law knows, leaves less to gain: this share of what is possible
OF_POSSIBLE = 0.5
PUSH_DURATION = 0.5         # s, the simulator's default
REST_DURATION, MAX_COASTING = 1.0, 10.0     # [s] at rest after the push, and until then
COASTING_STEP = 0.25    # [s]
TRACKED_MODES = 'pd', 'joint_impedance', 'computed_torque'


class Times(NamedTuple):
    """Durations [s]."""

    fall: float
    floating: float
    motion: float
    real_time: float


FULL, BRIEF = Times(1.0, 5.0, 4.0, 4.0), Times(0.5, 1.5, 2.5, 1.5)


class MotionScene(Scene):
    """Motion scene with one robot."""

    def __init__(self, robot: CatalogRobot, dynamics: Dynamics, arm: SimulatedArm, step: Step,
                 brief: bool):
        super().__init__(robot, dynamics, arm, step)
        self.times = BRIEF if brief else FULL
        self.asked = sine_motion.plan(dynamics, self.pose, self.times.motion)
        self.duration = (self.times.fall + self.times.floating + PUSH_DURATION + 2 * REST_DURATION
                         + len(TRACKED_MODES) * (START_DELAY + self.asked.times[-1]))

    def run(self) -> None:
        """Run all steps."""
        with self.step('no torque: the arm falls'):
            self.fall()
        self.configure()
        with self.step('gravity compensation: it floats'):
            self.drift()
        with self.step('it is pushed and stays where the push took it'):
            self.push()
        for mode in TRACKED_MODES:
            with self.step(f'{mode}: it follows a trajectory'):
                self.track(mode)
        self.compare()
        self.check_faults()

    def fall(self) -> None:
        """Let the arm fall from the initial pose without efforts, and check free fall."""
        self.arm.set_parameters('simulator', brakes=False)
        self.arm.pause()
        self.arm.trigger('simulator/reset')
        states = self.arm.run(self.times.fall)
        self.arm.set_parameters('simulator', brakes=True, pause_at=0.0)
        fallen = np.abs(states.position - self.pose).max()
        if not scene.moved_by_gravity(self.dynamics, self.pose):
            self.check('without torque the arm falls', f'{fallen:.3g} {self.unit}',
                       scene.IDLE_GRAVITY, None)
            return
        held = scene.held_share(self.dynamics, states)
        self.check('without torque the arm falls', f'{fallen:.3g} {self.unit}',
                   f'> {MIN_FALL:g}', fallen > MIN_FALL)
        self.check('it falls freely: share of gravity still held', f'{held:.1%}',
                   f'< {MAX_HELD_GRAVITY:.0%}', held < MAX_HELD_GRAVITY)

    def drift(self) -> None:
        """Check that the arm floats under gravity compensation."""
        self.begin('gravity_compensation')
        self.results.drift = self.furthest(self.times.floating)
        self.below(f'floating for {self.times.floating:g} s, drift', self.results.drift,
                   MAX_DRIFT, self.small_unit, self.pose)

    def push(self) -> None:
        """Push the arm, damped since most URDFs have no damping, and check its motion."""
        arm, c = self.arm, scene.damping(self.dynamics, self.pose)
        push = scene.push(self.dynamics, self.pose, c, PUSH_DURATION)
        begin = arm.position()
        arm.set_parameters('simulator', joint_damping=c)
        arm.push(push.link, push.force)
        states, coasting = arm.run(PUSH_DURATION), 0.0
        while (speed := np.abs(states.velocity[-1]).max()) >= AT_REST and coasting < MAX_COASTING:
            states, coasting = arm.run(COASTING_STEP), coasting + COASTING_STEP
        moved = np.abs(states.position[-1] - begin).max()
        expected = np.abs(push.displacement).max()
        self.check(f'a push of {np.linalg.norm(push.force):.3g} N on {push.link} moves it',
                   f'{moved:.3g} {self.unit}', f'> {MIN_PUSH_MOTION:g} (expected {expected:.2g})',
                   moved > MIN_PUSH_MOTION)
        self.below('it comes to rest', speed, AT_REST,
                   self.small_unit.replace(' |', '/s |') + '/s')
        self.below('it stays where it was pushed: drift in 1 s', self.furthest(REST_DURATION),
                   MAX_DRIFT, self.small_unit, states.position[-1])
        arm.set_parameters('simulator', joint_damping=0.0)

    def track(self, mode: str) -> None:
        """Follow the trajectory from the initial pose under one control law."""
        self.begin(mode)
        states = self.follow(self.asked, self.asked.times[-1])
        reference = sine_motion.reference(self.model, self.asked)(states.time)
        self.results.trackings.append(Tracking(mode, states.time, states.position - reference,
                                               states.effort, states.position))

    def compare(self) -> None:
        """Compare computed torque with simpler laws, as far as friction allows a difference."""
        pd, impedance, computed = (tracking.rms for tracking in self.results.trackings)
        states = sine_motion.states(self.asked)
        gravity = np.array([self.dynamics.gravity(q) for q, _, _ in states])
        for other, rms, wanted, known in (
                ('pd', pd, BETTER_THAN_PD, 0 * gravity),
                ('joint_impedance', impedance, BETTER_THAN_IMPEDANCE, gravity)):
            possible = OF_POSSIBLE * scene.best_ratio(self.dynamics, states, known)
            required = f'> {min(wanted, possible):.3g}x'
            if possible < wanted:
                required += ' (limited by friction)'
            passed: bool | None = rms / computed > min(wanted, possible)
            if possible < 1.0:
                required = 'nothing: the friction, which no law compensates, dominates'
                passed = None
            self.check(f'computed_torque tracks better than {other}', f'{rms / computed:.3g}x',
                       required, passed)

    def furthest(self, seconds: float) -> float:
        """Return how far any joint goes from its present position in some time [rad | m]."""
        begin = self.arm.position()
        return float(np.abs(self.arm.run(seconds).position - begin).max())


#: Scenes of the demo.
SCENES = MOTION, CONTACT = 'motion', 'contact'
ESTIMATE_RATE = 200.0    # [Hz] of external efforts
BRIEF_RATE = 500.0    # [Hz] of a brief scene, whose run time grows with it
PROGRESS_PERIOD = 0.1    # [s]
BUSY_FACTOR = 0.9    # of real time, below which simulated time is called slow


class Bar(Progress):
    """Progress bar without a thread: waiting code advances it."""

    def __init__(self, console: Console):
        super().__init__(TextColumn('{task.description}'), BarColumn(), TimeElapsedColumn(),
                         console=console, auto_refresh=False, transient=True,
                         disable=not console.is_terminal)
        self._all, self._shown = self.add_task('', total=None), 0.0

    @contextmanager
    def step(self, text: str) -> Iterator[None]:
        """Show a step."""
        self.update(self._all, description=text, refresh=True)
        if self.disable:
            self.console.print(f'{text} ...')
        yield

    def tick(self, done: float | None = None, total: float | None = None) -> None:
        """Show how much of everything is done."""
        if (now := time.monotonic()) > self._shown + PROGRESS_PERIOD:
            self._shown = now
            self.update(self._all, refresh=True, completed=done, total=total)


def environment(output: Path) -> dict[str, str]:
    """Return the environment of all processes: an own ROS domain, on this machine."""
    return {**os.environ, 'ROS_DOMAIN_ID': str(free_domain()),
            'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST',
            'ROBODYN_CACHE_DIR': os.pathsep.join(map(str, all_cache_directories())),
            'ROS_LOG_DIR': os.environ.get('ROS_LOG_DIR', str(output / 'log')),
            'ROBODYN_PROGRESS': '0', 'PYTHONUNBUFFERED': '1'}


def parameters(model: RobotModel, flights: Path, scene: str, brief: bool, paced: bool
               ) -> dict[str, dict[str, Any]]:
    """Return what differs from the robot's parameters; ``paced``: to real time, at most."""
    own: dict[str, dict[str, Any]] = {
        'simulator': {'publish_description': True, 'lockstep_timeout': 60.0,
                      'real_time_factor': float(paced), 'armature': model.armature.tolist()},
        'controller': {'autostart': False, 'robot_compensates_gravity': False,
                       'armature': model.armature.tolist()}}
    if scene == CONTACT:
        own['controller'] |= {'flight_recorder': 5.0, 'flight_folder': str(flights),
                              'external_effort_rate': ESTIMATE_RATE}
    for values in own.values() if brief else ():
        values['rate'] = BRIEF_RATE
    return own


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
                                                    robot.source, Settings()), encoding='utf-8')
    return file


def compile_here(urdfs: list[str]) -> None:
    """Compile what the nodes need of these robots; of all laws where there is none."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    for urdf in urdfs:
        compiled()
        compiled_decoders()
        for trigger in TRIGGERS:        # in real time, and in lockstep
            compile_loop_ahead(LoopSettings(trigger=trigger))
        with_kernels(model_data.parameters(load_urdf(urdf)))
    if not urdfs:
        compile_others()
        compile_planner()


def compile_all(model: RobotModel, output: Path, env: Mapping[str, str],
                tick: Callable[[], None]) -> None:
    """Compile what the nodes need on a new machine, for as long as it takes."""
    if is_compiled() and others_are_cached():
        return
    (urdf := output / 'robot.urdf').write_text(model.to_urdf(), encoding='utf-8')
    command = [sys.executable, '-m', __name__]
    with running({'cycle': [*command, str(urdf)], 'laws': command}, output, env) as children:
        while not (children['cycle'].done and children['laws'].done):
            time.sleep(PROGRESS_PERIOD)
            tick()


def real_time(arm: SimulatedArm, seconds: float) -> dict[str, str]:
    """Let the control loop run on the wall clock; return its diagnostics, or why it does not."""
    arm.trigger('simulator/reset')
    arm.change_state('cleanup')
    arm.set_parameters('simulator', lockstep=False)
    arm.set_parameters('controller', trigger='timer', use_sim_time=False,
                       mode='gravity_compensation', missed_limit=1_000_000)
    try:
        arm.change_state('configure')
        arm.change_state('activate')
        arm.wait_for('RUNNING')
        arm.watch(seconds)
    except RosError as error:
        return {'reason code': arm.reason_code() or str(error)}
    return arm.report


def run(robot: CatalogRobot, output: Path, console: Console, *, brief: bool = False,
        scene: str = MOTION, view: bool = False) -> int:
    """
    Run the demo and print its results.

    :param output: folder of logs, parameters and picture.
    :param brief: shorter motions at half the rate, paced to real time if they are shown
        only; all checks are made.
    :param scene: one of :data:`SCENES`.
    :param view: whether to show it in the browser.
    :return: 0 if every check has passed, else 1.
    :raises InertiaError: the controller would refuse the inertias of this robot.
    :raises DemoError: the controller reports a fault, or an answer stays away.
    """
    check_limits(robot.model)
    check_inertias(robot.model, robot.parameters['controller'].get('accepted_links', []))
    saved = robot       # whose armature is assumed by both nodes
    robot = replace(robot, model=with_assumed_rotors(robot.model))
    output.mkdir(parents=True, exist_ok=True)
    output = output.resolve()
    flights = output / 'flights'
    paced = view or not brief
    own, env = parameters(robot.model, flights, scene, brief, paced), environment(output)
    os.environ.update(env)
    with ending_once(), Bar(console) as bar, ExitStack() as processes:
        with bar.step('compiling, once on a machine'):
            compile_all(robot.model, output, env, bar.tick)
            dynamics = Dynamics(robot.model)
        with bar.step('the nodes start'):
            arm = processes.enter_context(simulated_arm(
                robot, controller=own['controller'], simulator=own['simulator'], folder=output,
                namespace=''))
            played: Scene = ContactScene(robot, dynamics, arm, bar.step, brief, flights) \
                if scene == CONTACT else MotionScene(robot, dynamics, arm, bar.step, brief)
            # Beside the scenario, which pushes and changes modes, it only looks
            others = processes.enter_context(running(
                {'viewer': viewer(robot)} if view else {}, output, env))

        def look() -> None:
            bar.tick(arm.simulated, played.duration)
            played.look()
            for child in others.values():
                child.check()
        arm.on_poll = look
        played.run()
        arm.on_poll = bar.tick
        with bar.step('the control loop in real time'):
            reached = real_time(arm, (BRIEF if brief else FULL).real_time)
            busy = os.getloadavg()[0] > len(os.sched_getaffinity(0))
        processes.close()
        with bar.step('drawing'):
            picture = output / f'{robot.name}{"_contact" if scene == CONTACT else ""}.png'
            draw(robot.model, played.results, picture)
            shown = [*tables(robot.model, played.results).renderables,
                     real_time_table(reached, busy)]
            report = write_report(robot, played, shown, own, output / 'report.html')
    console.print(*shown, sep='\n')
    factor = arm.simulated / arm.elapsed
    if paced and factor < BUSY_FACTOR:
        console.print(f'This machine is busy: simulated time ran at {factor:.1f} of real time.')
    console.print(f'Picture: {picture}\nReport: {report}\n'
                  f'Logs and parameters of the nodes: {output}\n'
                  f'Gains and limits, for a controller of your own: {save_gains(saved, output)}',
                  soft_wrap=True)
    return 0 if played.results.passed else 1


def write_report(robot: CatalogRobot, played: Scene, shown: list[Any],
                 parameters: Mapping[str, Mapping[str, Any]], file: Path) -> str:
    """Write the report of a run; return its path, or why there is none."""
    if isinstance(played, ContactScene):
        return 'none of this scene'
    if missing := [name for name in REQUIRED_MODULES if find_spec(name) is None]:
        return f'none, {pip_install(*missing)}'
    page(robot.model, robot.path, played.results, shown, {
        node: {**robot.parameters[node], **values} for node, values in parameters.items()}
        ).write(file)
    return str(file)


if __name__ == '__main__':
    compile_here(sys.argv[1:])
