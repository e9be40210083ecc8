# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What motion costs: inverse and forward dynamics, gravity, mass matrix."""

from .api import Dynamics

__all__ = ['Dynamics']
