# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The thread of the plant: commands in, states out, at a fixed rate or in lockstep."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future, wait
from queue import Empty, SimpleQueue
import threading
import time
from typing import Any, TypeVar

import numpy as np
from numpy import ndarray
from rclpy.impl.rcutils_logger import RcutilsLogger

from ..middleware.raw_subscription import ExecutorSubscription, SerializedSubscription
from ...errors import ParameterError, RobodynError, SimulationError, UnknownNameError
from ...realtime.periodic_timer import Grid, sharpen_timers
from ...simulation.drive import Drive
from ...simulation.plant import Obstacle, Plant, PlantState
from ...wire.codecs import EffortDecoder
from ...wire.decoders import ACCEPTED, REASONS

MAX_CATCH_UP = 0.1    # [s] of wall time that physics makes up for after an overrun
COMMAND_WAIT_SLICE = 10_000_000    # [ns] after which a wait for a command serves other requests
PAUSE_SLICE = 0.001    # [s] after which a pause serves other requests
END_CHECK_PERIOD = 0.1    # [s] between two looks whether the loop of a request has ended

T = TypeVar('T')


class SimulatorLoop:
    """
    Runs a drive on a thread of its own; everybody else reaches it through :meth:`call`.

    At a fixed rate the newest command of each period is taken, physics goes on by one period, and
    the state is published. After an overrun physics catches up with wall time, with the last
    command held as by real drives, and only the newest state is published.

    In lockstep this is so only while no commands come. The first one is thrown away and nothing
    is published until ``lockstep_settle`` passes without one: no more are under way then. From
    there the loop publishes a state, waits for exactly one command, moves on by one period, and
    so on. When none comes for ``lockstep_timeout`` the drive does what it does without commands,
    and the loop runs freely. A simulator in lockstep never catches up: each of its states is
    published, and a busy machine makes it slow.

    At :attr:`pause_at` the loop stands still and serves requests only: what is changed then acts
    at an exact time.

    :param commands: of std_msgs/Float64MultiArray, one effort a joint in the model's order.
    :param publish: takes each state; called on the thread of the loop.
    :param period_ns: of the states [ns].
    :param lockstep_timeout, lockstep_settle: wall time [s].
    :param real_time_factor: simulated seconds per second of wall time in lockstep, at most; 0: as
        fast as commands come.
    """

    def __init__(self, drive: Drive, commands: SerializedSubscription | ExecutorSubscription,
                 publish: Callable[[PlantState], None], log: RcutilsLogger, *, period_ns: int,
                 lockstep: bool = False, lockstep_timeout: float = 2.0,
                 lockstep_settle: float = 0.02, real_time_factor: float = 0.0):
        self.drive, self.lockstep, self.lockstep_timeout = drive, lockstep, lockstep_timeout
        self.pause_at = 0.0                     # s, simulation time; 0: never
        self.missed = 0                         # periods of which no state was published
        self.refused: Counter[str] = Counter()  # commands, by the reason
        self.error: RobodynError | None = None
        self._commands, self._publish, self._log = commands, publish, log
        self._settle_ns = round(1e9 * lockstep_settle)
        self._decoder = EffortDecoder(drive.plant.model.nv)
        self._tau = np.zeros(drive.plant.model.nv)
        self._grid = Grid(period_ns)
        self._pace_ns = round(period_ns / real_time_factor) if real_time_factor else 0
        self._due_ns = 0                        # of the next state in lockstep
        self._most_missed = round(MAX_CATCH_UP * 1e9 / period_ns)
        self._requests: SimpleQueue[tuple[Callable[[], Any], Future]] = SimpleQueue()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name='simulator_loop', daemon=True)

    @property
    def running(self) -> bool:
        """Whether the thread runs; ``error`` is the reason of a failure."""
        return self._thread.is_alive()

    @property
    def lateness_ns(self) -> int:
        """Time since the state of the present period was due [ns]; not in lockstep."""
        return time.monotonic_ns() - self._grid.deadline

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread and wait for it."""
        self._stop.set()
        self._commands.wake()
        if self.running:
            self._thread.join()

    def call(self, function: Callable[[], T]) -> T:
        """
        Run ``function`` in the thread of the loop between two periods; return its result.

        :raises SimulationError: the loop has ended before it.
        """
        future: Future = Future()
        self._requests.put((function, future))
        self._commands.wake()
        while not wait([future], END_CHECK_PERIOD).done:
            if not self.running and not future.done():
                raise SimulationError('the simulation has ended', name='simulator',
                                      remedy='start the simulator again')
        return future.result()

    def restart(self) -> None:
        """Forget commands that wait and run freely; on the thread of the loop only."""
        self._commands.drain()
        self._grid.start()
        self._phase = self._free

    def _run(self) -> None:
        sharpen_timers()
        self.restart()
        try:
            while not self._stop.is_set():
                self._serve()
                if not self._pauses():
                    self._phase()
        except RobodynError as error:
            self.error = error

    def _serve(self) -> None:
        while True:
            try:
                function, future = self._requests.get_nowait()
            except Empty:
                return
            try:
                future.set_result(function())
            except RobodynError as error:       # for the caller: the plant goes on
                future.set_exception(error)

    def _pauses(self) -> bool:
        """Return whether the simulation is paused, after a moment in which no time passes."""
        plant = self.drive.plant
        if not 0.0 < self.pause_at < plant.time + 0.5 * plant.period:
            return False
        time.sleep(PAUSE_SLICE)
        self._grid.start()
        self._patience = time.monotonic() + self.lockstep_timeout
        return True

    def _free(self) -> None:
        missed = self._grid.wait()
        self.missed += missed
        now = time.monotonic_ns()
        commands = self._take()
        if commands and self.lockstep:
            self._first_command = self._last_command = now
            self._phase = self._settle
            return
        if commands:
            self.drive.command(commands[-1], now * 1e-9)
        self.drive.watch(now * 1e-9)
        self._advance(1 if self.lockstep else 1 + min(missed, self._most_missed))

    def _settle(self) -> None:
        arrived = self._commands.wait(self._settle_ns)
        now = time.monotonic_ns()
        if arrived:
            self._commands.drain()
            self._last_command = now
            if now - self._first_command > 1e9 * self.lockstep_timeout:
                self._log.warning('lockstep: commands come without states being published; the '
                                  'controller must answer states (trigger: state)',
                                  throttle_duration_sec=10.0)
                self.restart()
        elif now - self._last_command >= self._settle_ns:
            self._log.info('lockstep begins: each state waits for a command')
            self._locked_step()

    def _locked(self) -> None:
        if commands := self._take():
            if len(commands) > 1:
                self._log.warning(f'lockstep: {len(commands)} commands for one state, the last '
                                  'is taken; is there a second controller, or one with a timer?',
                                  throttle_duration_sec=10.0)
            self.drive.command(commands[-1], time.monotonic())
            self._locked_step()
        elif time.monotonic() > self._patience:
            self._log.warning(f'lockstep ends: no command for {self.lockstep_timeout:g} s')
            self.drive.expire(self.lockstep_timeout)
            self.restart()
        else:
            self._commands.wait(COMMAND_WAIT_SLICE)

    def _locked_step(self) -> None:
        now = time.monotonic_ns()
        if now < self._due_ns:
            self._phase = self._locked_step
            time.sleep(1e-9 * min(self._due_ns - now, COMMAND_WAIT_SLICE))
            return
        self._due_ns = max(now, self._due_ns + self._pace_ns)
        self._advance(1)
        self._patience = time.monotonic() + self.lockstep_timeout
        self._phase = self._locked

    def _advance(self, periods: int) -> None:
        self.drive.advance(periods)
        self._publish(self.drive.state())

    def _take(self) -> list[ndarray]:
        """Return the usable commands that wait, oldest first."""
        usable = []
        for message in self._commands.drain():
            code = self._decoder.decode(message, self._tau)
            if code == ACCEPTED:
                usable.append(self._tau.copy())
                continue
            if not self.refused[REASONS[code]]:
                self._log.warning(f'command refused, as all like it will be: {REASONS[code]} '
                                  f'({self.drive.plant.model.nv} finite numbers are awaited)')
            self.refused[REASONS[code]] += 1
        return usable


VECTORS = 'obstacle_point', 'obstacle_surface', 'obstacle_normal'
MIN_NORMAL_LENGTH = 1e-6


def obstacle_of(values: Mapping[str, Any], links: Collection[str]) -> Obstacle | None:
    """
    Return the obstacle that the parameters describe, None where ``obstacle_link`` is empty.

    :param values: all parameters of the node, by name.
    :param links: links of the robot.
    :raises ParameterError: a vector has not three numbers, or the normal has no direction.
    :raises UnknownNameError: the robot has no such link.
    """
    link = values['obstacle_link']
    if not link:
        return None
    if link not in links:
        raise UnknownNameError('link', link, list(links))
    for name in VECTORS:
        if len(values[name]) != 3:
            raise ParameterError(f'{name} has {len(values[name])} elements', name=name,
                                 value=values[name], remedy='use three numbers: x, y, z')
    point, surface, normal = (np.array(values[name], float) for name in VECTORS)
    if np.linalg.norm(normal) < MIN_NORMAL_LENGTH:
        raise ParameterError('obstacle_normal has no direction', name='obstacle_normal',
                             value=normal.tolist(), remedy='use a vector that is not zero')
    return Obstacle(link, point, surface, normal, values['obstacle_stiffness'])


def obstacle_parameters(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of the obstacle among those of the node."""
    return {name: value for name, value in values.items() if name.startswith('obstacle_')}


def put(plant: Plant, obstacle: Obstacle | None) -> None:
    """Replace the obstacles of a plant, on the thread that steps it."""
    plant.remove_obstacles()
    if obstacle is not None:
        plant.obstacles.append(obstacle)
