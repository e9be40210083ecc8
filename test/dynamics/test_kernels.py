# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The bare kernels: right, callable from compiled code, free of the GIL and of shared memory."""

import threading

from dynamics.conftest import MAIN
import numba
import numpy as np
import pytest
from robodyn_ros import Dynamics
from robodyn_ros.dynamics.compile import generic
from robodyn_ros.dynamics.entry_points import QUANTITIES


@pytest.mark.parametrize('name', MAIN)
def test_a_kernel_writes_what_the_checked_call_returns(robot, close, name):
    case = robot('panda')
    kernel = getattr(case.dynamics.kernels, name)
    assert kernel.targetoptions['nogil'] and generic(name).targetoptions['nogil']
    for state in case.states():
        given = state[:len(QUANTITIES[name].inputs)]
        expected = getattr(case.dynamics, name)(*given)
        out = np.full_like(expected, np.nan)
        assert kernel(*given, out) is None
        close(out, expected, 1e-13)


def test_nan_is_not_hidden(robot):
    case = robot('panda')
    for value in (np.nan, np.inf):
        tau = np.zeros(7)
        case.dynamics.kernels.gravity(np.full(7, value), tau)
        assert np.isnan(tau[1])


@pytest.mark.parametrize('specialize', [False, True])
def test_the_users_own_compiled_code_calls_kernels(robot, close, specialize):
    case = robot('two_link')
    kernels = Dynamics(case.model, specialize).kernels
    gravity, mass_matrix = kernels.gravity, kernels.mass_matrix
    assert gravity.targetoptions['nogil']

    @numba.njit
    def law(q, error, M, tau):
        mass_matrix(q, M)
        gravity(q, tau)
        for i in range(len(q)):
            tau[i] += 100 * M[i, i] * error[i]

    q, error, _ = next(case.states())
    tau = np.zeros(2)
    law(q, error, np.zeros((2, 2)), tau)
    close(tau, case.gravity(q) + 100 * np.diag(case.mass_matrix(q)) * error)


def test_kernels_run_in_loops_without_the_gil(robot):
    kernel = robot('panda').dynamics.kernels.inverse_dynamics

    @numba.njit(nogil=True)
    def wait_for(flag, q, tau):
        for _ in range(200_000_000):
            kernel(q, q, q, tau)
            if flag[0]:
                return True
        return False

    # Unless the loop lets go of the GIL, the flag is raised when it is over.
    flag, seen = np.zeros(1, np.int64), []
    wait_for(np.ones(1, np.int64), np.zeros(7), np.zeros(7))
    thread = threading.Thread(target=lambda: seen.append(wait_for(flag, np.zeros(7), np.zeros(7))))
    thread.start()
    flag[0] = 1
    thread.join()
    assert seen == [True]


@pytest.mark.parametrize('kind', ['kernels', 'checked', 'specialized'])
def test_two_threads_at_once_do_not_disturb_each_other(robot, kind):
    case = robot('panda')
    states = list(case.states(200))
    dynamics = Dynamics(case.model, specialize=kind == 'specialized')

    def forward(q, qd, tau):
        if kind != 'kernels':
            return dynamics.forward_dynamics(q, qd, tau)
        qdd = np.empty(7)
        dynamics.kernels.forward_dynamics(q, qd, tau, qdd)
        return qdd

    expected = [forward(*state) for state in states]
    wrong = []

    def work(offset):
        for k in range(2000):
            i = (k * offset) % len(states)
            if not (forward(*states[i]) == expected[i]).all():
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(offset,)) for offset in (3, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
