# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
The dynamics of robots compared with generated C code: `python -m benchmarks.generated_c [ROBOT]`.

CasADi (`pip install casadi`) generates the code for one robot, from Pinocchio's algorithms and,
for inverse dynamics and gravity, from a plain Newton-Euler recursion; gcc compiles it for this
processor. It takes turns with the specialized kernels, and with Pinocchio
itself, in loops of compiled code.
"""

from collections.abc import Sequence
from contextlib import closing
import ctypes
import json
import os
from pathlib import Path
import subprocess
from typing import Annotated, Any

import numpy as np
from numpy import ndarray
import pinocchio as pin
from robodyn_ros import load_urdf, RobotModel
import typer

from .dynamics import compare, LOCKED, OUTPUT, robot_file, ROBOTS
from .generated_c_results import result
from . import pages, reference_cpp, reference_libraries, robodyn_subject
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
        folder = output / f'generated_{name}'
        folder.mkdir(exist_ok=True)
        reference_cpp.with_arrays(generator.generate, theirs, f'{folder}/'.encode())
        contestants |= _compiled(model.nv, order, states, folder, 'generated', names)
        folder = output / f'plain_{name}'
        folder.mkdir(exist_ok=True)
        write_recursion(model, folder)
        contestants |= _compiled(model.nv, np.arange(model.nv), states, folder, 'plain', names[:2])
        compare(model, states, contestants)
        return {'joints': model.nv, 'rows': result(interleaved(contestants, rounds, SECONDS))}


def write_recursion(model: RobotModel, folder: Path) -> None:
    """Write `generated.c`: inverse dynamics and gravity as in a textbook (Craig 2005, 6.45-53)."""
    import casadi as ca

    q, v, w = (ca.SX.sym(name, model.nv) for name in 'qvw')

    def constant(array: ndarray) -> Any:
        return ca.sparsify(ca.SX(ca.DM(array)))

    def efforts(v: Any, w: Any) -> Any:
        zero = ca.SX(3, 1)
        rotations, forces, moments = [], [], []
        motions = {-1: (zero, zero, constant(-model.gravity_vector))}
        for i, parent in enumerate(model.parent):
            z, k = constant(model.joint_axis[i]), int(model.driver[i])
            p, at, rate, acc = (constant(model.joint_origin[i]), model.ratio[i] * q[k]
                                + model.shift[i], model.ratio[i] * v[k], model.ratio[i] * w[k])
            R, cross = constant(model.joint_rotation[i]), ca.skew(z)
            if model.body_slides[i]:
                p = p + R @ z * at
            else:
                R = R @ (constant(np.eye(3)) + ca.sin(at) * cross
                         + (1 - ca.cos(at)) * (cross @ cross))
            W, dW, a = motions[parent]
            a = R.T @ (a + ca.cross(dW, p) + ca.cross(W, ca.cross(W, p)))
            W, dW = R.T @ W, R.T @ dW
            if model.body_slides[i]:
                a += 2 * ca.cross(W, z * rate) + z * acc
            else:
                dW += ca.cross(W, z * rate) + z * acc
                W += z * rate
            c, inertia = constant(model.com[i]), constant(model.inertia[i])
            F = model.mass[i] * (a + ca.cross(dW, c) + ca.cross(W, ca.cross(W, c)))
            motions[i] = W, dW, a
            forces.append(F)
            moments.append(inertia @ dW + ca.cross(W, inertia @ W) + ca.cross(c, F))
            rotations.append((R, p, z))
        tau = ca.SX(model.nv, 1)
        for i in range(model.nb - 1, -1, -1):
            (R, p, z), k, parent = rotations[i], int(model.driver[i]), int(model.parent[i])
            effort = forces[i] if model.body_slides[i] else moments[i]
            tau[k] += model.ratio[i] * ca.dot(z, effort)
            if parent >= 0:
                F = R @ forces[i]
                forces[parent] += F
                moments[parent] += R @ moments[i] + ca.cross(p, F)
        return ca.densify(tau + constant(model.armature) * w)

    still = ca.SX(model.nv, 1)
    code = ca.CodeGenerator('generated.c')
    code.add(ca.Function('inverse_dynamics', [q, v, w], [efforts(v, w)]))
    code.add(ca.Function('gravity', [q], [efforts(still, still)]))
    code.generate(f'{folder}/')


def _compiled(nv: int, order: ndarray, states: States, folder: Path, way: str,
              names: Sequence[str]) -> dict[tuple[str, str], Contestant]:
    """Return the contestants of `generated.c` in a folder, which has the quantities ``names``."""
    file = folder / 'generated.so'
    missing = [f'-D{name}=gravity' for name in reference_cpp.QUANTITIES if name not in names]
    done = subprocess.run(['gcc', *OPTIMIZED, '-w', '-fPIC', '-shared', f'-I{folder}', *missing,
                           str(LOOP), '-o', str(file), '-lm'], text=True, capture_output=True)
    if done.returncode:
        raise Missing(f'gcc: {done.stderr}')
    library = ctypes.CDLL(str(file))

    def contestant(quantity: int) -> Contestant:
        def run(count: int, states: int, *arrays: ctypes.c_void_p) -> None:
            library.run(quantity, ctypes.c_long(count), ctypes.c_long(states),
                        ctypes.c_long(nv), *arrays)
        return reference_cpp.loop_contestant(run, names[quantity], nv, states, order)
    return {(name, way): contestant(k) for k, name in enumerate(names)}


if __name__ == '__main__':
    typer.run(bench)
