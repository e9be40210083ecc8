# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Every quantity of a robot: what it is asked with, and what comes out.

The compiled entry points, the bare kernels of one robot and the batches are made from this table.
"""

from typing import NamedTuple


class Quantity(NamedTuple):
    """Arguments of the function in :mod:`~.terms` that has the quantity's name."""

    inputs: tuple[str, ...]                     # (nv,) each
    outputs: dict[str, tuple[str, ...]]         # shapes in the words of `bodies.sizes`
    options: tuple[str, ...] = ()               # what a kernel of one robot has built in
    loaded: bool = False                        # takes wrenches and the motion of the base
    whole: bool = False                         # depends on inertia that no joint feels
    inverts: bool = False                       # needs the inverse of the mass matrix


MOTION, AT = ('q', 'qd', 'qdd'), ('frame', 'reference')

QUANTITIES = {
    'inverse_dynamics': Quantity(MOTION, {'tau': ('nv',)}, loaded=True),
    'gravity': Quantity(('q',), {'tau': ('nv',)}),
    'bias': Quantity(('q', 'qd'), {'tau': ('nv',)}, loaded=True),
    'mass_matrix': Quantity(('q',), {'M': ('nv', 'nv')}),
    'coriolis_matrix': Quantity(('q', 'qd'), {'C': ('nv', 'nv')}),
    'velocity_terms': Quantity(('q',), {'B': ('nv', 'pairs'), 'C': ('nv', 'nv')}),
    'forward_dynamics': Quantity(('q', 'qd', 'tau'), {'qdd': ('nv',)}, loaded=True,
                                 inverts=True),
    'inverse_dynamics_derivatives': Quantity(
        MOTION, {'dtau_dq': ('nv', 'nv'), 'dtau_dqd': ('nv', 'nv'), 'M': ('nv', 'nv')},
        loaded=True),
    'forward_dynamics_derivatives': Quantity(
        ('q', 'qd', 'tau'), {'dqdd_dq': ('nv', 'nv'), 'dqdd_dqd': ('nv', 'nv'),
                             'dqdd_dtau': ('nv', 'nv')}, loaded=True, inverts=True),
    'pose': Quantity(('q',), {'T': ('4', '4')}, ('frame',)),
    'jacobian': Quantity(('q',), {'J': ('6', 'nv')}, AT),
    'jacobian_dot': Quantity(('q', 'qd'), {'Jd': ('6', 'nv')}, AT),
    'task_space': Quantity(
        ('q', 'qd'), {'inertia': ('k', 'k'), 'velocity': ('k',), 'gravity': ('k',)},
        (*AT, 'axes', 'damping'), inverts=True),
    'task_velocity_terms': Quantity(('q',), {'B': ('k', 'pairs'), 'C': ('k', 'nv')},
                                    (*AT, 'axes', 'damping'), inverts=True),
    'kinetic_energy': Quantity(('q', 'qd'), {'energy': ('1',)}),
    'potential_energy': Quantity(('q',), {'energy': ('1',)}, whole=True),
    'center_of_mass': Quantity(('q',), {'center': ('3',)}, whole=True),
    'regressor': Quantity(MOTION, {'Y': ('nv', '10nb')}),
    'friction': Quantity(('qd',), {'tau': ('nv',)}),
}
# What our own compiled code asks besides: with the factors of M that `terms.solve` takes
FACTORED = {'factored_forward_dynamics': Quantity(
    ('q', 'qd', 'tau'), {'qdd': ('nv',), 'M': ('nv', 'nv')}, inverts=True)}
TABLE = QUANTITIES | FACTORED
