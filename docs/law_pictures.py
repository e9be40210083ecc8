# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Draw docs/laws/NAME.svg: what each control law is for, on the two-link arm in MuJoCo.

Each picture shows the law beside another one, of equal stiffness, in the same run: a controller
and a simulated arm in lockstep. `python docs/law_pictures.py [NAME ...]`
"""

from collections.abc import Callable
from pathlib import Path
import sys
from typing import Any, NamedTuple

import matplotlib as mpl
from matplotlib.figure import Figure
import numpy as np
from robodyn_ros import Dynamics, load_urdf, RobotModel, Settings
from robodyn_ros.closed_loop import ClosedLoop, CoupledLoops
from robodyn_ros.control.references import sine_motion as motion
from robodyn_ros.control.settings.suggested_gains import suggest_gains
from robodyn_ros.control.steps import guard
from robodyn_ros.law_comparison import scenes
from robodyn_ros.model.robot import with_payload

FOLDER = Path(__file__).with_name('laws')
COLORS = '#1f6fb4', '#e07b1a', '#7a828c'
POINTS = 250            # of a curve
ARM, POSE = load_urdf('two_link'), np.array([0.3, 0.9])
DYNAMICS = Dynamics(ARM)
FALSE = scenes(ARM)[1]
FAST = motion.plan(DYNAMICS, POSE, 2.0)
# Of a linear-quadratic regulator for Q = diag(400, 100, 10, 2) and R = 0.01, see
# examples/feedback_policy.py
LINEAR_QUADRATIC = np.array([[207.64, 27.67, 38.34, 5.64], [-44.34, 100.66, -5.53, 14.81]])
BENT = np.array([0.3, 1.6])     # far from a singular pose
# Of the last body, for equal stiffness of the pictures in task space
TASK = {'task_frame': 'tool0', 'nullspace_kp': 0.0, 'nullspace_kd': 0.0,
        'task_selection': [1.0, 0.0, 1.0, 0.0, 0.0, 0.0]}


class Picture(NamedTuple):
    """Curves (N,) by name over times (N,) [s], the law's own first; spans are shaded."""

    title: str
    label: str
    curves: dict[str, tuple[np.ndarray, np.ndarray]]
    spans: dict[str, tuple[float, float]] = {}      # noqa: RUF012 - never changed


def loop_of(law: str, start: np.ndarray = POSE, model: RobotModel = ARM, *,
            plant: RobotModel | None = None, delay: float = 0.0, **given: Any) -> ClosedLoop:
    """Return a running loop with the gains that the controller suggests."""
    gains = suggest_gains(model, start, Settings())._asdict()
    loop = ClosedLoop(model, Settings(**{**gains, 'mode': law, 'arming_effort': 1.0,
                                         'following_error': 0.0, **given}),
                      start, plant=plant, delay=delay)
    loop.start()
    return loop


def run(loop: ClosedLoop, seconds: float, value: Callable[[ClosedLoop], float],
        each: Callable[[float], None] = lambda t: None) -> tuple[np.ndarray, np.ndarray]:
    """Return times (N,) [s] and values (N,); ``each`` is called before each cycle."""
    begin, times, values = loop.now, [], []
    while (t := loop.now - begin) < seconds:
        each(t)
        loop.tick()
        times.append(t)
        values.append(value(loop))
    if loop.controller.phase == guard.FAULT:
        raise RuntimeError(loop.controller.reason)
    return np.array(times), np.array(values)


def deviation(loop: ClosedLoop) -> float:
    """Return how far the joints are from their reference [mrad]."""
    return float(1e3 * np.linalg.norm(loop.row()[0] - loop.controller._v.target))


def first_joint(loop: ClosedLoop) -> float:
    """Return the position of the first joint [rad]."""
    return float(loop.row()[0][0])


def tool(loop: ClosedLoop) -> np.ndarray:
    """Return the position (3,) of the tool [m]."""
    return DYNAMICS.pose(loop.row()[0], 'tool0')[:3, 3]


def tracking(law: str, other: str, title: str, *, repeat: int = 1, model: RobotModel = ARM,
             plant: RobotModel | None = None, delay: float = 0.0) -> Picture:
    """Compare errors of two laws that follow the same motion."""
    curves = {}
    for name in (law, other):
        loop = loop_of(name, model=model, plant=plant, delay=delay)
        parts = []
        for _ in range(repeat):
            loop.controller.follow(FAST, loop.now)
            parts.append(run(loop, float(FAST.times[-1]) + 0.3, deviation)[1])
        error = np.concatenate(parts)
        curves[name] = loop.period * np.arange(len(error)), error
    return Picture(title, 'error [mrad]', curves)


def pushed(law: str, other: str, title: str, force: float, *, guided: bool = False) -> Picture:
    """Compare what two laws do while a link is pushed."""
    begin, end, curves = 0.5, 1.5, {}
    for name in (law, other):
        loop = loop_of(name)
        start = loop.now

        def each(t: float, loop: ClosedLoop = loop, start: float = start) -> None:
            if abs(t - begin) < loop.period / 2:
                loop.plant.push('link2', [0.0, 0.0, force], end - begin)
            if guided and loop.controller.settings.mode == law and begin <= t < end:
                loop.controller.guide(loop.now + 0.05)
        curves[name] = run(loop, 3.0, first_joint, each)
    return Picture(title, f'{ARM.joint_names[0]} [rad]', curves,
                   {f'{force:g} N on link2': (begin, end)})


def task(law: str, other: str, title: str) -> Picture:
    """Compare errors of the frame while it moves to a pose, as its reference does."""
    curves = {}
    for name in (law, other):
        loop = loop_of(name, BENT, **TASK, task_velocity_limit=[0.6, 1.0],
                       task_acceleration_limit=[6.0, 10.0])
        home = tool(loop)
        targets = {0.1: home + [0.12, 0.0, 0.1], 1.1: home}

        def each(t: float, loop: ClosedLoop = loop, targets: dict = targets) -> None:
            for at, place in targets.items():
                if abs(t - at) < loop.period / 2:
                    loop.controller.follow_pose(place, [0.0, 0.0, 0.0, 1.0], loop.now)
        curves[name] = run(loop, 2.2, lambda loop: 1e3 * float(np.linalg.norm(
            tool(loop) - loop.controller.inputs.task.target[:3, 3])), each)
    return Picture(title, 'error of the frame [mm]', curves)


def compliant(law: str, title: str) -> Picture:
    """Compare how far a frame yields along two axes, to the same push."""
    curves, begin, end = {}, 0.5, 1.5
    for name, axis in (('along x, 300 N/m', 0), ('along z, 3000 N/m', 2)):
        loop = loop_of(law, BENT, **{**TASK, 'task_stiffness': [300.0, 300.0, 3000.0, 0, 0, 0]})
        home, push = tool(loop), np.where(np.arange(3) == axis, 10.0, 0.0)

        def each(t: float, loop: ClosedLoop = loop, push: np.ndarray = push) -> None:
            if abs(t - begin) < loop.period / 2:
                loop.plant.push('tool0', push, end - begin)
        curves[name] = run(loop, 2.5, lambda loop, home=home, axis=axis: 1e3 * float(
            (tool(loop) - home)[axis]), each)
    return Picture(title, 'displacement [mm]', curves,
                   {'10 N on the tool': (begin, end)})


def policy(title: str) -> Picture:
    """Let a planner at 50 Hz move the arm, and stop on the way."""
    goal, curves, stopped = POSE + [0.4, -0.5], {}, 0.35
    effort, gain = DYNAMICS.gravity(goal), LINEAR_QUADRATIC
    for name, end in (('feedback_policy', np.inf), ('planner stops', stopped)):
        loop = loop_of('feedback_policy')

        def each(t: float, loop: ClosedLoop = loop, end: float = end) -> None:
            if 0.2 <= t < end and round(t / loop.period) % 20 == 0:
                loop.controller.follow_policy(loop.now, effort, goal, np.zeros(2), gain)
        curves[name] = run(loop, 1.5, first_joint, each)
    return Picture(title, f'{ARM.joint_names[0]} [rad]', curves,
                   {'no policy: arm held': (stopped + 0.05, 1.5)})


def coupled(title: str) -> Picture:
    """Push the leader of two arms that are coupled with a delay."""
    gains = {'mode': 'leader_follower', 'stiffness': [300.0, 100.0], 'damping': [60.0, 20.0]}
    leader = ClosedLoop(ARM, Settings(**gains), POSE)
    follower = ClosedLoop(ARM, Settings(coupling_role='follower', **gains), POSE)
    arms = CoupledLoops(leader, follower, delay=0.01)
    arms.start()
    begin, rows = leader.now, []
    leader.plant.push('tool0', [0.0, 0.0, 6.0], 1.5)
    while leader.now < begin + 2.5:
        arms.tick()
        rows.append((first_joint(leader), first_joint(follower)))
    times = leader.period * np.arange(len(rows))
    return Picture(title, f'{ARM.joint_names[0]} [rad]', {
        name: (times, values) for name, values in zip(
            ('leader', 'follower'), np.array(rows).T)}, {
        'a hand pushes the leader': (0.0, 1.5)})


LOADED = with_payload(ARM, 'tool0', 2.0, (0.0, 0.0, 0.05))
PICTURES: dict[str, Callable[[], Picture]] = {
    'gravity_compensation': lambda: pushed(
        'gravity_compensation', 'joint_impedance',
        'after a push, the arm drifts on', 1.5),
    'pd': lambda: tracking('pd', 'joint_impedance', 'without gravity compensation, the arm sags'),
    'joint_impedance': lambda: pushed(
        'joint_impedance', 'pd', 'the arm yields like a spring', 40.0),
    'computed_torque': lambda: tracking(
        'computed_torque', 'joint_impedance', 'fast motion, exact model'),
    'disturbance_observer': lambda: tracking(
        'disturbance_observer', 'computed_torque', 'mass errors of 20 %, friction, delay',
        model=FALSE.known, plant=FALSE.plant, delay=FALSE.delay),
    'feedback_policy': lambda: policy('the arm is held if the planner stops'),
    'adaptive': lambda: tracking(
        'adaptive', 'computed_torque', 'undeclared payload of 2 kg', repeat=3,
        plant=LOADED),
    'cartesian_impedance': lambda: compliant(
        'cartesian_impedance', 'soft along one axis, stiff along another'),
    'operational_space': lambda: task(
        'operational_space', 'cartesian_impedance', 'motion of the tool to a pose and back'),
    'hand_guiding': lambda: pushed(
        'hand_guiding', 'gravity_compensation', 'guided while enabled, held afterwards', 1.5,
        guided=True),
    'leader_follower': lambda: coupled('bilateral coupling with a delay of 10 ms')}


def draw(name: str, picture: Picture) -> None:
    """Write the SVG."""
    mpl.rcParams.update({'svg.fonttype': 'none', 'svg.hashsalt': name, 'font.size': 9,
                         'axes.spines.right': False, 'axes.spines.top': False})
    figure = Figure(figsize=(6.4, 2.5), layout='constrained')
    axes = figure.subplots()
    for label, (begin, end) in picture.spans.items():
        axes.axvspan(begin, end, color='#9aa4ae', alpha=0.18, lw=0, label=label)
    for k, (label, (times, values)) in reversed([*enumerate(picture.curves.items())]):
        at = np.linspace(0, len(times) - 1, POINTS).astype(int)
        axes.plot(times[at], values[at], color=COLORS[k], lw=1.9 if k == 0 else 1.4,
                  label=label, zorder=3 - k)
    handles, labels = axes.get_legend_handles_labels()
    axes.legend(handles[::-1], labels[::-1], frameon=False, loc='center left',
                bbox_to_anchor=(1.0, 0.5))
    axes.set(xlabel='time [s]', ylabel=picture.label)
    axes.set_title(f'{name}: {picture.title}', loc='left', fontsize=10)
    axes.grid(alpha=0.25)
    FOLDER.mkdir(exist_ok=True)
    figure.savefig(FOLDER / f'{name}.svg', metadata={'Date': None}, facecolor='white')


def main(names: list[str]) -> None:
    """Draw the pictures of these laws, or of all."""
    for name in names or PICTURES:
        draw(name, PICTURES[name]())
        print(FOLDER / f'{name}.svg', flush=True)


if __name__ == '__main__':
    main(sys.argv[1:])
