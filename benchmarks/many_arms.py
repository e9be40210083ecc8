# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
`make bench ARGS=many_arms`: many arms on one machine, each with a controller of its own.

Each arm is a plant (see :mod:`.plant`), which costs little, and a controller in a namespace of its
own. All plants publish at once; counted are the states that were answered with the efforts of that
state, those of them that were answered before the next state, and the time from a state to its
efforts: an echo answers all states, however late, a controller only the newest. Beside them stands
the processor time of the controllers, of the plants, and what nobody used, which says what gives
out first. Five series: arms at 1 kHz, likewise with all controllers in one process, and with the
echo (:mod:`.echo`) of each in the place of a controller, which is what the middleware and the
plants alone need; then one arm at several rates, and one of fewer joints.
"""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, ExitStack
import json
from pathlib import Path
from time import monotonic
from typing import Annotated, Any, NamedTuple

import numpy as np
from rich.console import Console
from robodyn_ros.cli.options import plain
from robodyn_ros.demo.run import environment
from robodyn_ros.nodes.clients.processes import Child, ending_once
from robodyn_ros.realtime.system_checks import REALTIME_PRIORITY
import typer

from . import machine, many_arms_results as results, pages
from .loop_peers import answering, await_answer, echo, Peer, process_time
from .loop_results import figures
from .plant import ARMS, Done, Remote, ROBOT, robot, ROOT

OUTPUT = ROOT / 'build' / 'bench'
RATE, RATES = 1000.0, (250.0, 500.0, 2000.0, 4000.0)    # Hz
MOST, NUMBERS, FEWER = 8, (1, 2, 4, 6, 8, 10, 12, 16), (2, 4, 8)   # arms; of other series
REST = 100.0                    # Hz of arms that wait while others start
SECONDS, QUICK, WARM = 8.0, 1.0, 0.5    # s of a measurement, and before each
# A machine that is too slow is what is measured: it is no fault here
TOLERANT = {'state_timeout': 1.0, 'missed_limit': 10**6, 'late_limit': 100.0,
            'flight_recorder': 0.0, 'autostart': 'true', 'arming_timeout': 60.0,
            'trigger': 'state', 'robot_compensates_gravity': 'false'}
NATIVE = 'native'               # the data path


class Pair(NamedTuple):
    """A plant and its controller, which several plants may share."""

    plant: Remote
    controller: Child


def bench(most: Annotated[int, typer.Option(min=1, help='Arms at last.')] = MOST,
          quick: Annotated[bool, typer.Option(
              '--quick', help='One arm and two, a second each, for a first look.')] = False,
          fifo: Annotated[bool, typer.Option(
              '--fifo', help='Controllers with SCHED_FIFO.')] = False,
          output: Annotated[Path, typer.Option(help='Where results go.')] = OUTPUT,
          docs: Annotated[bool, typer.Option(
              '--docs', help='Copy picture and results to docs/, and write the figures in its '
              'pages anew.')] = False) -> None:
    """Measure arms, rates and joints; print the tables, and write them with a picture."""
    console = Console(highlight=False, markup=False, emoji=False)
    output = output.resolve()
    folder = output / 'many_arms'
    folder.mkdir(parents=True, exist_ok=True)
    seconds, most = (QUICK, 2) if quick else (SECONDS, most)
    about, env = machine.conditions(), environment(folder)
    rows: dict[str, list[dict[str, Any]]] = {}

    def measure(series: str, pairs: list[Pair], name: str, rate: float) -> None:
        row = {'robot': name, 'joints': robot(name).nv, 'arms': len(pairs), 'rate': rate,
               **_measured(pairs, rate, seconds)}
        rows.setdefault(series, []).append(row)
        console.print(f'{series}: {results.brief(row)}', soft_wrap=True)

    with ending_once(), ExitStack() as running:
        pairs: list[Pair] = []
        for number in range(1, most + 1):
            pairs += running.enter_context(_arms(ROBOT, [number], folder, env, fifo))
            if number in NUMBERS or number == most:
                measure('arms', pairs, ROBOT, RATE)
            if number == 1:
                for rate in RATES:
                    measure('rates', pairs, ROBOT, rate)
    for number in FEWER:
        if number <= most:
            with ending_once(), _arms(ROBOT, range(1, number + 1), folder, env, fifo) as pairs:
                measure('together', pairs, ROBOT, RATE)
    with ending_once(), ExitStack() as running:
        pairs = []
        for number in range(1, most + 1):
            pairs.append(running.enter_context(_echoed(number, folder, env)))
            if number in FEWER:
                measure('echo', pairs, ROBOT, RATE)
    for name in ARMS:
        if name != ROBOT:
            with ending_once(), _arms(name, [1], folder, env, fifo) as pairs:
                measure('joints', pairs, name, RATE)
    alone = rows['arms'][0]
    rows['rates'] = sorted([*rows['rates'], alone], key=lambda row: row['rate'])
    rows['joints'] = [*rows['joints'], alone]
    found = {'machine': about, 'seconds': seconds, 'fifo': fifo, 'series': rows}
    (output / 'many_arms.json').write_text(
        json.dumps(plain(found), indent=1, allow_nan=False) + '\n')
    results.draw(found, output / 'many_arms.png')
    console.print(results.markdown(found), soft_wrap=True)
    if docs:
        pages.publish(output / 'many_arms.json')


@contextmanager
def _arms(name: str, numbers: Sequence[int], folder: Path, env: Mapping[str, str], fifo: bool
          ) -> Iterator[list[Pair]]:
    """Yield arms that are answered: one by a controller, several by controllers in one process."""
    namespaces = list(map(_namespace, numbers))
    words = {**TOLERANT, 'urdf': name, 'data_path': NATIVE,
             'priority': str(REALTIME_PRIORITY if fifo else 0)}
    node = (['controller', '--ros-args', '-r', f'__ns:={namespaces[0]}'] if len(namespaces) == 1
            else ['controllers', *namespaces, '--ros-args'])
    command = ('-m', f'robodyn_ros.nodes.{node[0]}', *node[1:],
               '--params-file', str(ROOT / 'config' / f'{name}.yaml'),
               *(word for key, value in words.items() for word in ('-p', f'{key}:={value}')))
    peer = Peer(f'{name} {" ".join(map(str, numbers))}', command, fifo=fifo, path=NATIVE)
    with ExitStack() as running:
        plants = [running.enter_context(Remote(env, namespace, name, REST))
                  for namespace in namespaces]
        child = running.enter_context(answering(peer, plants[0], folder, env))
        for plant in plants[1:]:
            await_answer(peer, plant, child)
        yield [Pair(plant, child) for plant in plants]


@contextmanager
def _echoed(number: int, folder: Path, env: Mapping[str, str]) -> Iterator[Pair]:
    """Yield an arm that an echo answers."""
    namespace = _namespace(number)
    with Remote(env, namespace, ROBOT, REST) as plant, answering(
            echo(f'echo {number}', 'reliable', namespace), plant, folder, env) as child:
        yield Pair(plant, child)


def _namespace(number: int) -> str:
    return f'/arm{number}'


def _measured(pairs: list[Pair], rate: float, seconds: float) -> dict[str, Any]:
    """Let all plants publish at once; return figures, times those of the worst arm."""
    children = {pair.controller.pid: pair.controller for pair in pairs}
    for child in children.values():
        child.check()
    groups = {'controllers': list(children), 'plants': [pair.plant.pid for pair in pairs]}

    def used() -> dict[str, float]:
        return {key: sum(map(process_time, pids)) for key, pids in groups.items()}

    def publish(seconds: float) -> list[Done]:
        return list(threads.map(lambda pair: pair.plant.publish(rate, seconds), pairs))

    with ThreadPoolExecutor(len(pairs)) as threads:
        publish(WARM)
        before, stolen, begin = used(), machine.Stolen(), monotonic()
        done = publish(seconds)
        took, after = monotonic() - begin, used()
    worst = [figures(one.found.trips) for one in done]
    trips = np.concatenate([one.found.trips for one in done])
    return {'answered': float(np.isfinite(trips).mean()), 'states': len(trips),
            'in time': float((trips <= 1.0 / rate).mean()),      # NaN: no answer
            'least answered': min(float(np.isfinite(one.found.trips).mean()) for one in done),
            **{key: max(one[key] for one in worst) for key in worst[0]},
            **{key: (after[key] - before[key]) / took for key in groups},
            'steal': stolen.share(), 'plants missed': sum(one.missed for one in done),
            'memory': sum(map(_memory, children)),
            'faults': sum(child.output.count('FAULT:') for child in children.values())}


def _memory(pid: int) -> float:
    """Return the proportional set size of a process [MiB]."""
    lines = Path(f'/proc/{pid}/smaps_rollup').read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith('Pss:')) / 1024


if __name__ == '__main__':
    typer.run(bench)
