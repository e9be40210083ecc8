# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Detection of messages that never arrive: types or qualities of service do not fit.

rclpy reports them by an event of the subscription, in the executor. No executor waits for the
subscriptions of :mod:`.raw_subscription`, so that the graph is queried instead.
"""

from collections.abc import Iterator

from rclpy.node import Node
from rclpy.qos import qos_check_compatible, QoSCompatibility

from .command_publishers import full_name, named
from ..middleware.raw_subscription import LeftAlone


def unmatched_subscribers(node: Node, topic: str) -> str:
    """Return which nodes get no messages of a node on a resolved topic, and why; '' for none."""
    name, found = node.get_fully_qualified_name(), []
    for own in node.get_publishers_info_by_topic(topic):
        for end in node.get_subscriptions_info_by_topic(topic) if full_name(own) == name else ():
            fit, why = qos_check_compatible(own.qos_profile, end.qos_profile)
            if end.topic_type != own.topic_type:
                found.append(f'{named([full_name(end)])} expects {end.topic_type}, not '
                             f'{own.topic_type}')
            elif fit == QoSCompatibility.ERROR:
                found.append(f'{named([full_name(end)])}: {why.strip(" ;")}')
    return '; '.join(sorted(found))


class IncompatiblePublishers:
    """Periodic check of the publishers of all raw subscriptions of a node, by its executor."""

    def __init__(self, node: Node):
        self._node = node
        self._known: set[str] = set()

    def look(self) -> None:
        """Log a warning for each newly discovered incompatible publisher."""
        found = set(self._found())
        for warning in sorted(found - self._known):
            self._node.get_logger().warning(warning)
        self._known = found

    def _found(self) -> Iterator[str]:
        for subscription in self._node.subscriptions:
            topic = subscription.topic_name
            if (not isinstance(subscription.callback_group, LeftAlone)
                    or self._node.count_publishers(topic) <= subscription.get_publisher_count()):
                continue
            for publisher in self._node.get_publishers_info_by_topic(topic):
                fit, reason = qos_check_compatible(publisher.qos_profile, subscription.qos_profile)
                if fit == QoSCompatibility.ERROR:
                    yield (f'messages of {named([full_name(publisher)])} on {topic} do not '
                           f'arrive: {reason.strip(" ;")}')
