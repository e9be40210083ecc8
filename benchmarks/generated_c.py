# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
The dynamics of robots compared with generated C code: `python -m benchmarks.generated_c [ROBOT]`.

CasADi (`pip install casadi`) generates the code from Pinocchio's algorithms for one robot; gcc
compiles it for this processor. It takes turns with the specialized kernels, and with Pinocchio
itself, in loops of compiled code.
"""

from contextlib import closing
import ctypes
import json
import os
from pathlib import Path
import subprocess
from typing import Annotated, Any

from numpy import ndarray
import pinocchio as pin
from robodyn_ros import load_urdf
import typer

from . import pages, reference_cpp, reference_libraries, robodyn_subject
from .dynamics import compare, LOCKED, OUTPUT, robot_file, ROBOTS
from .generated_c_results import result
from .interleaved_timer import Contestant, interleaved, Missing, States
from .machine import processor

GENERATOR = Path(__file__).with_name('pinocchio_codegen.cpp')
LOOP = Path(__file__).with_name('generated_loop.c')
OPTIMIZED = '-O3', '-march=native'
ROUNDS, SECONDS = 60, 0.003


def bench(robots: Annotated[list[str] | None, typer.Argument(
              metavar='[ROBOT] ...', show_default=' '.join(ROBOTS),
              help='Names of robots.')] = None,
          rounds: Annotated[int, typer.Option(help='Rounds of all in turn.')] = ROUNDS,
          output: Annotated[Path, typer.Option(help='Folder of the results.')] = OUTPUT,
          docs: Annotated[bool, typer.Option(
              '--docs', help='Copy the results to docs/ and update its pages.')] = False) -> None:
    """Time inverse dynamics and others in turns on one core; ratios are medians over rounds."""
    output.mkdir(parents=True, exist_ok=True)
    load = os.getloadavg()[0]
    try:
        generator, version = _generator(output)
        library = reference_cpp.library(output, print)
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
        found = {name: _robot(name, generator, library, output, rounds)
                 for name in robots or ROBOTS}
    except Missing as missing:
        raise SystemExit(f'Nothing is measured: {missing}') from None
    compiler = subprocess.run(['gcc', '--version'], text=True, capture_output=True).stdout
    file = output / 'generated_c.json'
    file.write_text(json.dumps({
        'machine': {'cpu': processor(), 'load': load, 'pinocchio': pin.__version__,
                    'casadi': version, 'compiler': compiler.splitlines()[0],
                    'flags': ' '.join(OPTIMIZED)},
        'rounds': rounds, 'robots': found}, indent=1) + '\n')
    print(file.read_text())
    if docs:
        pages.publish(file)


def _generator(folder: Path) -> tuple[ctypes.CDLL, str]:
    """Return the compiled generator, and the version of CasADi."""
    try:
        import casadi
    except ImportError as error:
        raise Missing(f'{error}; `pip install casadi`') from None
    place = Path(casadi.__file__).parent
    flags = ('-O1', *(flag for flag in reference_cpp.FLAGS if flag not in OPTIMIZED))
    library = reference_cpp.compiled(GENERATOR, folder, print, flags, (
        f'-I{place / "include"}', f'-L{place}', '-lcasadi', f'-Wl,-rpath,{place}'))
    return library, casadi.__version__


def _robot(name: str, generator: ctypes.CDLL, library: ctypes.CDLL, output: Path, rounds: int
           ) -> dict[str, Any]:
    """Return the result of one robot; RuntimeError if two of them differ."""
    urdf, locked = robot_file(name).read_text(), LOCKED.get(name, {})
    model = load_urdf(urdf, locked=locked)
    states, names = States(model.nv), reference_cpp.QUANTITIES
    theirs, order = reference_libraries.pinocchio_model(urdf, model, locked)
    with closing(reference_cpp.CompiledPinocchio(library, theirs)) as loop:
        contestants = {key: one for key, one in robodyn_subject.contestants(
            model, states, names, loops=True) if key[1] == 'loop'}
        contestants |= {(one, 'cpp'): loop.contestant(one, states, order) for one in names}
        contestants |= _generated(theirs, order, states, generator, output / f'generated_{name}')
        compare(model, states, contestants)
        return {'joints': model.nv, 'rows': result(interleaved(contestants, rounds, SECONDS))}


def _generated(model: pin.Model, order: ndarray, states: States, generator: ctypes.CDLL,
               folder: Path) -> dict[tuple[str, str], Contestant]:
    """Return the contestants of the code that is generated for a model."""
    folder.mkdir(exist_ok=True)
    reference_cpp.with_arrays(generator.generate, model, f'{folder}/'.encode())
    file = folder / 'generated.so'
    done = subprocess.run(['gcc', *OPTIMIZED, '-w', '-fPIC', '-shared', f'-I{folder}', str(LOOP),
                           '-o', str(file), '-lm'], text=True, capture_output=True)
    if done.returncode:
        raise Missing(f'gcc: {done.stderr}')
    library, names = ctypes.CDLL(str(file)), reference_cpp.QUANTITIES

    def contestant(quantity: int) -> Contestant:
        def run(count: int, states: int, *arrays: ctypes.c_void_p) -> None:
            library.run(quantity, ctypes.c_long(count), ctypes.c_long(states),
                        ctypes.c_long(model.nv), *arrays)
        return reference_cpp.loop_contestant(run, names[quantity], model.nv, states, order)
    return {(name, 'generated'): contestant(k) for k, name in enumerate(names)}


if __name__ == '__main__':
    typer.run(bench)
