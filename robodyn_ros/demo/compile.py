# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Compilation of everything that the nodes of the demo need.

This is a process of its own (`python -m robodyn_ros.demo.compile TRIGGER [URDF]`, with the kernels
of the robot if there is one), because Numba cannot be interrupted: an exception out of a signal
handler may get lost in LLVM's callbacks. Here the signal itself ends the process.
"""

from contextlib import suppress
import signal
import sys

from ..control.cycle.compile import compiled
from ..dynamics.compile import generic
from ..dynamics.model_data import parameters
from ..dynamics.specialize import with_kernels
from ..model.urdf import load_urdf
from ..nodes.controller.transport import compiled_loop, UNAVAILABLE
from ..wire.compile import compiled_decoders

# Quantities that the demo computes
QUANTITIES = ('bias', 'forward_dynamics', 'gravity', 'inverse_dynamics', 'jacobian',
              'mass_matrix', 'pose')


def libraries() -> None:
    """Compile, or load, what the process of the demo itself calls."""
    compiled_decoders()
    for name in QUANTITIES:
        generic(name)


if __name__ == '__main__':
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    libraries()
    compiled()
    with suppress(*UNAVAILABLE):    # the controller then logs its fallback data path
        compiled_loop(sys.argv[1])
    for urdf in sys.argv[2:]:
        with_kernels(parameters(load_urdf(urdf)))
