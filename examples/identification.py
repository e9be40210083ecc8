# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Masses and lengths of a 2R arm from noisy torques.

The equation of motion is linear in the inertial parameters, τ = Y(q, q̇, q̈) p. Least squares
finds the identifiable combinations of them. Masses and lengths require a nonlinear fit, here with
standard errors. For a real arm use `robodyn excite`, `play` and `identify`.
"""

import matplotlib.pyplot as plt
import numpy as np
from picture import GREY, save
from robodyn_ros import Dynamics, load_urdf
from scipy.optimize import least_squares

model = load_urdf('two_link')
TRUE = np.array([2.0, 1.0, 0.5, 0.4])               # kg, kg, m, m
RATE, NOISE = 100.0, 1.0                            # Hz, N·m
t = np.arange(0.0, 10.0, 1 / RATE)
w = 2 * np.pi * np.array([[0.3, 0.7, 1.1], [0.5, 0.9, 1.3]])[:, :, None]
size = np.array([[0.6, 0.3, 0.1], [0.7, 0.3, 0.15]])[:, :, None]
q = (size * np.sin(w * t)).sum(1).T
qd = (size * w * np.cos(w * t)).sum(1).T
qdd = (-size * w**2 * np.sin(w * t)).sum(1).T
tau = Dynamics(model).batch.inverse_dynamics(q, qd, qdd)
measured = tau + NOISE * np.random.default_rng(1).normal(size=tau.shape)


def coefficients(x, g=9.81):
    """Return the coefficients of the terms of the motion (Craig 2005, section 6.7)."""
    m1, m2, l1, l2 = x
    return np.array([m2 * l2**2, m2 * l1 * l2, (m1 + m2) * l1**2, m2 * l2 * g, (m1 + m2) * l1 * g])


def fit(n):
    """Return masses and lengths from the first n samples, and their standard errors."""
    def errors(logarithms):     # which keep all values positive
        return terms[:n].reshape(-1, 5) @ coefficients(np.exp(logarithms)) - measured[:n].ravel()
    best = least_squares(errors, np.zeros(4))
    sigma = np.sqrt(2 * best.cost / (2 * n - 4))
    x = np.exp(best.x)
    return x, sigma * np.sqrt(np.diag(np.linalg.inv(best.jac.T @ best.jac))) * x


(c1, c2), s2, c12 = np.cos(q).T, np.sin(q[:, 1]), np.cos(q.sum(1))
(v1, v2), (a1, a2), zero = qd.T, qdd.T, np.zeros(len(t))
terms = np.stack([
    [a1 + a2, c2 * (2 * a1 + a2) - s2 * (v2**2 + 2 * v1 * v2), a1, c12, c1],
    [a1 + a2, c2 * a1 + s2 * v1**2, zero, c12, zero]]).transpose(2, 0, 1)

counts = np.unique(np.geomspace(20, len(t), 16).astype(int))
values, errors = np.array([fit(n) for n in counts]).transpose(1, 0, 2)
for name, value, error, true in zip(('m1', 'm2', 'l1', 'l2'), values[-1], errors[-1], TRUE):
    print(f'{name} = {value:.4f} ± {error:.4f}, true {true}')

Y = Dynamics(model).batch.regressor(q, qd, qdd)
singular = np.linalg.svd(Y.reshape(-1, Y.shape[-1]), compute_uv=False)
rank = int((singular > 1e-9 * singular[0]).sum())
print(f'{Y.shape[-1]} inertial parameters, of which the motion shows {rank} combinations')

figure, panels = plt.subplots(1, 3, figsize=(12.5, 4))
panels[0].plot(t, measured[:, 0], '.', markersize=2, color=GREY, label='measured')
panels[0].plot(t, tau[:, 0], label='true')
panels[0].set(xlim=(0, 3), xlabel='time [s]', ylabel='torque of joint 1 [N·m]',
              title=f'noise of {NOISE:g} N·m')
panels[0].legend(fontsize=8)
for i, name in enumerate(('m₁', 'm₂', 'l₁', 'l₂')):
    panels[1].errorbar(counts / RATE * (1 + 0.02 * i), values[:, i] / TRUE[i],
                       2 * errors[:, i] / TRUE[i], fmt='o', markersize=3, linewidth=1, label=name)
panels[1].axhline(1.0, color='black', linewidth=1)
panels[1].set(xscale='log', xlabel='length of the recording [s]', ylabel='estimate / truth',
              title='estimates, ± 2 standard errors', ylim=(0.5, 1.5))
panels[1].legend(ncols=4, fontsize=8)
panels[2].semilogy(np.arange(1, len(singular) + 1), np.maximum(singular, 1e-14), 'o')
panels[2].axvspan(rank + 0.5, len(singular) + 0.5, color=GREY, alpha=0.15)
panels[2].set(xlabel='combination', ylabel='singular value of the regressor',
              title=f'{rank} of {len(singular)} combinations of parameters show')
save(figure)
