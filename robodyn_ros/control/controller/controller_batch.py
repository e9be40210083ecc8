# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Controllers of many equal arms, stepped together: for learning and random campaigns."""

import numpy as np
from numpy import ndarray

from .controller import Controller
from ..cycle.compile import batch_step
from ..settings.settings import Settings
from ..steps.cycle_data import CYCLE_INPUT
from ...dynamics.api import cpus, divided
from ...errors import ArgumentError
from ...model.robot import RobotModel
from ...state import no_state

# Fewer arms than this are not worth waking a second thread
MIN_THREADED = 128


class ControllerBatch:
    """
    Controllers of N equal arms, each with its own state machine, references and faults.

    One call steps all of them, on all cores if there are many. ``batch[3]`` is the
    :class:`Controller` of one arm, to be given references: ``batch[3].follow(waypoints, now)``.
    One thread calls :meth:`step`.

    :param model, settings, specialize: as of :class:`Controller`.
    :param count: N, at least 1.
    :raises RobodynError: see :class:`Controller`.

    >>> import numpy as np
    >>> from robodyn_ros import ControllerBatch, Dynamics, Settings, load_urdf
    >>> arm = load_urdf('two_link')
    >>> batch = ControllerBatch(arm, Settings(mode='gravity_compensation'), 3, specialize=False)
    >>> batch.state['position'], batch.state['velocity'] = [0.3, 0.5], 0.0
    >>> batch.state['effort'] = Dynamics(arm).gravity([0.3, 0.5])
    >>> batch.arm()
    >>> for k in range(100):
    ...     batch.state['received'] = now = 0.001 * k
    ...     sent = batch.step(now)
    >>> sent, batch.tau.shape
    (array([ True,  True,  True]), (3, 2))
    """

    def __init__(self, model: RobotModel, settings: Settings, count: int, *,
                 specialize: bool = True):
        if not isinstance(count, (int, np.integer)) or count < 1:
            raise ArgumentError(f'count is {count!r}', name='count', value=count,
                                remedy='pass the number of arms, a whole number of at least 1')
        count = int(count)
        #: (N, nv) :data:`~robodyn_ros.state.STATE`: the newest joint states, to be written.
        self.state = no_state(count * model.nv).reshape(count, model.nv)
        #: (N, nv) [N·m | N]: the efforts of the last step.
        self.tau = np.zeros((count, model.nv))
        first: Controller | None = None
        self._controllers: list[Controller] = []
        self._inputs = np.zeros(count, CYCLE_INPUT)
        for state, tau, inputs in zip(self.state, self.tau, self._inputs.reshape(-1, 1)):
            one = Controller(model, settings, state, specialize=specialize, like=first)
            first = first or one
            one.pace = first.pace
            inputs[:] = one.cycle_input
            one.tau, one.cycle_input = tau, inputs
            self._controllers.append(one)
        self._published = np.zeros(count, np.bool_)
        self._addresses = np.zeros(count, np.int64)

    def __len__(self) -> int:
        return len(self._controllers)

    def __getitem__(self, arm: int) -> Controller:
        """Return the controller of an arm."""
        return self._controllers[arm]

    def step(self, now: float) -> ndarray:
        """
        Advance all controllers to ``now`` [s]; return (N,) whether each row of ``tau`` is sent.

        See :meth:`Controller.step`.
        """
        first = self._controllers[0]
        self._inputs['missed'] = first.missed_periods(now)
        if first.compiled.step is None:                 # plain Python
            for i, one in enumerate(self._controllers):
                self._published[i] = one.advance(now)
            return self._published.copy()
        self._addresses[:] = [one.write_inputs() for one in self._controllers]
        step = batch_step()

        def run(begin: int, end: int) -> None:
            step(self._addresses[begin:end], now, self.tau[begin:end],
                 self._published[begin:end])
        divided(run, len(self), cpus() if len(self) >= MIN_THREADED else 1)
        return self._published.copy()

    def arm(self) -> None:
        """Request arming of all arms, see :meth:`Controller.arm`."""
        for one in self._controllers:
            one.arm()

    def stop(self) -> None:
        """Request all arms to come to rest, see :meth:`Controller.stop`."""
        for one in self._controllers:
            one.stop()
