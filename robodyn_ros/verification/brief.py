# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A few random worlds in one call, for tests of a control law or of settings."""

from dataclasses import replace

from .trial import Case, Player, problem
from .worlds import default_worlds
from ..control.settings.settings import Settings
from ..model.robot import RobotModel


def verify(model: RobotModel, settings: Settings, worlds: int = 20, *, seconds: float = 2.0,
           seed: int = 0) -> list[str]:
    """
    Return a sentence for each random world in which something is wrong.

    The worlds are those of `robodyn verify` with its defaults, in the mode of the settings alone.

    :param seconds: of motion in each world.
    :raises RobodynError: the controller refuses the model or the settings.

    >>> from robodyn_ros import Settings, load_urdf
    >>> from robodyn_ros.verification.brief import verify
    >>> verify(load_urdf('two_link'), Settings(mode='gravity_compensation'), 2, seconds=0.5)
    []
    """
    around = replace(default_worlds(model, settings), modes=(settings.mode,), seconds=seconds)
    player = Player(Case(model.name, model, settings, around, seed), specialize=False)
    outcomes = [player.play(index) for index in range(worlds)]
    return [f'world {one.index}: {problem(one)}' for one in outcomes if one.bad]
