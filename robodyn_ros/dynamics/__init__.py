# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What motion costs: inverse and forward dynamics, gravity, mass matrix."""

from .api import Batch, Dynamics
from .arguments import BaseMotion
from .results import ForwardDerivatives, InverseDerivatives, TaskSpace, VelocityTerms

__all__ = ['BaseMotion', 'Batch', 'Dynamics', 'ForwardDerivatives', 'InverseDerivatives',
           'TaskSpace', 'VelocityTerms']
