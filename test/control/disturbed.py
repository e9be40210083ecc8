# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Worlds with late efforts, lost samples, wild references, and no joint stops."""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import fields, replace
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from numpy import ndarray
import pytest
from robodyn_ros import Dynamics, RobotModel
from robodyn_ros.control.controller.controller import Controller
from robodyn_ros.control.inputs.partner import CouplingState, WAITING
from robodyn_ros.control.inputs.task import NULLSPACE_PROJECTOR, TASK_AXES
from robodyn_ros.control.laws.registry import BUILT_IN, find
from robodyn_ros.control.references.trajectory import Waypoints
from robodyn_ros.control.settings import gain_stability, task_stability
from robodyn_ros.control.settings.settings import Settings
from robodyn_ros.control.settings.suggested_gains import RULES
from robodyn_ros.control.steps import guard
from robodyn_ros.control.steps.cycle_data import VECTOR_NAMES
from robodyn_ros.control.steps.limits import BRAKING_RATE
from robodyn_ros.errors import ArgumentError, ParameterError, TrajectoryError
from robodyn_ros.model.robot import with_payload
from robodyn_ros.verification.arm import Arm
from robodyn_ros.verification.catalogue import CATALOGUE
from robodyn_ros.verification.injection import Active
from robodyn_ros.verification.plant_step import START, TICK
from robodyn_ros.verification.sensing import Conditions
from robodyn_ros.verification.trial import Judge
from robodyn_ros.verification.world import Library, Motion, World
from scipy.spatial.transform import Rotation

# Modes, without and with a pose as their reference, and those in which a hand guides the arm
OF_JOINTS = tuple(law.name for law in BUILT_IN
                  if law.reference not in ('pose', 'partner') and not law.guided)
GUIDED = tuple(law.name for law in BUILT_IN if law.guided)
OF_TASKS = tuple(law.name for law in BUILT_IN if law.reference == 'pose')
# Gains that `_settings` draws by name; those of another law are drawn over their range
NAMED = ('stiffness', 'damping', 'acceleration_kp', 'acceleration_kd', 'observer_bandwidth',
         'adaptive_bandwidth', 'adaptation_mass')
FIELDS = {f.name for f in fields(Settings)}
COUPLED = 0.1               # share of the arms that follow a leader
SPEAKING = 5                # ticks from one message of the leader to the next
GUIDING, HELD = 120, 80     # ticks in which a hand guides the arm, and lets it go
ASKING = 120                # ticks from one reference to the next
LATEST = 5                  # ticks from a state to the effect of its efforts
OLDEST = LATEST + 3         # ticks, with as many samples lost in a row
SECONDS = 0.6               # from arming on

# The highest stable gains of a model and its delay: dear to find
TOP: dict[str, tuple] = {}
# What is allowed of each field of Worst. `effort_rate_limit`, ten effort limits per second, bounds
# the law; braking may be faster, by BRAKING_RATE
MOST = {'position': 0.02, 'velocity': 1.10, 'effort': 1.0,
        'step': BRAKING_RATE * 10.0 * TICK + 1e-9, 'law_step': 10.0 * TICK + 1e-9}


class Disturbance(NamedTuple):
    """What befalls the arm, and what the controller is told of it."""

    delay: int | None = None    # ticks from a state to the effect of its efforts; None: random
    unknown: float = 0.0        # kg at the last link, gripped as the brakes open
    policies: bool = True       # whether policies with any efforts come
    stopped: float = np.inf     # s, emergency stop: a fault that holds until the end


BAD = Disturbance()
# Late for certain, and with a load that nobody told of. Policies that ask for any effort then
# exceed the velocity limits by more than MOST: docs/safety.md
HARD = Disturbance(delay=OLDEST, unknown=3.0, policies=False)


class Worst(NamedTuple):
    """The largest of everything, over one run."""

    position: float         # beyond the limits, in ranges
    velocity: float         # in limits
    effort: float           # in limits
    step: float             # of efforts on top of gravity, in a cycle, in effort limits
    law_step: float         # of what the law brings to it
    phase: str              # at the end
    cut: int                # cycles in which the limits had to act

    def violations(self) -> list[str]:
        """Return the names of what is larger than the limits allow."""
        return [name for name, most in MOST.items() if not getattr(self, name) <= most]


def run(model: RobotModel, dynamics: Dynamics, seed: int, known: RobotModel | None = None,
        disturbance: Disturbance = BAD, **more: Any) -> Worst:
    """
    Move an arm at random, from a random pose, under random settings.

    The plant is the model without any stops: what keeps it inside is the controller alone. What
    the controller knows may be another model; ``more`` are settings in place of random ones.
    """
    random, n = np.random.default_rng(seed), model.nv
    settings = _settings(model, random, more)
    dynamics = Dynamics(settings.loaded(model)) if settings.payload_mass else dynamics
    lower, range_ = _range(model)
    q = lower + range_ * random.uniform(0.02, 0.98, n)
    while (abs(dynamics.gravity(q)) > 0.9 * model.effort_limit).any():
        q = lower + range_ * random.uniform(0.02, 0.98, n)
    if disturbance.unknown:
        dynamics = Dynamics(with_payload(settings.loaded(model), model.link_names[-1],
                                         disturbance.unknown, np.zeros(3)))
    delay = int(random.integers(LATEST + 1)) if disturbance.delay is None else disturbance.delay
    ticks = round(SECONDS / TICK)
    subject = Library(known or model, settings, specialize=False, recorded=ticks)
    arm = Arm(model.name, dynamics.model, dynamics, np.zeros(n))
    world = World(arm, settings, Conditions(delay=TICK * delay, loss=0.2, measures_effort=False),
                  'still', 'timer', [seed, 1], pose=q)
    world.motion = Wild(world, subject.controller, seed, random, disturbance.policies)
    world.subject, world.moving = subject, True
    world.active = [Active(CATALOGUE['emergency stop'], world, START + disturbance.stopped,
                           np.inf, 0)]
    subject.begin(world)
    subject.arm()
    judge = Judge(world, START)
    world.run(ticks)
    return _worst(model, subject.controller, judge.figures.velocity)


def _worst(model: RobotModel, controller: Controller, velocity: float) -> Worst:
    """Return the largest of everything that the controller has recorded, and this velocity."""
    taken = controller.history.take()
    phases, published = taken.memory['phase'], taken.cycles['published'] == 1
    q = taken.state['position'][np.logical_or.accumulate(published)]
    outside = np.maximum(q - model.position_upper, model.position_lower - q) / _range(model)[1]
    given = taken.vectors[:, [VECTOR_NAMES.index(name) for name in ('published', 'tau_residual')]]
    before = given[:-1].copy()
    latched = (phases[1:] == guard.FAULT) & (phases[:-1] != guard.FAULT)
    before[latched, 1] = before[latched, 0]         # a fault begins with what was published
    published[np.argmax(published)] = False         # the brakes open
    steps = (abs(given[1:] - before) / model.effort_limit).max(2)[published]
    return Worst(max(0.0, outside.max()), velocity, (abs(taken.tau) / model.effort_limit).max(),
                 *steps.max(0).tolist(),
                 guard.PHASES[controller.phase], int(controller.memory['joint_limited'][0]))


def _range(model: RobotModel) -> tuple[ndarray, ndarray]:
    """Return the lower ends and the widths of the ranges in which positions are chosen."""
    lower = np.maximum(model.position_lower, -np.pi)
    return lower, np.minimum(model.position_upper, np.pi) - lower


class Wild(Motion):
    """References to anywhere, the limits included, as fast as is allowed; leaders and hands."""

    def __init__(self, world: World, controller: Controller, seed: int,
                 random: np.random.Generator, policies: bool):
        super().__init__('still', world.plant, world.random)
        self._controller, self._seed, self._wild = controller, seed, random
        self._policies = policies
        mode = world.settings.mode
        self._every = SPEAKING if mode == 'leader_follower' or mode in GUIDED else ASKING // 2

    def undisturbed(self, now: int) -> int:
        """Return the number of ticks from ``now`` before it acts."""
        return -now % self._every

    def act(self, world: World) -> None:
        """Let the leader speak, the hand guide, and somebody ask for a motion."""
        k, c = world.ticks, self._controller
        if world.settings.mode == 'leader_follower':
            _lead(c, world.arm.model, self._seed, world.now)
        elif world.settings.mode in GUIDED and k % (GUIDING + HELD) < GUIDING:
            c.guide(world.now + 0.1)
        if k % ASKING == ASKING // 2:
            self._wild.uniform(size=min(k, ASKING))     # what seeds are known for stays
            _ask(c, self._wild, world.arm.model, world.now, self._policies)


def _ask(controller: Controller, random: np.random.Generator, arm: RobotModel, now: float,
         policies: bool) -> None:
    """Ask for a motion to anywhere, the limits themselves included, as fast as is allowed."""
    model, n, (lower, range_) = controller.model, controller.model.nv, _range(arm)
    goal = lower + range_ * random.uniform(-0.1, 1.1, model.nv).clip(0.0, 1.0)
    way = abs(goal - controller._v.target) / model.velocity_limit
    asked = Waypoints(model.joint_names, [max(0.05, way.max() * random.uniform(1.5, 3.0))],
                      [goal], [np.zeros(model.nv)])
    apart = random.spawn(1)[0]
    gains = [np.diag(controller.settings.per_joint(model, name) * apart.uniform(0.0, 1.0, n))
             for name in ('stiffness', 'damping')]
    try:
        if controller.memory['guided'][0]:
            return
        if policies and controller.settings.mode == 'feedback_policy':
            controller.follow_policy(now, model.effort_limit * apart.uniform(-1.0, 1.0, n), goal,
                                     np.zeros(n), np.hstack(gains))
        if controller.settings.law_in_force.reference == 'pose':
            _aim(controller, apart, goal, now)
        else:
            controller.follow(asked, now + 2 / controller.settings.rate)
    except (ArgumentError, TrajectoryError):    # not RUNNING, no reference, too fast or too high
        pass


def _lead(controller: Controller, arm: RobotModel, seed: int, now: float) -> None:
    """Let the leader move, at up to twice the velocity limits and beyond the position limits."""
    model, s, n = controller.model, controller.settings, controller.model.nv
    lower, range_ = _range(arm)
    rate, phase = np.random.default_rng(seed).uniform(0.1, 1.0, (2, n)) * [[1.0], [6.0]]
    rate *= 2.0 * arm.velocity_limit / (0.6 * range_)
    rows = [lower + range_ * (0.5 + 0.6 * np.sin(rate * now + phase)),
            0.6 * range_ * rate * np.cos(rate * now + phase),
            s.per_joint(model, 'stiffness'), s.per_joint(model, 'damping'), np.zeros(n)]
    controller.follow_partner(CouplingState('leader', WAITING, tuple(model.joint_names),
                                            np.array(rows)), now)


def _aim(controller: Controller, random: np.random.Generator, goal: ndarray, now: float) -> None:
    """Ask for the pose that the arm has somewhere, for one anywhere, or for a twist."""
    s, start = controller.settings, now + 2 / controller.settings.rate
    T = Dynamics(controller.model).pose(goal, s.task_frame)
    if random.uniform() < 0.3:
        controller.follow_twist(np.repeat(s.task_velocity_limit, 3)
                                * random.uniform(-1.0, 1.0, 6), start)
    else:
        away = random.uniform(-0.3, 0.3, 3) * (random.uniform() < 0.5)
        controller.follow_pose(T[:3, 3] + away, Rotation.from_matrix(T[:3, :3]).as_quat(), start)


def _task(random: np.random.Generator) -> dict[str, Any]:
    """Gains of task-space laws over their ranges, and limits of the reference up to the wild."""
    kp, fast = 10.0**random.uniform(0, 5, 6), 10.0**random.uniform(-1, 0.3)
    return {
        'task_stiffness': 10.0**random.uniform(0, 5, 6) * (random.uniform(size=6) < 0.8),
        'task_damping_ratio': random.uniform(0.0, 2.0), 'task_kp': kp,
        'task_kd': np.minimum(2.0 * np.sqrt(kp) * random.uniform(0.5, 1.5), 1e4),
        'task_axes': str(random.choice(TASK_AXES)), 'task_error_limit': (
            random.uniform(0.01, 3.0), random.uniform(0.05, 3.0)),
        'nullspace_projector': str(random.choice(NULLSPACE_PROJECTOR)),
        'nullspace_kp': [10.0**random.uniform(-1, 2)], 'nullspace_kd': [20.0],
        'task_velocity_limit': (fast, fast), 'task_acceleration_limit': (10 * fast, 10 * fast),
        'task_jerk_limit': (100 * fast, 100 * fast)}


def _softer(s: Settings) -> Settings:
    """Half the gains of the task, and of the posture."""
    return replace(s, task_stiffness=[0.5 * k for k in s.task_stiffness],
                   task_kp=[0.5 * k for k in s.task_kp], task_kd=[0.7 * k for k in s.task_kd],
                   nullspace_kp=[0.7 * k for k in s.nullspace_kp],
                   nullspace_kd=[0.8 * k for k in s.nullspace_kd],
                   task_damping_ratio=max(s.task_damping_ratio, 0.3))


def guided_within_walls(model: RobotModel) -> dict[str, Any]:
    """Return settings for a hand that guides the arm within virtual walls."""
    span = model.position_upper - model.position_lower
    return {'mode': GUIDED[0], 'workspace_stiffness': 500.0,
            'workspace_planes': [0.0, 0.0, 1.0, 0.3, 1.0, 1.0, 0.0, 0.1],
            'wall_lower': model.position_lower + 0.3 * span,
            'wall_upper': model.position_upper - 0.3 * span}


def drawn(modes: tuple[str, ...], random: np.random.Generator) -> str:
    """Return one of the modes; with one more of them, most seeds draw what they drew before."""
    draw = deepcopy(random).integers(2**32)
    random.integers(len(modes))
    return max(modes, key=lambda mode: crc32(f'{mode} {draw}'.encode()))


@contextmanager
def no_remedies() -> Iterator[None]:
    """Refuse gains without seeking the highest ones that are stable, which takes longest."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gain_stability, '_search', lambda loop, K, D, poses: (0.0 * K, 0.0 * D))
        patch.setattr(task_stability, 'SEARCH_LEVELS', (0.0, 1.0))
        yield


def _settings(model: RobotModel, random: np.random.Generator, more: dict[str, Any]) -> Settings:
    """Gains over their whole ranges, or the highest that are stable; a payload, sometimes."""
    n = model.nv
    other = np.random.default_rng(deepcopy(random).integers(2**62))
    mode = drawn(OF_JOINTS, random)
    if other.uniform() < 0.25:          # without changing what the other seeds stand for
        mode = drawn(OF_TASKS, other)
    if mode in OF_JOINTS and deepcopy(other).uniform() < 0.1:
        mode = str(GUIDED[0])
    if deepcopy(other).uniform() < COUPLED:
        mode = 'leader_follower'
    asked = Settings(mode=mode, loop_delay=OLDEST * TICK, task_frame=model.link_names[-1],
                     **_task(other))
    if random.uniform() < 0.2:
        asked = replace(asked, payload_frame=model.link_names[-1], payload_com=random.uniform(
            -0.1, 0.1, 3), payload_mass=random.uniform(0.0, 1.0))
    if model.name not in TOP:
        TOP[model.name] = (asked.stable(model, np.full(n, 1e6), np.full(n, 1e5)),
                           asked.stable_accelerations(model, np.full(n, 1e5), np.full(n, 1e4)))
    top, asked = TOP[model.name], replace(asked, **more)
    stiffness, acceleration_kp = (10.0**random.uniform(-1, 6, n), 10.0**random.uniform(0, 5, n))
    damping = np.minimum(10.0**random.uniform(-2, 5, n), top[0][1])
    acceleration_kd = np.minimum(10.0**random.uniform(0, 4, n), top[1][1])
    stiffness = np.minimum(stiffness, top[0][0])
    acceleration_kp = np.minimum(acceleration_kp, top[1][0])
    apart = random.spawn(1)[0]          # without changing what else a seed stands for
    acceleration_ki = 10.0**apart.uniform(-1, 6, n) * (apart.uniform() < 0.5)
    # About the highest accepted
    bandwidth = np.minimum(10.0**apart.uniform(0, 3, n), 0.3 / (2.0 * asked.loop_delay + TICK))
    adaptive = 0.5 * bandwidth
    learning = {'coupling_role': 'follower', 'coupling_delay': 0.0, 'coupling_speed': 10.0,
                'adaptation_mass': 5.0, 'adaptation_rate': apart.uniform(0.0, 10.0, n)}
    for f in find(asked.mode).declared:
        if f.metadata['empty'] is None and f.name in FIELDS and f.name not in NAMED:
            low, high = max(f.metadata['lower'], 1e-3), f.metadata['upper']
            learning[f.name] = low * (high / low)**apart.uniform(0.0, 1.0, n)
    while True:
        pairs = (stiffness, damping), (acceleration_kp, acceleration_kd)
        for rule in RULES:
            learning |= rule.named(*pairs)
        settings = replace(asked, acceleration_ki=acceleration_ki, observer_bandwidth=bandwidth,
                           adaptive_bandwidth=adaptive, **learning)
        try:
            with no_remedies():
                settings.check_gains(settings.loaded(model))
            return settings
        except ParameterError as error:
            if error.name in more:
                raise
            if error.name == 'observer_bandwidth':
                bandwidth = 0.7 * bandwidth
            elif error.name in ('adaptive_bandwidth', 'adaptation_rate'):
                adaptive = 0.7 * adaptive
                learning['adaptation_rate'] = 0.7 * learning['adaptation_rate']
            elif error.name == 'acceleration_kd':       # of a payload's inertia
                acceleration_kd = 0.9 * acceleration_kd
            elif error.name in ('task_stiffness', 'task_kp', 'nullspace_kp'):
                asked = _softer(asked)
            else:                       # too stiff for this damping
                stiffness, acceleration_kp = 0.5 * stiffness, 0.5 * acceleration_kp
                acceleration_ki = 0.2 * acceleration_ki
