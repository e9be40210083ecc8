# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
A simulated arm, its memory, and one tick of its world, in steps between which Python may act.

The ticks are compiled: all ways through a world run the same machine code, so that its outcome
does not depend on how many of them are run at once.
"""

from dataclasses import dataclass, replace
from functools import cache
import sys
from typing import Any, NamedTuple

from numba import from_dtype, types
import numpy as np
from numpy import ndarray

from .arm import Arm
from . import judge_step, plant_step, sensing
from .plant_step import COMMANDS, START, TICK
from .sensing import BLOCK, INBOX, SAMPLE, UNDER_WAY
from ..compiler.jit import compile_function, jitable, tuple_type
from ..compiler.tuple_reference import reference_to, TupleMemory
from ..control.cycle import ring_buffer
from ..control.cycle.compile import compiled, inputs_at, RECORDER_MODULES
from ..control.settings.friction import with_friction
from ..dynamics import Dynamics
from ..dynamics.compile import MODULES
from ..dynamics.model_data import ModelData, parameters, Workspace, workspace
from ..dynamics.numba_types import MODEL_DATA, WORKSPACE
from ..errors import SimulationError
from ..model.robot import RobotModel

NUMBERS = np.dtype([
    ('ticks', int),                 # since the world has begun
    ('offset', float),              # s: the controller's clock minus the time of the world
    ('halt', int),                  # bits of the phases at which the ticks end
    *plant_step.NUMBERS, *sensing.NUMBERS, *judge_step.NUMBERS])


class WorldData(NamedTuple):
    """What the steps of a tick read and write; times are those of the world [s]."""

    robot: ModelData            # the arm that moves
    workspace: Workspace
    numbers: Any                # record NUMBERS
    plant: plant_step.PlantVectors
    motion: plant_step.MotionVectors
    sensing: sensing.SensingVectors
    judge: judge_step.JudgeVectors
    observed: sensing.ObservedVectors
    tau: ndarray                # (nv,) efforts of the controller
    wired: ndarray              # (nv,) int64: joint whose command each drive gets
    mass: ndarray               # (nv, nv) M and M⁻¹, with the joints of a soft base
    inverse: ndarray
    normal: ndarray             # (BLOCK, 2, nv) random numbers of samples
    uniform: ndarray            # (BLOCK, 2)
    sample: ndarray             # (1,) SAMPLE, of this tick
    under_way: ndarray          # (UNDER_WAY,) SAMPLE, and their positions, velocities, efforts
    under_way_rows: ndarray     # (UNDER_WAY, 3, nv)
    inbox: ndarray              # (INBOX,) SAMPLE, likewise
    inbox_rows: ndarray         # (INBOX, 3, nv)
    command_times: ndarray      # (COMMANDS,) when commands begin to act
    commands: ndarray           # (COMMANDS, nv)
    violations: ndarray         # judge_step.VIOLATION of each of judge_step.KINDS, and SUSPECT

    @classmethod
    def of(cls, workspace: Workspace, nv: int, base: int = 0) -> 'WorldData':
        """Return the memory of a world, zero, in which no arm moves yet."""
        def vectors(kind: Any, size: int = nv) -> Any:
            return kind(*np.zeros((len(kind._fields), size)))
        none: Any = None
        motion = vectors(plant_step.MotionVectors, base + nv)
        mass, inverse = np.zeros((2, base + nv, base + nv))
        return cls(
            none, workspace, np.zeros(1, NUMBERS), vectors(plant_step.PlantVectors)._replace(
                q=motion.q[base:], qd=motion.qd[base:]), motion,
            vectors(sensing.SensingVectors), vectors(judge_step.JudgeVectors),
            vectors(sensing.ObservedVectors),
            np.zeros(nv), np.arange(nv), mass, inverse,
            np.zeros((BLOCK, 2, nv)),
            np.zeros((BLOCK, 2)), np.zeros(1, SAMPLE), np.zeros(UNDER_WAY, SAMPLE),
            np.zeros((UNDER_WAY, 3, nv)), np.zeros(INBOX, SAMPLE), np.zeros((INBOX, 3, nv)),
            np.zeros(COMMANDS), np.zeros((COMMANDS, nv)),
            np.zeros(judge_step.SUSPECT + 1, judge_step.VIOLATION))


def number(name: str) -> property:
    """Return a property that is a number of ``self.data``."""
    def write(self: Any, value: Any) -> None:
        self.data.numbers[name] = value
    return property(lambda self: self.data.numbers[name].item(), write)


# Steps of a tick. Between the first two Python asks for motions and acts on the plant; before
# RECEIVE it edits the sample; CYCLE is that of a node, or in plain Python, if there is no cycle
SUBSTEPS, MOST_SUBSTEPS = 2, 64
STOP_RATE = 300.0       # 1/s, of a joint on its stop, damped by half
STIFFNESS = 0.5         # of a step: viscous friction changes the velocity by this share at most
VIBRATION = 0.3         # of a step: it is shorter than this share of 1/ω of an elastic joint
DAMPING_RATIO = 0.05    # of elastic transmissions and bases
# Friction of a real arm's gears, of the effort limit: per rad/s, and at any speed above SLIP rad/s
VISCOUS, COULOMB, SLIP = 0.01, 0.005, 0.05
BASE = 'base about x', 'base about y'
RELAXATIONS = 5         # of the tilt of a base under the arm
SILENCE = 0.1           # s without commands after which the plant's own brakes engage
MEASURE, RECEIVE, CYCLE, COMMAND, ADVANCE, LATCH, END = range(7)
SAMPLES_LOST, COMMANDS_LOST = -1, -2        # results of `run`: too many are under way


def run(world: int, inputs: int, ticks: int, first: int, last: int) -> int:
    """
    Run steps of a world, from ``first`` to the one before ``last``, for some ticks.

    :param world: address of a :class:`WorldData`; ``inputs``: of a ``Cycle``, 0 for a
        controller of another process.
    :return: number of ticks; fewer than asked for where the arm is wrecked, or the phase is one of
        ``halt``; SAMPLES_LOST or COMMANDS_LOST.
    """
    w, c = world_at(world), inputs_at(inputs)
    m = w.numbers
    for k in range(ticks):
        time = START + m.ticks * TICK
        now = time + m.offset
        if first <= MEASURE and last > MEASURE:
            plant_step.guide_by_hand(w, time)
            sensing.measure(w, time, now)
        if first <= RECEIVE and last > RECEIVE:
            if not sensing.receive(w, time):
                return SAMPLES_LOST
            if inputs:
                sensing.observe(w, c, time)
                judge_step.add_energy(w, c)
                sensing.take(w, c, time, now)
        if first <= CYCLE and last > CYCLE and inputs:
            if m.due == sensing.DUE:
                m.published = ring_buffer.recorded_cycle(c, now, w.tau)
            if m.due:
                sensing.after_cycle(w, c)
            m.phase, m.reason = c.controller.phase, c.controller.reason
            m.braking = m.released > 0
        if first <= COMMAND and last > COMMAND and m.published:
            if not (m.unheard or plant_step.queue_command(w, time, w.tau)):
                return COMMANDS_LOST
            if m.judged:
                judge_step.judge_effort(w, time)
        if first <= ADVANCE and last > ADVANCE:
            finish(w, time)
        if first <= LATCH and last > LATCH and m.judged:
            judge_step.judge_latch(w, time)
        if last == END:
            if m.wrecked or (m.halt >> m.phase) & 1:
                return k + 1
    return ticks


def finish(w: Any, time: float) -> None:
    """Move the arm, judge what came of it, and end the tick."""
    m = w.numbers
    if m.intruded:
        if not m.unheard:
            plant_step.queue_command(w, time, w.judge.intruder)
        if m.judged:
            judge_step.judge_intruder(w)
    if m.unheard:                       # a later listener has no previous effort
        m.has_last = 0
    plant_step.advance_plant(w, time)
    if m.judged:
        judge_step.judge_motion(w, time)
    for i in range(w.tau.shape[0]):
        w.plant.external[i] = 0.0
    m.ticks += 1


def _kinds() -> dict[str, Any]:
    """Return the types of the fields of :class:`WorldData`."""
    none: Any = None
    one = WorldData.of(none, 1)
    kinds: dict[str, Any] = one._asdict()
    for name in ('plant', 'motion', 'sensing', 'judge', 'observed'):
        vectors = kinds[name]
        kinds[name] = tuple_type(type(vectors), **vectors._asdict())
    return {**kinds, 'robot': MODEL_DATA, 'workspace': WORKSPACE,
            'numbers': from_dtype(one.numbers.dtype)}


WORLD = tuple_type(WorldData, **_kinds())
world_at = reference_to(WORLD)
STEPS = tuple(map(jitable, (plant_step, sensing, judge_step)))


@cache
def compiled_run() -> Any:
    """Return the compiled :func:`run`, from the cache where this machine has compiled it."""
    compiled()
    this = jitable(sys.modules[__name__], apart=('run', 'compiled_run', '_kinds'))
    return compile_function('verification_tick', run, types.int64(
        types.int64, types.int64, types.int64, types.int64, types.int64),
        (*RECORDER_MODULES, *MODULES, *STEPS, this))


@dataclass(frozen=True)
class Drives:
    """
    Drives and mount of an arm; efforts are in N·m | N.

    :param gain: (nv,) effort per commanded effort, negative for a reversed motor.
    :param saturation: (nv,) largest effort; ``dead_zone``: (nv,) smaller commands do nothing.
    :param lag: [s] time constant of the effort.
    :param compensate_gravity: whether they add g(q), as those of Franka and UR do.
    :param stop_distance: [rad | m] from the position limits to the joint stops; infinite: none.
    :param stiffness: (nv,) between motor and joint [N·m/rad | N/m], 0: rigid; behind an elastic
        transmission, ``rotor`` (nv,) [kg·m² | kg] turns, with friction and ``play`` [rad | m].
    :param ripple: (nv,) amplitude of the ripple of the effort, ``ripple_period`` [rad | m] and
        ``ripple_phase`` [rad].
    :param base_stiffness: [N·m/rad] of a base that rocks about its x and y axes, 0: rigid; with
        ``base_inertia`` [kg·m²].
    """

    gain: ndarray | float = 1.0
    saturation: ndarray | float = np.inf
    dead_zone: ndarray | float = 0.0
    lag: float = 0.0
    compensate_gravity: bool = False
    stop_distance: float = np.inf
    stiffness: ndarray | float = 0.0
    rotor: ndarray | float = 0.0
    play: ndarray | float = 0.0
    ripple: ndarray | float = 0.0
    ripple_period: ndarray | float = 1.0
    ripple_phase: ndarray | float = 0.0
    base_stiffness: float = 0.0
    base_inertia: float = 1.0


IDEAL = Drives()


def with_gear_friction(model: RobotModel) -> RobotModel:
    """Return the model with the friction of gears."""
    return with_friction(model, {
        'viscous_friction': VISCOUS * model.effort_limit,
        'coulomb_friction': COULOMB * model.effort_limit,
        'friction_velocity': np.full(model.nv, SLIP)})


def on_soft_base(model: RobotModel, inertia: float) -> RobotModel:
    """Return the model on a body that rocks about its x and y axes, whose joints come first."""
    def first(added: Any, values: ndarray) -> ndarray:
        return np.concatenate([np.full((*values.shape[:-1], 2), added), values], axis=-1)
    zero = ('viscous_friction', 'coulomb_friction', 'static_friction', 'backward_friction',
            'presliding_distance', 'load_friction', 'coupled_friction', 'armature')
    one = ('friction_velocity', 'stribeck_velocity', 'position_upper', 'velocity_limit',
           'effort_limit')
    arrays: dict[str, Any] = {
        name: np.concatenate([np.asarray(added, float), getattr(model, name)])
        for name, added in (
            ('joint_rotation', [np.eye(3), np.eye(3)]), ('joint_origin', np.zeros((2, 3))),
            ('joint_axis', np.eye(3)[:2]), ('mass', np.zeros(2)), ('com', np.zeros((2, 3))),
            ('inertia', [np.zeros((3, 3)), inertia * np.eye(3)]))}
    arrays |= {name: first(value, getattr(model, name))
               for names, value in ((zero, 0.0), (one, 1.0)) for name in names}
    return replace(
        model, joint_names=(*BASE, *model.joint_names), link_names=(*BASE, *model.link_names),
        body_joint_names=(*BASE, *model.body_joint_names),
        body_joint_types=('revolute', 'revolute', *model.body_joint_types),
        driver=np.concatenate([[0, 1], model.driver + 2]), ratio=first(1.0, model.ratio),
        shift=first(0.0, model.shift), parent=np.concatenate([[-1, 0], model.parent + 2]),
        position_lower=first(-1.0, model.position_lower), **arrays)


class Plant:
    """
    Simulated arm; its brakes hold it before the first command, and when commands have stopped.

    It owns the memory of its world, ``data``, which the steps of a tick read and write. ``q``,
    ``qd``, ``effort`` (commanded), ``external`` (of hands, in one tick), ``motor`` (sign and
    health of the motors), ``stuck`` (efforts that motors keep) and ``wired`` (joint whose effort
    each one gets) are arrays (nv,) of it.

    :param arm: with the true model, which need not be the controller's.
    :param q: (nv,) initial pose.
    :param delay: [s] from a command to the effect of its efforts.
    :param silence: [s] of the command timeout.
    """

    blocked, wrecked, speed = number('blocked'), number('wrecked'), number('speed')
    delay, silence = number('delay'), number('silence')

    def __init__(self, arm: Arm, q: ndarray, delay: float = 0.0, silence: float = SILENCE,
                 drives: Drives = IDEAL):
        model = arm.model
        self.arm, self.drives = arm, drives
        base = 2 if drives.base_stiffness > 0.0 else 0
        self.data = WorldData.of(workspace(self._on_base(model)), model.nv, base)
        self._memory, self._run = TupleMemory(WORLD), compiled_run()
        self._address = self._memory.address
        p, m = self.data.plant, self.data.numbers
        self.q, self.qd, self.effort, self.external = p.q, p.qd, p.command, p.external
        self.motor, self.stuck, self.wired = p.motor, p.stuck, self.data.wired
        p.stop_lower[:] = model.position_lower - drives.stop_distance
        p.stop_upper[:] = model.position_upper + drives.stop_distance
        p.q[:] = np.clip(q, p.stop_lower, p.stop_upper)
        p.transmission[:], p.rotor[:], p.play[:] = drives.stiffness, drives.rotor, drives.play
        m['base'] = base
        self._dynamics: Dynamics | None = None
        self.dynamics = arm.dynamics
        p.command[:] = self.dynamics.gravity(p.q) * (not drives.compensate_gravity)     # acts
        p.actual[:], p.motor[:], p.stuck[:] = p.command, 1.0, np.nan
        p.gain[:], p.saturation[:], p.dead_zone[:] = (drives.gain, drives.saturation,
                                                      drives.dead_zone)
        p.ripple[:], p.ripple_period[:], p.ripple_phase[:] = (drives.ripple, drives.ripple_period,
                                                              drives.ripple_phase)
        self._relax()
        light = 1.0 / np.diag(np.linalg.inv(self.dynamics.mass_matrix(p.q)))
        p.stop_stiffness[:], p.stop_damping[:] = light * STOP_RATE**2, light * STOP_RATE
        p.velocity_limit[:], p.effort_limit[:] = model.velocity_limit, model.effort_limit
        m['lag'], m['compensates'] = drives.lag, drives.compensate_gravity
        m['delay'], m['silence'], m['blocked'] = delay, silence, -1
        m['command_time'], m['hand_since'], m['hand_until'] = -np.inf, np.inf, np.inf
        m['every'] = 1
        self.data.violations['time'] = np.nan

    @property
    def dynamics(self) -> Dynamics:
        """Dynamics of the arm as it is now; faults may change them."""
        assert self._dynamics is not None
        return self._dynamics

    @dynamics.setter
    def dynamics(self, dynamics: Dynamics) -> None:
        if dynamics is self._dynamics:
            return
        model, self._dynamics = dynamics.model, dynamics
        self.give(robot=parameters(self._on_base(model)))
        # Viscous friction is explicit in the integration: light joints with much of it need short
        # steps, and stiff transmissions do
        p, m, d = self.data.plant, self.data.numbers, self.drives
        viscous = np.maximum(model.viscous_friction, model.backward_friction[0])
        ratio, both, coulomb = model.coupled_friction
        both = (both + coulomb / model.friction_velocity) * (ratio != 0.0)
        viscous = viscous + both
        viscous[1:] += (ratio**2 * both)[:-1]
        light = np.diag(np.linalg.inv(dynamics.mass_matrix(self.q)))
        elastic = p.transmission > 0.0
        lighter = 1.0 / np.where(elastic, p.rotor, 1.0)
        rate = max(float((np.where(elastic, lighter, light) * viscous).max()) / STIFFNESS,
                   float(np.sqrt(p.transmission * (light + lighter)).max()) / VIBRATION)
        p.transmission_damping[:] = 2.0 * DAMPING_RATIO * np.sqrt(
            p.transmission / (light + lighter))
        if d.base_stiffness > 0.0:
            m['base_stiffness'] = d.base_stiffness
            m['base_damping'] = 2.0 * DAMPING_RATIO * np.sqrt(d.base_stiffness * d.base_inertia)
            rate = max(rate, np.sqrt(d.base_stiffness / d.base_inertia) / VIBRATION)
        m['steps'] = int(np.clip(np.ceil(TICK * rate), SUBSTEPS, MOST_SUBSTEPS))

    def _on_base(self, model: RobotModel) -> RobotModel:
        drives = self.drives
        return on_soft_base(model, drives.base_inertia) if drives.base_stiffness > 0.0 else model

    def _relax(self) -> None:
        """Let base and transmissions carry the arm at rest, on the brakes of its motors."""
        p, x, base = self.data.plant, self.data.motion, int(self.data.numbers['base'][0])
        weight = self.dynamics.gravity(p.q)
        if base:
            dynamics = Dynamics(self._on_base(self.dynamics.model))
            for _ in range(RELAXATIONS):
                load = dynamics.gravity(x.q)
                x.q[:base], weight = -load[:base] / self.drives.base_stiffness, load[base:]
        p.motor_q[:] = p.q
        elastic = p.transmission > 0.0
        p.motor_q[elastic] += (weight / np.where(elastic, p.transmission, 1.0)
                               + 0.5 * np.sign(weight) * p.play)[elastic]

    def give(self, **parts: Any) -> None:
        """Replace parts of the memory."""
        self.data = self.data._replace(**parts)
        self._memory.write(self.data)

    def run(self, inputs: int, ticks: int, first: int, last: int) -> int:
        """
        Run steps of ticks, see :func:`run`; return the number of ticks.

        :raises SimulationError: more samples or commands are under way than there may be.
        """
        done = int(self._run(self._address, inputs, ticks, first, last))
        if done in (SAMPLES_LOST, COMMANDS_LOST):
            what = 'samples' if done == SAMPLES_LOST else 'commands'
            raise SimulationError(f'too many {what} are under way', name='delay', value=self.delay,
                                  remedy='use shorter delays')
        return done

    def command(self, tau: ndarray) -> None:
        """Take a command that is published in this tick."""
        self.data.tau[:] = tau
        self.data.numbers['published'] = 1
        self.run(0, 1, COMMAND, ADVANCE)

    def advance(self, ticks: int = 1) -> None:
        """Move on."""
        self.run(0, ticks, ADVANCE, LATCH)
