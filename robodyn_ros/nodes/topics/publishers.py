# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Other publishers: of the commands, of which a drive obeys the last one, and those that do not fit.

rclpy reports types or qualities of service that do not fit by an event of the subscription, in the
executor. No executor waits for the subscriptions of :mod:`..middleware.raw_subscription`, so that
the graph is queried instead.
"""

from collections.abc import Iterator
import time

from numpy import ndarray
from rclpy.exceptions import InvalidHandle
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import qos_check_compatible, QoSCompatibility
from rclpy.topic_endpoint_info import TopicEndpointInfo

from ..middleware.raw_subscription import LeftAlone, RCLError

MAX_NAMED_NODES = 5
DISCOVERY = 0.5             # s, from a publisher to its discovery by nodes that know each other
# s, from the first node of a process to the discovery of others: where nearly all of their
# answers are heard, and where some are lost (middleware.py). Fast DDS takes up to three seconds
# after a loss: the guard is there for what is discovered later
ANSWERED, UNANSWERED = 0.7, 2.0
UNKNOWN = '_NODE_NAME_UNKNOWN_'     # rmw: a publisher was discovered before its node
NAMELESS = 'a node whose name is not known yet'
LET_ONE_REMAIN = 'let one remain; one that was killed is gone after 20 s'    # remedy of several
LOOP, TIMING = 'control loop', 'timing'     # subjects of the diagnostics of a controller


def discovery_end(since: float, discovery_time: float, heard: bool) -> float:
    """
    Return when, on the steady clock [s], other publishers of the commands must be discovered.

    :param since: when the node began to discover others, on the steady clock [s].
    :param discovery_time: parameter of the controller [s]; negative: what the middleware needs.
    :param heard: whether answers to the announcements of the node are heard.
    """
    if discovery_time < 0.0:
        discovery_time = ANSWERED if heard else UNANSWERED
    return max(since + discovery_time, time.monotonic() + DISCOVERY)


class CommandPublishers:
    """
    Counter of the publishers of the commands, including this node's own, for the guard.

    A publisher that was killed counts until its liveliness lease ends, 20 s with Fast DDS.

    :param known: when others must have been discovered, on the steady clock [s].
    :param cycle_input: (1,) ``CYCLE_INPUT``, of which ``command_publishers`` is written.
    """

    def __init__(self, node: Node, commands: Publisher, known: float, cycle_input: ndarray):
        self._node, self._cycle_input = node, cycle_input
        self._topic = commands.topic_name       # remapped, as graph queries do not do it
        self._known = known
        #: Names of the other nodes when there last were any, '' before.
        self.others = ''

    def wait(self) -> None:
        """Wait until other publishers must have been discovered, and count them."""
        time.sleep(max(0.0, self._known - time.monotonic()))
        self.look()

    def look(self) -> None:
        """Count the publishers; any thread may call it."""
        try:
            count = self._node.count_publishers(self._topic)
            if count > 1:
                self.others = self._names() or self.others
        except (InvalidHandle, RCLError):
            if self._node.context.ok():
                raise
            return                              # the node ends
        self._cycle_input['command_publishers'] = count

    def _names(self) -> str:
        names = sorted(publisher_names(self._node, self._topic))
        own = self._node.get_fully_qualified_name()
        if own in names:
            names.remove(own)                   # once: a second node may have the same name
        return named(names)


def publisher_names(node: Node, topic: str) -> list[str]:
    """Return the full names of the nodes of all publishers of a resolved topic."""
    return [full_name(end) for end in node.get_publishers_info_by_topic(topic)]


def full_name(end: TopicEndpointInfo) -> str:
    """Return the full name of the node of a publisher or subscription, NAMELESS if not known."""
    if end.node_name == UNKNOWN:
        return NAMELESS
    return f'{end.node_namespace.rstrip("/")}/{end.node_name}'


def told_name(namespace: str, name: str) -> str:
    """Return a name with its namespace as in diagnostics: without the leading slash."""
    return f'{namespace}/{name}'.strip('/').replace('//', '/')


def several(node: Node, topic: str, name: str) -> str:
    """Return that and which nodes publish a topic, '' where at most one does."""
    if node.count_publishers(topic) < 2 or len(names := sorted(publisher_names(node, topic))) < 2:
        return ''
    return f'{len(names)} publishers of {name} ({named(names)})'


def named(names: list[str]) -> str:
    """Return the first few names, quoted, for a sentence."""
    return ', '.join(map(repr, names[:MAX_NAMED_NODES])) + (', …' if len(names) > MAX_NAMED_NODES
                                                            else '')


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
