# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Imports of a controller without garbage collections; to be imported before its other modules.

Next to nothing of what imports leave is garbage. That collections find this out again and again
took a tenth of the time of all imports.
"""

import gc
from importlib import import_module

#: Modules that import all the others, by far the most of which each node needs.
MODULES = 'rclpy.lifecycle', '..control.controller', '.node_main'


def _import() -> None:
    enabled = gc.isenabled()
    gc.disable()
    try:
        for name in MODULES:
            import_module(name, __package__)
        if not gc.get_freeze_count():       # nobody has frozen anything, which would be undone
            gc.freeze()
            gc.unfreeze()       # together: what there is belongs to the oldest generation
    finally:
        if enabled:
            gc.enable()


_import()
