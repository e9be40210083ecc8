# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
The control loop of an arm in a process of its own, for programs that hold up theirs for long.

:class:`ArmProcess` starts it and asks; :class:`Answers` answers between two cycles. When the
program ends, in any way, the loop brings the arm to rest and exits.
"""

from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
import os
from select import select
import signal
import socket
import subprocess
import sys
from time import monotonic, sleep
from typing import Any

from robodyn_ros import Controller, drive, load_urdf, Settings, suggest_gains
from robodyn_ros.driver import DriverLost, facts_of, make
from robodyn_ros.driver_loop import PartnerLink, TargetStream, with_facts
from robodyn_ros.errors import DriverError, RobodynError


class ArmProcess:
    """
    An arm whose control loop runs in a process of its own.

    :param options: ``urdf`` and ``load``, further arguments of :func:`~robodyn_ros.load_urdf`;
        ``driver``, ``driver_options``; ``settings`` of the controller, for which missing gains are
        suggested; ``link``: name of a :class:`.PartnerLink`, '' for none.
    :raises RobodynError: they cannot be used.
    """

    def __init__(self, **options: Any):
        ours, theirs = socket.socketpair()
        with theirs:        # in a session of its own, which Ctrl-C does not reach
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(theirs.fileno())], pass_fds=[theirs.fileno()],
                start_new_session=True)
        self._connection = Connection(ours.detach())
        self.ask(options)

    def state(self, within: float = 0.0) -> dict[str, Any]:
        """
        Return the state of an arm that is driven, within a time [s].

        :raises DriverError: it is not, because of a fault, or because arming is refused.
        """
        end = monotonic() + within
        while (state := self.ask('state'))['phase'] != 'RUNNING':
            if state['reason'] != 'none' or monotonic() > end:
                raise DriverError('the arm is {phase}: {reason}; {refusal}'.format(**state),
                                  name='arm', remedy='remove the cause, and connect again')
            sleep(0.02)
        return state

    def ask(self, question: Any) -> Any:
        """Return the answer, or raise it, to 'state' or to targets [rad | m] by joint."""
        try:
            self._connection.send(question)
            answer = self._connection.recv()
        except (EOFError, OSError) as error:
            raise DriverError(f'the control loop has ended with {self._process.wait()}',
                              name='arm', remedy='see what it has printed') from error
        if isinstance(answer, Exception):
            raise answer
        return answer

    def close(self) -> None:
        """Bring the arm to rest, and end the process."""
        with suppress(OSError):
            self._connection.send('end')
        self._process.wait()
        self._connection.close()


class Answers:
    """Answers of a control loop to :class:`ArmProcess`; ``over`` is called after each cycle."""

    def __init__(self, controller: Controller, connection: Connection,
                 link: PartnerLink | None = None, clock: Callable[[], float] = monotonic):
        self.controller, self.ended, self._parent = controller, False, os.getppid()
        self._connection, self._link = connection, link
        self.stream = TargetStream(controller, clock)

    def over(self) -> bool:
        """Answer what has been asked; return whether the arm is to be brought to rest."""
        if self._link:
            self._link.exchange()
        self.stream.watch()
        try:
            if select([self._connection], [], [], 0.0)[0]:
                self._connection.send(self._answer(self._connection.recv()))
        except (EOFError, OSError):
            self.ended = True
        self.ended = self.ended or os.getppid() != self._parent     # others may hold the socket
        return self.ended

    def _answer(self, question: Any) -> Any:
        c = self.controller
        if question == 'end':
            raise EOFError
        if question == 'state':
            position, velocity = c.joint_state
            return {'phase': c.phase.name, 'reason': c.reason, 'refusal': c.arming_refusal,
                    'pos': position, 'vel': velocity, 'torque': c.tau.copy(),
                    'external_torque': c.external_effort}
        try:
            return self.stream.follow(question)
        except RobodynError as error:
            return error


def main(descriptor: int) -> None:
    """Run the control loop that :class:`ArmProcess` asks for, at its socket."""
    connection = Connection(descriptor)
    options = connection.recv()
    settings, link = options['settings'], options['link']
    try:
        model = load_urdf(options['urdf'], **options['load'])
        arm = make(options['driver'], model, options['driver_options'])
        model, known = with_facts(facts_of(arm), model, Settings(rate=settings['rate']))
        gains = suggest_gains(model, None, known)._asdict()
        controller = Controller(*with_facts(facts_of(arm), model,
                                            Settings(**{**gains, **settings}), settings))
    except RobodynError as error:
        connection.send(error)
        return
    answers = Answers(controller, connection, PartnerLink(controller, link) if link else None)
    signal.signal(signal.SIGTERM, lambda *_: setattr(answers, 'ended', True))
    connection.send(None)
    try:
        drive(controller, arm, answers.over)
    except DriverLost as error:
        sys.exit(f'robodyn_process: {error}')
    if controller.reason != 'none':
        sys.exit(f'robodyn_process: {controller.reason}')


if __name__ == '__main__':
    main(int(sys.argv[1]))
