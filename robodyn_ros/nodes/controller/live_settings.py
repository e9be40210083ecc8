# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of the controller that change while it runs."""

from collections.abc import Callable
from typing import Any

from .control_loop import ControlLoop
from .parameters import law_parameters, settings
from .switch import check_hand_over
from ..middleware.parameters import Parameters
from ...control.controller.history import Version
from ...control.laws import registry


class LiveSettings:
    """
    Checks and applies the parameters of a node, and declares the gains of the law of its mode.

    :param parameters: of the node.
    :param loop: returns the loop while the node is configured.
    :param commands: the name of the topic of commands.
    :param changed: called after a change of settings.
    :param warn: logs that a change ended a motion.
    """

    def __init__(self, parameters: Parameters, loop: Callable[[], ControlLoop | None],
                 commands: str, changed: Callable[[], None], warn: Callable[[str], object]):
        self._parameters, self._loop = parameters, loop
        self._commands, self._changed, self._warn = commands, changed, warn
        self._prepared: Version | None = None
        self._declare_gains(parameters['mode'])
        parameters.fixed = lambda: loop() is not None
        parameters.accept = self.check
        parameters.changed = self._apply

    def check(self, values: dict[str, Any]) -> None:
        """
        Check new values and prepare their application.

        They are checked only here: after they are stored, a refusal would be too late. This method
        neither compiles nor waits: its thread serves resets, transitions and signals.

        :raises RobodynError: they cannot be used.
        """
        self._prepared = None
        self._declare_gains(values['mode'])
        check_hand_over(values, self._commands)
        if (loop := self._loop()) is not None:
            self._prepared = loop.controller.prepare_settings(settings(values), wait=False)

    def _apply(self) -> None:
        prepared, self._prepared = self._prepared, None
        if prepared is not None and (loop := self._loop()) is not None:
            if ended := loop.controller.reference_ended_by(prepared.settings):
                self._warn(ended)
            loop.controller.put_in_force(prepared)
            self._changed()

    def _declare_gains(self, mode: str) -> None:
        """
        Declare the gains of the law of a mode, built-in or user-defined.

        While the node is configured, no module is imported: an import takes any time.
        """
        law = registry.find(mode, load=self._loop() is None)
        self._parameters.add(law_parameters(law))
