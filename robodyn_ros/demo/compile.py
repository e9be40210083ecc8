# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Compilation of everything that the processes of the demo need.

`python -m robodyn_ros.demo.compile URDF` compiles control cycle, loops and kernels of the robot,
and in parallel `python -m robodyn_ros.demo.compile` the laws. These are processes of their own
because Numba cannot be interrupted: an exception out of a signal handler may get lost in LLVM's
callbacks. Here the signal itself ends the process.
"""

import signal
import sys

from ..control.cycle.compile import compile_others, compiled
from ..control.references.compile_planner import compile_planner
from ..dynamics.model_data import parameters
from ..dynamics.specialize import with_kernels
from ..model.urdf import load_urdf
from ..nodes.controller.transport import compile_loop_ahead
from ..realtime.loop_settings import LoopSettings, TRIGGERS
from ..wire.compile import compiled_decoders

if __name__ == '__main__':
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    for urdf in sys.argv[1:]:
        compiled()
        compiled_decoders()
        for trigger in TRIGGERS:        # in real time, and in lockstep
            compile_loop_ahead(LoopSettings(trigger=trigger))
        with_kernels(parameters(load_urdf(urdf)))
    if not sys.argv[1:]:
        compile_others()
        compile_planner()
