# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Closed-form equations of motion of a planar 2R arm by the Lagrange method.

`derive` forms kinetic and potential energy of symbolic DH rows and differentiates them (Craig
2005, section 6.9). Evaluated numerically, the formulas give the torques of the recursive
Newton-Euler algorithm.
"""

import matplotlib.pyplot as plt
import numpy as np
from picture import GREY, save
from robodyn_ros import Dynamics, load_dh
from robodyn_ros.lagrange import derive
from robodyn_ros.model.resources import share_path
import sympy as sp

found = derive('craig_2r')
M, B, C, g = found.M, found.B, found.C, found.g
qdd = sp.Matrix(sp.symbols('a1:3'))
q1d, q2d = found.qd
tau = M * qdd + B * sp.Matrix([q1d * q2d]) + C * sp.Matrix([q1d**2, q2d**2]) + g
torque = sp.lambdify([found.q, found.qd, list(qdd)], list(tau.subs(found.values)), 'numpy')

t = np.linspace(0.0, 2.0, 201)
w = np.array([np.pi, 2 * np.pi])
size = np.array([0.8, 1.2])
q = size * np.sin(np.outer(t, w))
qd, qa = size * w * np.cos(np.outer(t, w)), -size * w**2 * np.sin(np.outer(t, w))

lagrange = np.array(torque(q.T, qd.T, qa.T)).T
newton_euler = Dynamics(load_dh(share_path('examples', 'craig_2r.yaml'))).batch.inverse_dynamics(
    q, qd, qa)
difference = abs(lagrange - newton_euler).max()
print(f'largest difference: {difference:.1e} N·m')

figure, (formulas, axes) = plt.subplots(2, 1, figsize=(7.5, 6.4), height_ratios=[1, 1.25])
formulas.axis('off')
formulas.set_title('2R arm: equations of motion from the energies')
names = {s: sp.Symbol(str(s).replace('theta', 'q').replace('θ', 'q')) for s in found.q}
rows = [(rf'M_{{{i + 1}{j + 1}}}', M[i, j]) for i, j in ((0, 0), (0, 1), (1, 1))]
rows += [('B_{11}', B[0, 0]), ('C_{12}', C[0, 1]), ('g_1', g[0]), ('g_2', g[1])]
for k, (name, formula) in enumerate(rows):
    text = sp.latex(formula.subs(names)).replace(r'\left', '').replace(r'\right', '')
    formulas.text(0.02, 0.92 - 0.155 * k, f'${name} = {text}$', fontsize=11,
                  transform=formulas.transAxes)
for i in range(2):
    axes.plot(t, lagrange[:, i], label=f'joint {i + 1}, Lagrange')
    axes.plot(t[::5], newton_euler[::5, i], 'o', color=GREY, markersize=4, mfc='none',
              label='recursive Newton-Euler' if i else None)
axes.set(xlabel='time [s]', ylabel='torque [N·m]')
axes.margins(y=0.2)
axes.legend(ncols=3, loc='lower left', fontsize=8)
save(figure)
