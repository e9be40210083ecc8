# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Memory of a simulated world, which Python and the compiled steps of a tick share."""

from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray

from . import controller_step, judge_step, plant_step, sensing
from .controller_step import ObservedVectors
from .judge_step import JudgeVectors, VIOLATION
from .plant_step import COMMANDS, PlantVectors
from .sensing import BLOCK, INBOX, SAMPLE, SensingVectors, UNDER_WAY
from ..dynamics.model_data import ModelData, Workspace

NUMBERS = np.dtype([
    ('ticks', int),                 # since the world has begun
    ('offset', float),              # s: the controller's clock minus the time of the world
    ('halt', int),                  # bits of the phases at which the ticks end
    *plant_step.NUMBERS, *sensing.NUMBERS, *controller_step.NUMBERS, *judge_step.NUMBERS])


class WorldData(NamedTuple):
    """What the steps of a tick read and write; times are those of the world [s]."""

    robot: ModelData            # the arm that moves
    workspace: Workspace
    numbers: Any                # record NUMBERS
    plant: PlantVectors
    sensing: SensingVectors
    judge: JudgeVectors
    observed: ObservedVectors
    tau: ndarray                # (nv,) efforts of the controller
    wired: ndarray              # (nv,) int64: joint whose command each drive gets
    mass: ndarray               # (nv, nv)
    normal: ndarray             # (BLOCK, 2, nv) random numbers of samples
    uniform: ndarray            # (BLOCK, 2)
    sample: ndarray             # (1,) SAMPLE, of this tick
    under_way: ndarray          # (UNDER_WAY,) SAMPLE, and their positions, velocities, efforts
    under_way_rows: ndarray     # (UNDER_WAY, 3, nv)
    inbox: ndarray              # (INBOX,) SAMPLE, likewise
    inbox_rows: ndarray         # (INBOX, 3, nv)
    command_times: ndarray      # (COMMANDS,) when commands begin to act
    commands: ndarray           # (COMMANDS, nv)
    violations: ndarray         # VIOLATION of each of judge_step.KINDS, and SUSPECT

    @classmethod
    def of(cls, workspace: Workspace, nv: int) -> 'WorldData':
        """Return the memory of a world, zero, in which no arm moves yet."""
        def vectors(kind: Any) -> Any:
            return kind(*np.zeros((len(kind._fields), nv)))
        none: Any = None
        return cls(
            none, workspace, np.zeros(1, NUMBERS), vectors(PlantVectors),
            vectors(SensingVectors), vectors(JudgeVectors), vectors(ObservedVectors),
            np.zeros(nv), np.arange(nv), np.zeros((nv, nv)), np.zeros((BLOCK, 2, nv)),
            np.zeros((BLOCK, 2)), np.zeros(1, SAMPLE), np.zeros(UNDER_WAY, SAMPLE),
            np.zeros((UNDER_WAY, 3, nv)), np.zeros(INBOX, SAMPLE), np.zeros((INBOX, 3, nv)),
            np.zeros(COMMANDS), np.zeros((COMMANDS, nv)),
            np.zeros(judge_step.SUSPECT + 1, VIOLATION))


def number(name: str) -> property:
    """Return a property that is a number of ``self.data``."""
    def write(self: Any, value: Any) -> None:
        self.data.numbers[name] = value
    return property(lambda self: self.data.numbers[name].item(), write)
