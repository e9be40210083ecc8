# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Inputs, options and outputs of every quantity of a robot.

The compiled entry points, the bare kernels of one robot and the batches are made from this table.
"""

from typing import NamedTuple


class Quantity(NamedTuple):
    """
    Signature of the function in :mod:`~.entry_points` that computes a quantity.

    :param inputs: names of the joint vectors (nv,).
    :param outputs: symbolic shapes of the arrays that are written, see
        :func:`~.model_data.dimensions`; k is the number of task axes.
    :param options: arguments that are built into a kernel of one robot.
    :param takes_external_wrench: whether there is a variant with wrenches and a moving base.
    :param needs_full_inertia: whether the result depends on inertial parameters that have no
        effect on the motion of the joints.
    :param inverts_mass_matrix: whether the mass matrix has to be positive definite.
    """

    inputs: tuple[str, ...]
    outputs: dict[str, tuple[str, ...]]
    options: tuple[str, ...] = ()
    takes_external_wrench: bool = False
    needs_full_inertia: bool = False
    inverts_mass_matrix: bool = False

    def entry_point(self, name: str) -> str:
        """Return the name of the function in :mod:`~.entry_points` for the quantity ``name``."""
        return f'{name}_with_wrenches' if self.takes_external_wrench else name


MOTION_ARGUMENTS, FRAME_ARGUMENTS = ('q', 'qd', 'qdd'), ('frame', 'reference')

QUANTITIES = {
    'inverse_dynamics': Quantity(MOTION_ARGUMENTS, {'tau': ('nv',)}, takes_external_wrench=True),
    'gravity': Quantity(('q',), {'tau': ('nv',)}),
    'bias': Quantity(('q', 'qd'), {'tau': ('nv',)}, takes_external_wrench=True),
    'mass_matrix': Quantity(('q',), {'M': ('nv', 'nv')}),
    'coriolis_matrix': Quantity(('q', 'qd'), {'C': ('nv', 'nv')}),
    'velocity_terms': Quantity(('q',), {'B': ('nv', 'pairs'), 'C': ('nv', 'nv')}),
    'forward_dynamics': Quantity(('q', 'qd', 'tau'), {'qdd': ('nv',)},
                                 takes_external_wrench=True, inverts_mass_matrix=True),
    'inverse_dynamics_derivatives': Quantity(
        MOTION_ARGUMENTS, {'dtau_dq': ('nv', 'nv'), 'dtau_dqd': ('nv', 'nv'), 'M': ('nv', 'nv')},
        takes_external_wrench=True),
    'forward_dynamics_derivatives': Quantity(
        ('q', 'qd', 'tau'),
        {'dqdd_dq': ('nv', 'nv'), 'dqdd_dqd': ('nv', 'nv'), 'dqdd_dtau': ('nv', 'nv')},
        takes_external_wrench=True, inverts_mass_matrix=True),
    'pose': Quantity(('q',), {'T': ('4', '4')}, ('frame',)),
    'jacobian': Quantity(('q',), {'J': ('6', 'nv')}, FRAME_ARGUMENTS),
    'jacobian_dot': Quantity(('q', 'qd'), {'Jd': ('6', 'nv')}, FRAME_ARGUMENTS),
    'task_space': Quantity(
        ('q', 'qd'), {'inertia': ('k', 'k'), 'velocity': ('k',), 'gravity': ('k',)},
        (*FRAME_ARGUMENTS, 'axes', 'damping'), inverts_mass_matrix=True),
    'task_velocity_terms': Quantity(
        ('q',), {'B': ('k', 'pairs'), 'C': ('k', 'nv')},
        (*FRAME_ARGUMENTS, 'axes', 'damping'), inverts_mass_matrix=True),
    'kinetic_energy': Quantity(('q', 'qd'), {'energy': ('1',)}),
    'potential_energy': Quantity(('q',), {'energy': ('1',)}, needs_full_inertia=True),
    'center_of_mass': Quantity(('q',), {'center': ('3',)}, needs_full_inertia=True),
    'regressor': Quantity(MOTION_ARGUMENTS, {'Y': ('nv', '10nb')}),
    'friction': Quantity(('qd',), {'tau': ('nv',)}),
}
# For compiled callers only: forward dynamics with the factors of M that `entry_points.solve`
# takes; pose and Jacobian, in the axes of the base, at once
COMBINED = {
    'factored_forward_dynamics': Quantity(
        ('q', 'qd', 'tau'), {'qdd': ('nv',), 'M': ('nv', 'nv')}, inverts_mass_matrix=True),
    'pose_and_jacobian': Quantity(('q',), {'T': ('4', '4'), 'J': ('6', 'nv')}, ('frame',))}
TABLE = QUANTITIES | COMBINED
