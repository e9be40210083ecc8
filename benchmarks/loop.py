# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
`make bench ARGS=loop`: our controller beside nodes as rclpy's tutorials write them, in turns.

All answer the joint states of one plant (see :mod:`.plant`) with the gravity efforts of the same
arm, computed by the same compiled function; but for the echo (see :mod:`.echo`), which answers
with the positions and is the floor of what the transport allows. A state without an answer counts
as one that took for ever. A peer is started anew for each of its turns and ends
with it: nobody takes processor time while another one is measured, and what one start happens to
get (where memory lies, which CPU the middleware's threads run on) is not taken for a property of
the peer. The order moves on by one from round to round.
"""

from collections.abc import Callable, Mapping
import json
import os
from pathlib import Path
import re
import sys
from time import monotonic
from typing import Annotated, Any

import numpy as np
from rich.console import Console
from robodyn_ros.cli.options import plain
from robodyn_ros.demo.run import environment
from robodyn_ros.nodes.clients.processes import ending_once
from robodyn_ros.realtime.scheduling import Scheduling
from robodyn_ros.realtime.system_checks import attempt, REALTIME_PRIORITY
import typer

from . import echo, loop_results as results, machine, pages
from .interleaved_timer import Missing
from .loop_peers import answering, ECHO, PEERS, process_time, WAKE_UPS, wake_ups
from .loop_picture import draw
from .plant import Done, Remote, ROOT

OUTPUT = ROOT / 'build' / 'bench'
SECONDS = {1000: 4.0, 4000: 1.5, 10000: 1.5}    # by the rate of the states [Hz]
WAKE_UP_SECONDS = 4.0
ROUNDS, WAKE_UP_ROUNDS = 5, 3
QUICK = 0.1                 # share of the time
BUSY = 0.7                  # load average: more is somebody else
TRIES = 5                   # of a turn
WIDTH = 140                 # of tables in a file


def bench(peers: Annotated[list[str] | None, typer.Argument(
              metavar='[PEER] ...', show_default='all',
              help=f'Among {", ".join((*PEERS, *WAKE_UPS))}.')] = None,
          quick: Annotated[bool, typer.Option(
              '--quick', help='One short round, for a first look.')] = False,
          rounds: Annotated[int | None, typer.Option(
              min=1, show_default=f'{ROUNDS}; {WAKE_UP_ROUNDS} of wake-ups',
              help='Turns that each peer gets.')] = None,
          output: Annotated[Path, typer.Option(help='Where results go.')] = OUTPUT,
          docs: Annotated[bool, typer.Option(
              '--docs', help='Copy picture and results to docs/, and write the figures in its '
              'pages anew.')] = False,
          ) -> None:
    """Time the loop beside rclpy nodes; ratios are medians over rounds of ratios in a round."""
    chosen = peers or [*PEERS, *WAKE_UPS]
    if unknown := set(chosen) - {*PEERS, *WAKE_UPS}:
        raise typer.BadParameter(f'no such peer: {", ".join(sorted(unknown))}')
    if docs and peers:
        raise typer.BadParameter('--docs is for all peers: without others, their figures would '
                                 'be lost')
    console = Console(highlight=False, markup=False, emoji=False,
                      width=None if sys.stdout.isatty() else WIDTH)

    def say(line: str) -> None:
        console.print(line, soft_wrap=True)
    output, load = output.resolve(), os.getloadavg()[0]
    folder = output / 'loop'
    folder.mkdir(parents=True, exist_ok=True)
    if load > BUSY:
        say(f'This machine is busy (load average {load:.1f}): the figures will be noisy.')
    about = machine.conditions() | {'load': load, 'echo': _echo_program(chosen, folder, say)}
    for flag, wanted in (('fifo', Scheduling(priority=REALTIME_PRIORITY)),
                         ('awake', Scheduling(keep_awake=True))):
        if refused := attempt(wanted).refused:
            say(f'Without those that ask for it: {refused[0]}')
            chosen = [key for key in chosen if not getattr((PEERS | WAKE_UPS)[key], flag)]
    wake_costs, stolen = [machine.wake_costs()], machine.Stolen()
    env, share = environment(folder), QUICK if quick else 1.0
    with ending_once(), Remote(env) as plant:
        asked = _Turns(plant, folder, env, share, say)
        trips = asked.turns([key for key in chosen if key in PEERS],
                            rounds or (1 if quick else ROUNDS), asked.trips)
        late = asked.turns([key for key in chosen if key in WAKE_UPS],
                           rounds or (1 if quick else WAKE_UP_ROUNDS), asked.late)
    wake_costs.append(machine.wake_costs())
    about |= {'plant': plant.scheduling, 'steal': stolen.share(),
              'wake-up [µs], before and after': wake_costs}
    found: dict[str, Any] = {
        'machine': about, 'rounds': rounds or (1 if quick else ROUNDS),
        'faults': asked.faults, 'peers': results.summary(trips),
        'wake_ups': results.wake_up_summary(late),
        'raw': {'peers': trips, 'wake_ups': late}}
    found['expected'] = results.expectations(found['peers'], found['wake_ups'])
    results.show(console, found)
    (output / 'loop.json').write_text(
        json.dumps(plain(found), indent=1, allow_nan=False) + '\n')
    (output / 'loop.md').write_text(results.markdown(found))
    draw(found, output / 'loop.png')
    say(f'Results, table and picture are in {output}, logs in {folder}.')
    if docs:
        pages.publish(output / 'loop.json')
        say('Picture and figures are in docs/.')
    if not all(row['met'] for row in found['expected']):
        raise typer.Exit(1)


def _echo_program(chosen: list[str], folder: Path, say: Callable[[str], None]) -> str:
    """Compile the echo, so that no turn waits for it; return what it is made of."""
    if not any(PEERS[key].answer == PEERS[ECHO].answer for key in chosen if key in PEERS):
        return 'none'
    try:
        echo.program(folder)
    except Missing as missing:
        say(f'Without the echo of C++, in its place one of our own compiled functions: {missing}.')
        return f'compiled functions of this package: {missing}'
    return 'C++'


class _Turns:
    """Runs peers by turns."""

    def __init__(self, plant: Remote, folder: Path, env: Mapping[str, str], share: float,
                 say: Callable[[str], None]):
        self._plant, self._folder, self._env = plant, folder, env
        self._share, self._say = share, say
        self.faults: dict[str, int] = {}        # turns that were taken again, by peer

    def turns(self, keys: list[str], rounds: int, turn: Callable[[str], dict[str, Any]]
              ) -> dict[str, results.Rounds]:
        """Return what each of them gets out of its turns."""
        found: dict[str, results.Rounds] = {key: [] for key in keys}
        for k in range(rounds):
            first = k % max(1, len(keys))
            for key in (*keys[first:], *keys[:first]):
                found[key].append(turn(key))
                self._say(f'round {k + 1} of {rounds}: {key} {self._brief(found[key][-1])}')
        return found

    def trips(self, key: str) -> dict[str, Any]:
        """
        Take the time of round trips, and of the processor, at each rate of the states.

        A turn in which our controller comes to a fault is none, for the few states before it say
        nothing: it is counted and taken again. On a machine so busy that it comes to one in each,
        the states without an answer count.
        """
        for left in reversed(range(TRIES)):
            one, fault = self._trips(key)
            if not fault:
                return one
            self.faults[key] = self.faults.get(key, 0) + 1
            if not left or self.faults[key] > TRIES:    # nor are later turns taken again
                break
            self._say(f'{key} is taken again, it came to a {fault}')
        self._say(f'{key} came to a {fault}: it is measured on a machine that is too busy for it')
        return one

    def _trips(self, key: str) -> tuple[dict[str, Any], str]:
        out = {}
        with answering(PEERS[key], self._plant, self._folder, self._env) as child:
            for rate, seconds in SECONDS.items():
                child.check()
                stolen = machine.Stolen()
                spent, begin = process_time(child.pid), monotonic()
                done = self._plant.publish(rate, seconds * self._share)
                took = monotonic() - begin
                out[str(rate)] = {'cpu': (process_time(child.pid) - spent) / took,
                                  'steal': stolen.share(), **_told(done)}
            return out, ''.join(re.findall(r'FAULT \w+: .*', child.output)[:1])

    def late(self, key: str) -> dict[str, Any]:
        """Take the errors of wake-ups."""
        late = wake_ups(key, self._plant, self._folder, self._env,
                        WAKE_UP_SECONDS * self._share)
        return {**results.figures(late), 'cycles': len(late)}

    @staticmethod
    def _brief(one: dict[str, Any]) -> str:
        x = one.get(str(results.RATES[0]), one)
        return f'p50 {x["p50"]:.1f} p99 {x["p99"]:.1f} µs'


def _told(done: Done) -> dict[str, Any]:
    trips = done.found.trips
    return {**results.figures(trips), 'answered': float(np.isfinite(trips).mean()),
            'states': len(trips), 'efforts': done.heard, 'surplus': done.found.surplus,
            'foreign': done.found.foreign, 'plant missed': done.missed}


if __name__ == '__main__':
    typer.run(bench)
