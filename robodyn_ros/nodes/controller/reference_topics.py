# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Topics and action of references, payloads and coupling of an active controller."""

from collections.abc import Callable
from typing import Any

from .control_loop import ControlLoop
from ..topics.coupling_topics import CouplingTopics
from ..topics.payload_subscriber import PayloadSubscriber
from ..topics.policy_subscriber import PolicySubscriber
from ..topics.pose_subscriber import PoseSubscriber
from ..topics.trajectory_action import serve_trajectories
from ..topics.trajectory_subscriber import TrajectorySubscriber


class ReferenceTopics:
    """
    Subscriptions of trajectories, policies, poses, of the state of a partner, and of payloads.

    :param node: the controller node.
    :param active: returns the loop while the node is active; ``configured``: while it is
        configured, for payloads.
    :param reason: returns the reason of the present fault in words.
    :ivar trajectories: the subscriber of trajectories, for the diagnostics.
    """

    def __init__(self, node: Any, active: Callable[[], ControlLoop | None],
                 configured: Callable[[], ControlLoop | None], reason: Callable[[], str]):
        self.trajectories = TrajectorySubscriber(node, active)
        self._others = [PolicySubscriber(node, active), PoseSubscriber(node, active),
                        PayloadSubscriber(node, lambda: loop.controller
                                          if (loop := configured()) else None)]
        self._configured, self._parameters = configured, node.parameters
        self._coupling = CouplingTopics(node, active)
        self._goals = serve_trajectories(node, self.trajectories, reason)

    def update_coupling(self) -> None:
        """Publish to the partner while the present law couples arms."""
        loop = self._configured()
        couples = loop is not None and loop.controller.couples
        self._coupling.update(self._parameters['coupling_rate'] if couples else 0.0)

    def end_goals(self, why: str) -> None:
        """Abort the active goals of the action."""
        self._goals.end(why)

    def destroy(self) -> None:
        """Close the action."""
        self._goals.destroy()
