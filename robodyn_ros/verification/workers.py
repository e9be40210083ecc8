# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Many worlds in several processes; each outcome is a function of seed and index alone."""

from collections.abc import Iterable, Iterator
from functools import partial

from .trial import Case, Outcome, Player
from ..parallel import in_processes


def play_all(case: Case, indices: Iterable[int], jobs: int, *,
             specialize: bool = True) -> Iterator[Outcome]:
    """
    Yield the outcomes of worlds as they come in.

    :raises RobodynError: the controller refuses the model or the settings; see
        :func:`~robodyn_ros.parallel.in_processes`.
    """
    return in_processes(partial(Player, case, specialize), Player.play, indices, jobs)


def check(case: Case) -> None:
    """
    Raise what would end each process.

    :raises RobodynError: the controller refuses the model or the settings.
    """
    Player(case, specialize=False).modes        # noqa: B018  (each is checked)
