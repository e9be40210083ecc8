# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Trial of a custom law before it drives an arm.

It must compile, return finite numbers, write to none of its inputs, and be fast enough.

The guard handles errors that a trial cannot find: a law that fails in another state writes NaN,
which latches EFFORT_NOT_FINITE in that cycle.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from inspect import signature
import os
import sys
import threading
import time
from typing import Any

import numba
from numba import types
import numpy as np
from numpy import ndarray

from .call import call_law, no_law, VECTORS
from .compile_laws import ARM, compiled_law, LAW_MEMORY, MODULES, rows_type, VECTOR
from ..inputs.partner import Partner, Policy
from ..inputs.task import Bounds, TASK, Task
from ..laws import registry
from ..laws.law import Arm, Law
from ..steps import robot_dynamics
from ..steps.cycle_data import LawMemory
from ...compiler.jit import compile_function, NumbaError
from ...compiler.tuple_reference import Reference, reference
from ...dynamics import Dynamics
from ...dynamics.model_data import no_frame, parameters, Workspace, workspace
from ...errors import ParameterError
from ...model.robot import RobotModel, spread

TRIAL_STATES = 16
TRIAL_TIMEOUT = 5.0    # s
TIMED_CALLS, TIMED_BATCHES = 50, 5      # that are timed; the fastest batch counts
MAX_PERIOD_SHARE = 0.5    # of the period, for one call
# Of lines in a message of Numba; characters of an informative line
UNINFORMATIVE_PREFIXES = 'Failed in nopython', 'During:', 'raised from', 'No implementation of'
MAX_MESSAGE_LENGTH = 160
# Workspaces among the arrays of an Arm, which the functions that laws call write to
WRITABLE = {'task': ('scratch', 'vector', 'columns', 'effort'),
            'bounds': ('rate', 'vector', 'pose', 'motion', 'ends', 'nearest'),
            'workspace': {*Workspace._fields} - {'rest', 'unloaded'}}
# Numba type of an Arm in Python, whose fields are tuples
_ARM = types.NamedTuple(tuple(kind.kind if isinstance(kind, Reference) else kind for kind in ARM),
                        Arm)


def refused(law: Law, problem: str, remedy: str) -> ParameterError:
    """Return the error that a law cannot be used."""
    return ParameterError(f'law {law.name} is refused: {problem}', name='mode', value=law.name,
                          remedy=remedy)


def address_of(law: Law) -> int:
    """
    Return the address of a compiled law.

    :raises ParameterError: it does not compile, allocates memory, or takes other arguments.
    """
    if law in registry.BUILT_IN:
        return compiled_law(law).address
    if (count := len(signature(law.efforts).parameters)) != 4:
        raise refused(law, f'its function takes {count} arguments',
                      'it has to take four: arm, gains, memory, tau')
    try:
        return compiled_law(law).address
    except NumbaError as error:
        if (problem := _problem(law)) is None:
            raise refused(law, 'it allocates memory, which takes an unbounded time',
                          'write loops over joints instead of expressions of whole arrays, and '
                          'keep intermediate arrays in the memory of the law') from error
        raise refused(law, f'it does not compile: {problem}',
                      'use what Numba compiles: numbers, loops, elements of arrays; with '
                      'ROBODYN_PLAIN=1 a debugger stops in it') from error


def check(law: Law, of_law: LawMemory, model: RobotModel, joints: ndarray, period: float) -> None:
    """
    Try a custom law in random states.

    :param of_law: its code and its gains.
    :param joints: (nv,) ``JOINT``.
    :param period: of the control cycle [s].
    :raises ParameterError: an effort is not finite, or the law writes to the arm, fails, takes
        more than MAX_PERIOD_SHARE of the period, or does not return.
    """
    rows = np.zeros((max(1, registry.memory_rows(law, model.nv)), model.nv))
    none = no_law(model.nv)
    own = of_law._replace(gains=of_law.gains.copy(), memory=rows, returned=none.returned,
                          shown=none.shown, shown_joints=none.shown_joints.view(np.recarray))
    call = _compiled_trial() if of_law.code[0] else _plain_trial
    tau = np.zeros(model.nv)
    for arm in _arms(model, joints, period):
        before = _bytes(arm, own)
        _within_patience(law, partial(call, own, arm, tau, 1))
        if own.returned[0] == 0:
            raise refused(law, f'it fails: {_python_error(law, own, arm)}',
                          'correct it; with ROBODYN_PLAIN=1 a debugger stops in it')
        seen = arm._replace(**dict(zip(VECTORS, own.shown)), joints=own.shown_joints)
        if written := [name for name, value in _bytes(seen, own).items()
                       if value != before[name]]:
            raise refused(law, f'it writes to {written[0]}',
                          'write to tau, to its memory and to local numbers alone; `e = arm.q` '
                          'is not a copy: keep e[i] - ... in a number')
        if not (good := np.isfinite(tau)).all():
            joint = model.joint_names[int(np.argmin(good))]
            raise refused(law, f'its effort of {joint} is not finite at q = '
                          f'{arm.q.round(3).tolist()}, q̇ = {arm.qd.round(3).tolist()}',
                          'write a finite number for each joint, in every state')
    if of_law.code[0]:
        fastest = min(_seconds(call, own, arm, tau) for _ in range(TIMED_BATCHES))
        if fastest > MAX_PERIOD_SHARE * period:
            raise refused(law, f'it takes {1e6 * fastest:.3g} µs, and a period is '
                          f'{1e6 * period:.3g} µs', 'make it faster, or lower the rate')


def _arms(model: RobotModel, joints: ndarray, period: float) -> list[Arm]:
    """Return the arm in random states within its limits, with a reference near each."""
    random, n = np.random.default_rng(0), model.nv
    dynamics = Dynamics(model)
    speed = np.where(np.isfinite(joints['velocity_limit']), joints['velocity_limit'], 1.0)
    records, robot = joints.view(np.recarray), _readable(parameters(model))
    # Arrays without rows would show no writing
    bounds = _readable(Bounds.none(n)._replace(
        planes=np.eye(1, 4), region=np.ones(3), points=no_frame(), carriers=np.zeros(1, np.int64),
        capsules=np.ones((1, 7)), pairs=np.zeros((1, 2), np.int64)))
    policy, partner = map(_readable, (Policy.none(n), Partner.none(n)))
    task = _readable(Task.of(np.zeros(1, TASK), no_frame(), n))
    arms = []
    for k, q in enumerate(spread(model, TRIAL_STATES)):
        work, gravity = _readable(workspace(model)), dynamics.gravity(q)
        work.M[:] = dynamics.mass_matrix(q)
        error, velocity = random.uniform(-0.1, 0.1, n), speed * random.uniform(-1.0, 1.0, (2, n))
        measured = gravity if k % 2 else np.full(n, np.nan)
        arms.append(Arm(k * period, period, np.array(q, float), velocity[0], q + error,
                        velocity[1], random.uniform(-1.0, 1.0, n), gravity, measured,
                        gravity.copy(), np.zeros(n), policy, partner, 0, task, bounds, 0,
                        int(model.leaders[-1]), 0.0, records, robot, work))
    return arms


def _readable(arrays: Any) -> Any:
    """Return a named tuple whose records Python reads as compiled code does."""
    return arrays._replace(**{name: array.view(np.recarray)
                              for name, array in arrays._asdict().items() if array.dtype.names})


def _bytes(arm: Arm, law: LawMemory) -> dict[str, bytes]:
    """Return the contents of all arrays that laws may only read, by their names."""
    found = {'gains': law.gains.tobytes()}
    part: Any
    for name, part in arm._asdict().items():
        if isinstance(part, ndarray):
            found[f'arm.{name}'] = part.tobytes()
        elif hasattr(part, '_asdict'):
            found |= {f'arm.{name}.{field}': array.tobytes()
                      for field, array in part._asdict().items()
                      if field not in WRITABLE.get(name, ())}
    return found


def _within_patience(law: Law, call: Callable[[], Any]) -> None:
    """
    Call in another thread; if it does not return, continue it at idle priority.

    Compiled code cannot be interrupted: the thread lasts as long as the process.
    """
    thread = threading.Thread(target=call, daemon=True, name=f'trial of law {law.name}')
    thread.start()
    thread.join(TRIAL_TIMEOUT)
    if thread.is_alive():
        with suppress(AttributeError, OSError):     # not Linux, or it has just ended
            os.sched_setscheduler(thread.native_id or 0, os.SCHED_IDLE, os.sched_param(0))
        raise refused(law, f'it has not returned within {TRIAL_TIMEOUT:g} s',
                      'bound its loops by the number of joints, and restart this process: the '
                      'trial goes on in it, at the lowest priority')


def _seconds(call: Callable[..., Any], of_law: LawMemory, arm: Arm, tau: ndarray) -> float:
    """Return the time that one call takes [s], the mean of TIMED_CALLS."""
    begin = time.perf_counter()
    call(of_law, arm, tau, TIMED_CALLS)
    return (time.perf_counter() - begin) / TIMED_CALLS


def _trial(law: LawMemory, arm: Arm, tau: ndarray, count: int) -> None:
    """Call the law ``count`` times, in compiled code."""
    referring = Arm(arm.time, arm.dt, arm.q, arm.qd, arm.q_reference, arm.qd_reference,
                    arm.qdd_reference, arm.gravity, arm.measured, arm.applied, arm.withheld,
                    reference(arm.policy), reference(arm.partner), arm.coupled,
                    reference(arm.task), reference(arm.bounds), arm.guided, arm.payload_body,
                    arm.payload_time, arm.joints, reference(arm.robot), reference(arm.workspace))
    for _ in range(count):
        call_law(reference(law), referring, tau)


def _plain_trial(law: LawMemory, arm: Arm, tau: ndarray, count: int) -> None:
    """Call the law once, in plain Python."""
    law.returned[0] = 0
    call_law(law, arm, tau)
    law.returned[0] = 1


@cache
def _compiled_trial() -> Any:
    """Return :func:`_trial`, compiled, with the dynamics of a robot that has no kernels."""
    robot_dynamics.load_generic()
    return compile_function('law_trial', _trial,
                            types.void(LAW_MEMORY, _ARM, VECTOR, types.int64),
                            (*MODULES, sys.modules[__name__]))


def _python_error(law: Law, of_law: LawMemory, arm: Arm) -> str:
    """Return the error that the law raises in Python, after it failed as compiled code."""
    try:
        call_law(of_law, arm, np.zeros(len(arm.q)))
    except Exception as error:          # whatever a law of a user raises
        return f'{type(error).__name__}: {error}'
    return 'an error that it does not raise in plain Python'


def _problem(law: Law) -> str | None:
    """Return the error of Numba for a law, None if it compiles with memory allocation."""
    try:
        numba.njit(types.void(Reference(ARM), rows_type(registry.gains_class(law)),
                              rows_type(registry.memory_class(law)), VECTOR))(law.efforts)
    except NumbaError as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        problems = [line for line in lines if not line.startswith(UNINFORMATIVE_PREFIXES)]
        places = [line.rstrip(':') for line in lines if line.startswith('File "')]
        return ', '.join(
            line if len(line) <= MAX_MESSAGE_LENGTH else f'{line[:MAX_MESSAGE_LENGTH]} ...'
            for line in (*problems[:1], *places[:1]))
    return None
