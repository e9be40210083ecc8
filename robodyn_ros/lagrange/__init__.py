# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Equations of motion of small arms in closed form, from their energies."""

from ..errors import DerivationError
from ..extras import pip_install_extra

try:
    from .derivation import Derivation, derive
    from .report import latex, text
except ModuleNotFoundError as error:
    if error.name != 'sympy':
        raise
    raise DerivationError('equations of motion in closed form need sympy, which is not installed',
                          name='sympy', remedy=f'run `{pip_install_extra("derive")}`') from None

__all__ = ['Derivation', 'derive', 'latex', 'text']
