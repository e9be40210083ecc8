# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Friction compensation that could drive the arm."""

from faults.rows import row
from robodyn_ros.control.settings.friction import check_compensation


@row('shares of joints that one motor turns differ', where=check_compensation,
     find='(ratio[:-1] != 0.0) & (share[:-1] != share[1:])', instead='np.zeros(1, bool)')
def test_shares_of_coupled_joints(controller, remote):
    """Both together could be given more power than the friction of the motor takes: refused."""
    process = controller(mode='gravity_compensation', coupling_ratio=[1.0, 0.0],
                         coupled_coulomb_friction=[0.3, 0.0], friction_compensation=[0.8, 0.5])
    assert not remote.change('configure')
    remote.until_line(process, 'same share')
    assert remote.set('controller', friction_compensation=[0.8]) == ''
    assert remote.change('configure')
