# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Friction compensation that could drive the arm."""

import numpy as np
import pytest
from faults.rows import row

from robodyn_ros import load_urdf
from robodyn_ros.control.friction import check_compensation
from robodyn_ros.control.settings import Settings
from robodyn_ros.dynamics.friction import advance_presliding
from robodyn_ros.errors import ParameterError


@row('shares of joints that one motor turns differ', where=check_compensation,
     find='(ratio[:-1] != 0.0) & (share[:-1] != share[1:])', instead='np.zeros(1, bool)')
def test_shares_of_coupled_joints():
    """Both together could be given more power than the friction of the motor takes."""
    asked = {'mode': 'gravity_compensation', 'coupling_ratio': [1.0, 0.0],
             'coupled_coulomb_friction': [0.3, 0.0]}
    with pytest.raises(ParameterError) as caught:
        Settings(**asked, friction_compensation=[0.8, 0.5]).joint_records(load_urdf('two_link'))
    assert caught.value.name == 'friction_compensation' and 'same share' in str(caught.value)
    Settings(**asked, friction_compensation=[0.8]).joint_records(load_urdf('two_link'))


@row('the state of presliding is not finite', where=advance_presliding,
     find='not abs(share[i]) <= 1.0', instead='False')
def test_presliding_that_is_not_finite():
    """It begins anew, with what one motion gives."""
    parameters, share = np.full((13, 3), 0.01), np.array([np.nan, np.inf, -1.0])
    advance_presliding(parameters, np.array([0.01, 0.01, np.nan]), share)
    assert (share == 0.0).all()
