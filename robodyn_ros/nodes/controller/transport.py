# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Transport of states and efforts: selects the fastest available data path."""

from contextlib import suppress
import time
from typing import Any, NamedTuple, TYPE_CHECKING

from rclpy.node import Node
from rclpy.publisher import Publisher
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from .driver_states import DriverStates
from ..middleware import qos
from ..middleware.executor_subscription import ExecutorSubscription
from ..middleware.raw_subscription import RCLError, SerializedSubscription
from ..middleware.simulation_clock import SimulationClock
from ...control.controller.controller import Controller
from ...control.cycle.compile_ahead import plain, PLAIN_VARIABLE
from ...control.steps import guard
from ...errors import DataPathError, RobodynError
from ...realtime.loop_counters import Tally
from ...wire.effort import EffortEncoder
from ...wire.joint_state import JointStateDecoder

if TYPE_CHECKING:
    from ...realtime.native.runner import NativeLoop

NATIVE, PYTHON, EXECUTOR, DRIVER = 'native', 'python', 'executor', 'driver'
FALLBACK_ORDER = NATIVE, PYTHON, EXECUTOR
DATA_PATHS = ('auto', *FALLBACK_ORDER)
INLINE_FALLBACK = "trigger 'inline' requires the native data path; using 'state'"
TRIAL_TOPIC = '~/data_path_trial'
DISCOVERY_TIMEOUT = 5.0    # [s] of the publisher and the subscription of the trial

# Exceptions that mean a data path is unavailable
UNAVAILABLE = (AttributeError, ImportError, OSError, RCLError, RobodynError, TypeError)


class DataPath(NamedTuple):
    """A data path: its state subscription, and the native loop if there is one."""

    name: str               # with the reasons of a fallback
    trigger: str            # 'state' instead of 'inline' without the native loop
    states: SerializedSubscription | ExecutorSubscription | DriverStates
    native: 'NativeLoop | None' = None


def open_transport(wanted: str, node: Node, controller: Controller, decoder: JointStateDecoder,
                   commands: Publisher, clock: SimulationClock | None, tally: Tally, *,
                   trigger: str, spin: float, topic: str = 'joint_states') -> DataPath:
    """
    Open the topic of states on the requested data path, or on the first available fallback.

    Each fallback is logged.

    :param wanted: one of DATA_PATHS.
    :param trigger: timer, state or inline.
    """
    why: list[str] = []
    plain = 'state' if trigger == 'inline' else trigger
    if plain != trigger and wanted in (PYTHON, EXECUTOR):
        node.get_logger().warning(INLINE_FALLBACK)
    first = FALLBACK_ORDER.index(NATIVE if wanted == 'auto' else wanted)
    for path, fallback in zip(FALLBACK_ORDER[first:], (*FALLBACK_ORDER[first + 1:], None)):
        try:
            if path == EXECUTOR:
                return DataPath(_name(EXECUTOR, why), plain, ExecutorSubscription(
                    node, JointState, topic, qos.STATES_IN))
            states = SerializedSubscription(node, JointState, topic, qos.STATES_IN)
            if path == PYTHON:
                return DataPath(_name(PYTHON, why), plain, states)
            try:
                return DataPath(NATIVE, trigger, states, _native(
                    node, controller, decoder, states, commands, clock, tally, trigger, spin))
            except UNAVAILABLE:
                states.destroy()
                raise
        except UNAVAILABLE as error:
            if fallback is None:
                raise
            why.append(f'not {path}: {error}')
            node.get_logger().warning(f'data path {path!r} unavailable ({error}); falling back '
                                      f'to {fallback!r}')
    raise AssertionError('the last data path returns or raises')


def driver_path(trigger: str, states: DriverStates, node: Node) -> DataPath:
    """Return the data path of a driver in this process, with the Python loop."""
    if trigger == 'inline':
        node.get_logger().warning(INLINE_FALLBACK)
    return DataPath(DRIVER, 'state' if trigger == 'inline' else trigger, states)


def _name(path: str, why: list[str]) -> str:
    return f'{path} ({"; ".join(why)})' if why else path


def _native(node: Node, controller: Controller, decoder: JointStateDecoder,
            states: SerializedSubscription, commands: Publisher, clock: SimulationClock | None,
            tally: Tally, trigger: str, spin: float) -> 'NativeLoop':
    from ...realtime.native.runner import NativeLoop  # the controller works without it

    if plain():
        raise DataPathError(f'{PLAIN_VARIABLE} requests a control cycle in plain Python',
                            name='data_path', remedy=f'unset {PLAIN_VARIABLE}')
    _try_native(node)
    tick = clock.subscription if clock else None
    assert not isinstance(tick, ExecutorSubscription)# used without `states` only
    encoder = EffortEncoder(controller.model.nv)
    return NativeLoop(
        trigger, lambda: controller.inputs, controller.tau, decoder.arrays, encoder.message,
        encoder.numbers, states.handle, commands.handle,
        tick.handle if tick else None, tally, max_messages=states.most,
        rate=controller.settings.rate, spin=spin, fault_phase=guard.FAULT)


def compile_loop_ahead(wanted: str, trigger: str) -> None:
    """
    Compile or load the loop that :func:`open_transport` tries first, and its trial.

    On a new machine, a second process compiles the cycle meanwhile. Failures are ignored here:
    they recur in :func:`open_transport`, which logs them.
    """
    if wanted in ('auto', NATIVE) and not plain():
        with suppress(*UNAVAILABLE):
            compiled_loop(trigger)
            from ...realtime.native.probe import compiled_trial

            compiled_trial()


def compiled_loop(trigger: str) -> Any:
    """
    Return the compiled function of the native loop, the same for every robot.

    :raises: one of UNAVAILABLE.
    """
    from ...realtime.native import compile  # noqa: A004

    return compile.compiled_loop(trigger)


def _try_native(node: Node) -> None:
    """Send trial messages; raise an error unless they arrive unchanged."""
    from ...realtime.native.probe import probe

    heard = SerializedSubscription(node, Float64MultiArray, TRIAL_TOPIC, 10)
    ours = node.create_publisher(Float64MultiArray, TRIAL_TOPIC, 10)
    try:
        end = time.monotonic() + DISCOVERY_TIMEOUT
        while not (heard.publisher_count() and ours.get_subscription_count()) and (
                time.monotonic() < end):
            time.sleep(0.001)
        probe(heard.handle, ours.handle, ours.publish, heard.drain_numbered)
    finally:
        heard.destroy()
        node.destroy_publisher(ours)
