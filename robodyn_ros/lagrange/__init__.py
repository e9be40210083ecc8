# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Equations of motion of small arms in closed form, from their energies."""

from .derivation import Derivation, derive
from .report import latex, text

__all__ = ['Derivation', 'derive', 'latex', 'text']
