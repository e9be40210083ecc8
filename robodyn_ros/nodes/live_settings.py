# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of the controller that change while it runs."""

from collections.abc import Callable
from typing import Any

from .control_loop import ControlLoop
from .controller_parameters import law_parameters, settings
from .controller_switch import check_hand_over
from .parameters import Parameters
from ..control.laws import registry


class LiveSettings:
    """
    Checks and applies the parameters of a node, and declares the gains of the law of its mode.

    :param parameters: of the node.
    :param loop: returns the loop while the node is configured.
    :param commands: the name of the topic of commands.
    :param changed: is called after settings have come into force.
    """

    def __init__(self, parameters: Parameters, loop: Callable[[], ControlLoop | None],
                 commands: str, changed: Callable[[], None]):
        self._parameters, self._loop = parameters, loop
        self._commands, self._changed = commands, changed
        self._declare_gains()
        parameters.fixed = lambda: loop() is not None
        parameters.accept = self.check
        parameters.changed = self._apply

    def check(self, values: dict[str, Any]) -> None:
        """Raise :class:`RobodynError` if these values of the parameters cannot be used."""
        law_parameters(registry.find(values['mode']))
        check_hand_over(values, self._commands)
        if (loop := self._loop()) is not None:
            loop.controller.check(settings(values))

    def _apply(self) -> None:
        self._declare_gains()
        if (loop := self._loop()) is not None:
            loop.controller.use(settings(self._parameters.values()))
            self._changed()

    def _declare_gains(self) -> None:
        """Declare the gains of the law of the mode, which may be one of a user."""
        self._parameters.add(law_parameters(registry.find(self._parameters['mode'])))
