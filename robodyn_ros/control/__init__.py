# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Control: laws, references, limits and the guard, in one pure cycle."""

from typing import TYPE_CHECKING

from ..extras import from_modules

if TYPE_CHECKING:
    from .controller.controller import Controller
    from .controller.controller_batch import ControllerBatch
    from .declare import gain
    from .laws.law import Arm, Law
    from .references.trajectory import Waypoints
    from .settings.settings import Settings
    from .settings.suggested_gains import suggest_gains
    from .steps.guard import Phase

__all__ = ['Arm', 'Controller', 'ControllerBatch', 'Law', 'Phase', 'Settings', 'Waypoints', 'gain',
           'suggest_gains']

_MODULES = {'Arm': '.laws.law', 'Controller': '.controller.controller',
            'ControllerBatch': '.controller.controller_batch',
            'Law': '.laws.law', 'Phase': '.steps.guard', 'Settings': '.settings.settings',
            'Waypoints': '.references.trajectory', 'gain': '.declare',
            'suggest_gains': '.settings.suggested_gains'}

# A module of the package is imported without all others
__getattr__ = from_modules(__name__, _MODULES)
