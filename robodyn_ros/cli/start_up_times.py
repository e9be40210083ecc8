# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Compilation ahead of use, and start-up times, for `robodyn check-machine --compile`.

`python -m robodyn_ros.cli.start_up_times URDF NAME ...` is the worker: a new process, so that it
measures a start from nothing. It prints a line of JSON for each function that it has loaded.
"""

from collections.abc import Callable
from importlib.util import find_spec
import json
import os
from pathlib import Path
import subprocess
import sys
import tempfile
import time
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from ..errors import RobodynError
from ..model.robot import RobotModel

CYCLE, DECODERS, NATIVE = 'control cycle', 'decoders of messages', 'native loop, trigger '


def run(model: RobotModel, everything: bool, out: Console) -> None:
    """Compile what a controller of this robot needs, or all quantities; print the times."""
    wanted = names(everything)
    with out.status('compiling ...') as status:
        cold, first = start(model, wanted, lambda name: status.update(f'compiled: {name}'))
        cached, second = start(model, wanted, lambda name: status.update(f'loaded: {name}'))
    out.print(table(model, wanted, cold, cached, (first, second)))


def names(everything: bool) -> list[str]:
    """Return the names of what the controller needs, or of all that concern no frame."""
    from ..dynamics.entry_points import QUANTITIES
    from ..dynamics.model_data import ADDRESSED_KERNELS
    from ..realtime.loop_settings import TRIGGERS
    more = [name for name, quantity in QUANTITIES.items()
            if everything and not quantity.options and name not in ADDRESSED_KERNELS]
    ros = find_spec('rclpy') is not None
    loops = [NATIVE + trigger for trigger in TRIGGERS] if ros else []
    return [DECODERS, CYCLE, *loops, *ADDRESSED_KERNELS, *more]


def start(model: RobotModel, wanted: list[str], tick: Callable[[str], None]
          ) -> tuple[dict[str, dict[str, Any]], float]:
    """
    Load everything in a new process.

    :param tick: is called with the name of what was just loaded.
    :return: figures of each name, and the time from start to end [s].
    :raises RobodynError: the process failed.
    """
    from ..compiler.second_process import VARIABLE

    with tempfile.TemporaryDirectory() as folder:
        urdf = Path(folder) / 'robot.urdf'
        urdf.write_text(model.to_urdf(), encoding='utf-8')
        begin = time.perf_counter()
        worker = subprocess.Popen([sys.executable, '-m', __name__, str(urdf), *wanted],
                                  stdout=subprocess.PIPE, text=True,
                                  env={**os.environ, VARIABLE: '0'})
        told = {}
        try:
            for line in worker.stdout or ():
                about = json.loads(line)
                told[about['name']] = about
                tick(about['name'])
        finally:
            if worker.wait():
                raise RobodynError('the compiler has ended early', name='--compile', value=told,
                                   remedy='see what it has printed above')
        return told, time.perf_counter() - begin


def table(model: RobotModel, wanted: list[str], cold: dict[str, dict[str, Any]],
          cached: dict[str, dict[str, Any]], seconds: tuple[float, float]) -> Table:
    """Return the table of cold and cached start-up times."""
    out = Table(box=box.SIMPLE_HEAD, title=f'{model.name}, {model.nv} joints',
                title_justify='left')
    for header in ('', 'operations', 'compiled', 'cached'):
        out.add_column(header, justify='right' if header else 'left')
    for name in wanted:
        operations = cold[name]['operations']
        out.add_row(name, str(operations or '-'),
                    f'{cold[name]["seconds"]:.1f} s' if cold[name]['compiled'] else 'before',
                    f'{cached[name]["seconds"] * 1e3:.0f} ms')
    out.add_section()
    out.add_row('whole process', '', *(f'{value:.1f} s' for value in seconds))
    return out


def work(urdf: str, wanted: list[str]) -> None:
    """Load these names and print a line of JSON for each."""
    from ..control.cycle.compile import compiled, law_address, load_all_parts
    from ..control.laws.registry import BUILT_IN
    from ..control.references.compile_planner import compile_planner
    from ..dynamics.entry_points import TABLE
    from ..dynamics.model_data import parameters
    from ..dynamics.specialize import bind, operations, with_kernels
    from ..model.urdf import load_urdf
    from ..wire.compile import compiled_decoders

    robot = parameters(load_urdf(Path(urdf)))
    for name in wanted:
        begin = time.perf_counter()
        if name == DECODERS:
            loaded = [*compiled_decoders()]
        elif name == CYCLE:
            loaded = [compiled().step]
            load_all_parts()
            compile_planner()
            for law in BUILT_IN:
                law_address(law)
        elif name.startswith(NATIVE):
            from ..realtime.native.loop import compiled_loop

            loaded = [compiled_loop(name.removeprefix(NATIVE))]
        else:
            loaded = [bind(name, robot, True, {})]
        seconds = time.perf_counter() - begin
        print(json.dumps({
            'name': name, 'seconds': seconds,
            'operations': operations(name, robot) if name in TABLE else 0,
            'compiled': any(sum(f.stats.cache_misses.values()) for f in loaded)}), flush=True)
    with_kernels(robot)


if __name__ == '__main__':
    work(sys.argv[1], sys.argv[2:])
