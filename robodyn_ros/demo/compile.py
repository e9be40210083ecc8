# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Compilation of everything that the processes of the demo need.

`python -m robodyn_ros.demo.compile cycle` compiles the control cycle, and in parallel
`python -m robodyn_ros.demo.compile URDF` the loop and the kernels of the robot. These are
processes of their own because Numba cannot be interrupted: an exception out of a signal handler
may get lost in LLVM's callbacks. Here the signal itself ends the process.
"""

import signal
import sys

from ..control.cycle.compile import compiled
from ..dynamics.compile import generic
from ..dynamics.model_data import parameters
from ..dynamics.specialize import with_kernels
from ..model.urdf import load_urdf
from ..nodes.controller.transport import compile_loop_ahead
from ..wire.compile import compiled_decoders

# Quantities that the demo computes
QUANTITIES = 'gravity', 'inverse_dynamics', 'jacobian', 'mass_matrix', 'pose'
CYCLE = 'cycle'


def kernels() -> None:
    """Compile, or load, what the process of the demo itself calls."""
    for name in QUANTITIES:
        generic(name)


if __name__ == '__main__':
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if sys.argv[1] == CYCLE:
        compiled()
    else:
        kernels()
        compiled_decoders()
        for trigger in ('state', 'timer'):      # in lockstep, and in real time
            compile_loop_ahead('auto', trigger)
        with_kernels(parameters(load_urdf(sys.argv[1])))
