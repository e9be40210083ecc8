# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`make bench`: the dynamics of robots beside Pinocchio, MuJoCo and NumPy, in one process."""

from collections.abc import Callable, Mapping
from contextlib import closing
import json
import os
from pathlib import Path
import platform
import sys
from typing import Annotated, Any

import mujoco
import numba
import numpy as np
from numpy import ndarray
import pinocchio as pin
from rich.console import Console
from robodyn_ros import Dynamics, load_urdf, RobotModel
from robodyn_ros.model.resources import robot_path
import typer

from . import (
    pages, reference_cpp, reference_libraries, reference_optional, results, robodyn_subject)
from .interleaved_timer import Contestant, interleaved, Missing, STATES, States
from .picture import draw

ROOT = Path(__file__).resolve().parents[1]
OUTPUT = ROOT / 'build' / 'bench'
ROBOTS = ('panda', 'ur5', 'talos')
TALOS = 'talos_data/robots/talos_reduced.urdf'
LOCKED = {'panda': {'panda_finger_joint1': 0.03, 'panda_finger_joint2': 0.03}}
AGREE = {'mujoco': 1e-6}        # relative to the largest entry; all others 1e-10
BUSY = 0.7                      # load average: more is somebody else
WIDTH = 120                     # of tables in a file

Contestants = dict[tuple[str, str], Contestant]


def bench(robots: Annotated[list[str] | None, typer.Argument(
              metavar='[ROBOT] ...', show_default=' '.join(ROBOTS),
              help='Names or paths of URDF files.')] = None,
          quick: Annotated[bool, typer.Option(
              '--quick', help='Seconds a robot, for a first look.')] = False,
          cpp: Annotated[bool, typer.Option(help='Beside Pinocchio in C++, too.')] = True,
          output: Annotated[Path, typer.Option(help='Where results go.')] = OUTPUT,
          docs: Annotated[bool, typer.Option(
              '--docs', help='Copy picture and results to docs/, and write the figures in its '
              'pages anew.')] = False,
          ) -> None:
    """Time the dynamics beside others, in turns, on one core; ratios are medians over rounds."""
    width = None if sys.stdout.isatty() else WIDTH
    if docs and robots:
        raise typer.BadParameter('--docs is for all robots: without others, their figures would '
                                 'be lost')
    console = Console(highlight=False, markup=False, emoji=False, width=width)

    def say(line: str) -> None:
        console.print(line, soft_wrap=True)

    output.mkdir(parents=True, exist_ok=True)
    rounds, seconds = (5, 0.0005) if quick else (60, 0.003)
    load = os.getloadavg()[0]
    library = None
    if cpp:
        try:
            library = reference_cpp.library(output, say)
        except Missing as missing:
            say(f'Without Pinocchio in C++, and all that is compared with it: {missing}.')
    if docs and library is None:
        raise SystemExit('The tables in docs/ are about Pinocchio in C++: nothing is measured.')
    found: dict[str, Any] = {'machine': _machine(load, library is not None), 'rounds': rounds,
                             'seconds': seconds, 'robots': {}}
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    if load > BUSY:
        say(f'This machine is busy (load average {load:.1f}): the figures will be noisy.')
    for name in robots or ROBOTS:
        say(f'{name}: compiling, comparing, timing ...')
        found['robots'][name] = result = _robot(name, library, rounds, seconds, say)
        results.show(console, name, result)
    (output / 'dynamics.json').write_text(json.dumps(found, indent=1) + '\n')
    (output / 'dynamics.md').write_text(results.markdown(found))
    draw(found, output / 'dynamics.png')
    say(f'Results, table and picture are in {output}.')
    if docs:
        pages.publish(output / 'dynamics.json')
        say('Picture and figures are in docs/ and in README.md.')


def _robot(name: str, library, rounds: int, seconds: float, say: Callable[[str], None]
           ) -> dict[str, Any]:
    """Return the result of one robot; RuntimeError if somebody computes something else."""
    urdf, locked = robot_file(name).read_text(), LOCKED.get(name, {})
    model = load_urdf(urdf, locked=locked)
    states = States(model.nv)
    with closing(_All(model, urdf, locked, states, library, say)) as everybody:
        compare(model, states, everybody.contestants)
        times = interleaved(everybody.contestants, rounds, seconds)
    return {'joints': model.nv, 'rows': results.rows(times, model.nv)}


class _All:
    """Everybody who computes something of a robot, by quantity and way."""

    def __init__(self, model: RobotModel, urdf: str, locked: Mapping[str, float], states: States,
                 library, say: Callable[[str], None]):
        theirs, order = reference_libraries.pinocchio_model(urdf, model, locked)
        self._loop = reference_cpp.CompiledPinocchio(library, theirs) if library else None
        names = tuple(results.QUANTITIES)
        everybody: Contestants = {
            **dict(robodyn_subject.contestants(model, states, names, loops=library is not None)),
            **dict(reference_libraries.binding(theirs, order, states)),
            **dict(reference_libraries.numpy(model, states))}
        try:
            everybody |= dict(reference_libraries.mujoco_contestants(urdf, model, locked, states))
        except Missing as missing:
            say(f'Without MuJoCo: {missing}.')
        everybody |= reference_optional.optional(urdf, model, locked, states, say)
        if self._loop:
            everybody |= {(name, 'cpp'): self._loop.contestant(name, states, order)
                          for name in names}
        # Those who compute the same, beside one another
        self.contestants = {key: everybody[key] for name in names
                            for key in everybody if key[0] == name}

    def close(self) -> None:
        """Free what is not Python's."""
        if self._loop:
            self._loop.close()


def compare(model: RobotModel, states: States, contestants: Contestants) -> None:
    """Raise RuntimeError if one of them computes something else than :class:`Dynamics` does."""
    dynamics = Dynamics(model)
    for (quantity, way), contestant in contestants.items():
        count = len(robodyn_subject.QUANTITIES[quantity].inputs)
        for k in range(STATES):
            right = getattr(dynamics, quantity)(*(table[k] for table in states.inputs(count)))
            error = _difference(contestant.answer(k), right)
            if not error <= AGREE.get(way, 1e-10):
                raise RuntimeError(f'{model.name}: {quantity} of {way} differs by {error:.1e}, '
                                   'relative to its largest entry')


def _difference(found: ndarray, right: ndarray) -> float:
    return float(np.abs(found - right).max() / np.abs(right).max())


def robot_file(name: str) -> Path:
    """Return the URDF of a robot."""
    if name != 'talos':
        return robot_path(name)
    return robot_path('panda').parents[2] / TALOS


def _machine(load: float, cpp: bool) -> dict[str, Any]:
    lines = Path('/proc/cpuinfo').read_text().splitlines()
    cpu = next((line.split(':')[1].strip() for line in lines if line.startswith('model name')),
               platform.machine())
    return {'cpu': cpu, 'load': load, 'python': platform.python_version(),
            'numba': numba.__version__, 'pinocchio': pin.__version__, 'mujoco': mujoco.__version__,
            'compiler': (' '.join((reference_cpp.compiler_version(), *reference_cpp.FLAGS))
                         if cpp else None)}


if __name__ == '__main__':
    typer.run(bench)
