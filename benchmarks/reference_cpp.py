# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Pinocchio in a loop of C++: compiled here for this processor, called through ctypes."""

import ctypes
import hashlib
from pathlib import Path
import shutil
import subprocess

import llvmlite.binding
import numpy as np
from numpy import ndarray
import pinocchio as pin

from .interleaved_timer import Contestant, Missing, STATES, States, timed

SOURCE = Path(__file__).with_name('pinocchio_loop.cpp')
HEADER = Path(__file__).with_name('pinocchio_model.hpp')
# What Pinocchio's CMake targets define for whoever includes its headers, and how we compile them
FLAGS = ('-std=c++17', '-O3', '-march=native', '-DNDEBUG', '-w', '-fPIC', '-shared',
         '-DBOOST_MPL_LIMIT_LIST_SIZE=30', '-DBOOST_MPL_LIMIT_VECTOR_SIZE=30',
         '-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS', '-DBOOST_FUSION_INVOKE_MAX_ARITY=12')
QUANTITIES = ('inverse_dynamics', 'gravity', 'mass_matrix', 'forward_dynamics')
KINDS = {f'JointModel{kind}' for kind in ('RX', 'RY', 'RZ', 'PX', 'PY', 'PZ')}
MINUTES = 9


def library(folder: Path, say) -> ctypes.CDLL:
    """
    Return the compiled loop, see :func:`compiled`.

    :raises Missing: no compiler, no headers, or the two do not fit.
    """
    found = compiled(SOURCE, folder, say)
    found.robot_new.restype = ctypes.c_void_p
    found.run.restype = ctypes.c_double
    return found


def compiled(source: Path, folder: Path, say, flags: tuple[str, ...] = FLAGS,
             linked: tuple[str, ...] = ()) -> ctypes.CDLL:
    """
    Return a compiled source, from ``folder`` where it was compiled before.

    :param say: takes a line about what is going on.
    :param linked: further arguments of the compiler, for libraries.
    :raises Missing: no compiler, no headers, or the two do not fit.
    """
    compiler = shutil.which('g++')
    if not compiler:
        raise Missing('there is no g++')
    include = [f'-I{path}' for path in _includes()]
    version = subprocess.run([compiler, '--version'], text=True, capture_output=True).stdout
    eigen = subprocess.run([compiler, *include, '-E', '-x', 'c++', '-'], text=True,
                           input='#include <Eigen/Core>\n'
                                 'EIGEN_WORLD_VERSION EIGEN_MAJOR_VERSION EIGEN_MINOR_VERSION',
                           capture_output=True)
    if eigen.returncode:
        raise Missing('there are no headers of Eigen: `pip install cmeel-eigen`')
    parts = (source.read_text(), HEADER.read_text(), ' '.join((*flags, *linked)), version,
             eigen.stdout.splitlines()[-1], pin.__version__, llvmlite.binding.get_host_cpu_name())
    digest = hashlib.sha256('\n'.join(parts).encode()).hexdigest()[:16]
    path = folder / f'{source.stem}_{digest}.so'
    if not path.exists():
        say('Compiling Pinocchio for this processor: once, two minutes or more ...')
        part = path.with_suffix('.part')
        try:
            done = subprocess.run(
                [compiler, *flags, *include, str(source), '-o', str(part), *linked],
                text=True, capture_output=True, timeout=60 * MINUTES)
        except subprocess.TimeoutExpired:
            raise Missing(f'g++ has not compiled Pinocchio in {MINUTES} minutes') from None
        if done.returncode:
            errors = [line for line in done.stderr.splitlines() if 'error' in line]
            raise Missing(f'g++ cannot compile Pinocchio: {(errors or ["no reason given"])[0]}')
        part.replace(path)
    return ctypes.CDLL(str(path))


def compiler_version() -> str:
    """Return the first line of what g++ says about itself."""
    done = subprocess.run(['g++', '--version'], text=True, capture_output=True)
    return done.stdout.splitlines()[0]


class CompiledPinocchio:
    """A model of Pinocchio's in C++; its joints have to be of the kinds in KINDS."""

    def __init__(self, library: ctypes.CDLL, model: pin.Model):
        self.library, self.nv = library, model.nv
        self.handle = ctypes.c_void_p(with_arrays(library.robot_new, model))

    def close(self) -> None:
        """Free what C++ holds."""
        self.library.robot_delete(self.handle)

    def contestant(self, name: str, states: States, order: ndarray) -> Contestant:
        """Return what computes a quantity; ``order`` is where our joints are among its."""
        def run(count: int, states: int, *arrays: ctypes.c_void_p) -> None:
            self.library.run(self.handle, QUANTITIES.index(name), ctypes.c_long(count),
                             ctypes.c_long(states), *arrays)
        return loop_contestant(run, name, self.nv, states, order)


def with_arrays(function, model: pin.Model, *more) -> int:
    """
    Return what a function of a library, compiled with ``pinocchio_model.hpp``, returns of a model.

    :raises Missing: the header does not know a kind of joint.
    """
    joints = range(1, model.njoints)
    names = [model.joints[i].shortname() for i in joints]
    if other := set(names) - KINDS:
        raise Missing(f'the loop in C++ knows no {", ".join(sorted(other))}')
    bodies = [[body.mass, *body.lever, *body.inertia.ravel()]
              for body in (model.inertias[i] for i in joints)]
    places = [model.jointPlacements[i] for i in joints]
    parents = np.array([model.parents[i] for i in joints], np.int64)
    return function(
        ctypes.c_long(len(names)), _pointer(parents),
        ''.join(name[-2:] for name in names).encode(),
        _pointer(np.array([place.rotation for place in places])),
        _pointer(np.array([place.translation for place in places])),
        _pointer(np.array(bodies)), _pointer(np.array(model.gravity.linear)), *more)


def loop_contestant(run, name: str, nv: int, states: States, order: ndarray) -> Contestant:
    """Return the contestant of ``run(count, states, q, v, w, out)``; ``order`` as above."""
    inputs = [np.empty_like(table) for table in states.inputs(3)]
    for mine, theirs in zip(states.inputs(3), inputs):
        theirs[:, order] = mine
    matrix = name == 'mass_matrix'
    out = np.empty((nv, nv) if matrix else nv)

    def call(count: int, states: int = STATES, first: int = 0) -> None:
        run(count, states, *(_pointer(table[first:]) for table in inputs), _pointer(out))

    def answer(k: int) -> ndarray:
        call(1, 1, k)
        return out[np.ix_(order, order)] if matrix else out[order]
    return Contestant(timed(call), answer)


def _includes() -> list[Path]:
    """Return folders of headers: of Pinocchio's wheels, and where systems have Eigen."""
    prefixes = [path for path in Path(pin.__file__).parents if path.name == 'cmeel.prefix']
    if not prefixes:
        raise Missing('this Pinocchio is not from the wheels that bring its headers: '
                      '`pip install pin`')
    include = prefixes[0] / 'include'
    if not (include / 'pinocchio').is_dir():
        raise Missing(f'there are no headers of Pinocchio in {include}')
    return [include, include / 'eigen3', Path('/usr/include/eigen3'),
            Path('/usr/local/include/eigen3')]


def _pointer(array: ndarray) -> ctypes.c_void_p:
    return array.ctypes.data_as(ctypes.c_void_p)
