# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Replay of recorded control cycles, and comparison with the recorded results."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy import ndarray

from ..compiler.tuple_reference import TupleMemory
from ..control.controller.history import Snapshot
from ..control.cycle.compile import compiled, CYCLE_INPUTS, load_generic_dynamics, plain
from ..control.cycle.ring_buffer import recorder
from ..control.inputs.partner import Partner
from ..control.steps import guard, payload_transition
from ..control.steps.cycle_data import CONTROLLER_STATE, Cycle, CYCLE_INPUT, VECTOR_NAMES
from ..dynamics.model_data import parameters, workspace
from ..model.robot import RobotModel
from ..state import STATE


@dataclass
class Agreement:
    """Comparison of recomputed cycles with the recorded ones."""

    cycles: int
    same: int                   # equal bit by bit: efforts, controller state, vectors, published
    first: int = -1             # first cycle that differs; -1: none
    what: tuple[str, ...] = ()  # names of the quantities that differ in it
    largest: float = 0.0        # [N·m | N] largest difference of an effort
    cycle: int = -1             # its cycle and joint
    joint: int = -1


class Replay:
    """Recomputation of the cycles of a snapshot with the compiled cycle of this machine."""

    def __init__(self, model: RobotModel, snapshot: Snapshot):
        nv = model.nv
        self.snapshot, self._work = snapshot, workspace(model)
        kept = snapshot.vectors.shape[1] - len(VECTOR_NAMES)
        rows = kept - payload_transition.rows(model.nb, nv)
        self._flight, self._v, memory = recorder(nv, 0, kept)
        self._law_memory = memory[:rows]
        self._in_force = payload_transition.payload_in_force(parameters(model), memory[rows:])
        if not plain():
            load_generic_dynamics()     # a file may contain any payload
        self._names = (*VECTOR_NAMES, *(f'memory {k} of the law' for k in range(rows)),
                       *['present payload'] * (kept - rows))
        self._state = np.zeros(nv, STATE)
        self._cycle_input = np.zeros(1, CYCLE_INPUT)
        self._partner = Partner.none(nv)
        self._inputs_memory = TupleMemory(CYCLE_INPUTS)
        #: Name of the compiled cycle, which differs between machines and versions.
        self.code = compiled().code
        #: Controller state and efforts after the last cycle.
        self.memory, self.tau = np.zeros(1, CONTROLLER_STATE), np.zeros(nv)
        self.vectors = self._flight.present

    def run(self, k: int) -> bool:
        """Recompute cycle ``k``, counted from the oldest one; return whether it published."""
        s = self.snapshot
        given = s.cycles[k]
        self._cycle_input[0] = s.inputs[k]
        self._state[:], self.memory[0] = s.state[k], s.memory[k]
        self.vectors[:], self.tau[:] = s.vectors[k], s.tau[k]
        for name in ('time', 'status', 'follows'):
            self._partner.header[name] = given[f'partner_{name}']
        self._partner.rows[:] = s.partner[k]
        robot, joints, settings, _, law, task, bounds = s.versions[int(given['version'])]
        inputs = Cycle(
            robot=robot, workspace=self._work, joints=joints, settings=settings,
            law=law._replace(memory=self._law_memory),
            cycle_input=self._cycle_input, state=self._state,
            points=s.points[int(given['serial'])], policy=s.policies[int(given['policy'])],
            partner=self._partner, task=task, bounds=bounds, poses=s.poses[int(given['pose'])],
            controller=self.memory, vectors=self._v, payload=self._in_force,
            ring=self._flight, code=compiled().code_for(settings, robot))
        return compiled().prepare(inputs, self._inputs_memory)(float(given['now']), self.tau)

    def differences(self, k: int) -> list[str]:
        """Recompute cycle ``k``; return the names of results that differ in any bit."""
        s, published = self.snapshot, self.run(k)
        after = s.memory[k + 1]
        return [*(['tau'] if _differ(self.tau, s.tau[k + 1]) else []),
                *(['published'] if published != s.cycles[k]['published'] else []),
                *(name for name in CONTROLLER_STATE.names or ()
                  if name not in s.absent and _differ(self.memory[0][name], after[name])),
                *((name for name, a, b in zip(self._names, self.vectors, s.vectors[k + 1])
                   if name not in s.absent and _differ(a, b))
                  if _differ(self.vectors, s.vectors[k + 1]) else ())]

    def compare(self) -> Agreement:
        """Recompute all cycles and return how they compare with the recorded ones."""
        s = self.snapshot
        out = Agreement(len(s.cycles), 0)
        for k in range(out.cycles):
            if not (names := self.differences(k)):
                out.same += 1
                continue
            if out.first < 0:
                out.first, out.what = k, tuple(names)
            gap = np.nan_to_num(abs(self.tau - s.tau[k + 1]), nan=np.inf)
            if gap.max() > out.largest or out.cycle < 0:
                out.cycle, out.joint, out.largest = k, int(gap.argmax()), float(gap.max())
        return out


def fault_in(joint_names: Sequence[str], memory: Any) -> tuple[str, str]:
    """Return code and sentence, with the joint, of the fault in a record CONTROLLER_STATE."""
    code, joint = guard.CODES[memory['reason']], int(memory['joint'])
    return code, guard.REASONS[code] + (f' ({joint_names[joint]})' if joint >= 0 else '')


def last_fault(joint_names: Sequence[str], snapshot: Snapshot) -> tuple[str, str]:
    """
    Return code and sentence of the latest fault, or of the reason that is latched at the end.

    They are those of its last cycle: the joint of a collision is found after its detection.
    """
    faults = np.flatnonzero(snapshot.memory['phase'] == guard.FAULT)
    return fault_in(joint_names, snapshot.memory[faults[-1] if len(faults) else -1])


def latched(snapshot: Snapshot) -> ndarray:
    """Return the indices (K,) of the cycles in which a fault latched."""
    phases = snapshot.memory['phase']
    return np.flatnonzero((phases[1:] == guard.FAULT) & (phases[:-1] != guard.FAULT))


def _differ(a: ndarray, b: ndarray) -> bool:
    return np.asarray(a).tobytes() != np.asarray(b).tobytes()
