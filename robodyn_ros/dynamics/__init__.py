# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Rigid-body dynamics: inverse and forward dynamics, gravity, mass matrix, kinematics."""

from .api import Batch, Dynamics
from .arguments import BaseMotion, ForwardDerivatives, InverseDerivatives, TaskSpace, VelocityTerms

__all__ = ['BaseMotion', 'Batch', 'Dynamics', 'ForwardDerivatives', 'InverseDerivatives',
           'TaskSpace', 'VelocityTerms']
