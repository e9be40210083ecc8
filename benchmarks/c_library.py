# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
`python -m benchmarks.c_library`: the exported controller of a Panda in C, beside Python.

Arms in simulation are moved by targets, trajectories and streams, change their settings, are
pushed, meet invalid states and stalls, and are armed again after each fault. A C program repeats
all of it: efforts, phases, reasons and refusals have to be the same in every bit. Times of a step
are those of both, in one run. The library stays in the output folder for the next run.
"""

from pathlib import Path
import subprocess
import sys
import time
from typing import Annotated, Any

import numpy as np
from rich.console import Console
from robodyn_ros import Settings
from robodyn_ros.c_library.exported import Exported, Options
from robodyn_ros.c_library.library import c_compiler, write_library
from robodyn_ros.catalog.robots import load_robot
from robodyn_ros.closed_loop import ClosedLoop
from robodyn_ros.control.steps import guard
import typer

from .plant import ROOT

sys.path.insert(0, str(ROOT / 'test'))
from c_library import replica  # noqa: E402
from c_library.replica import Replica  # noqa: E402

OUTPUT = ROOT / 'build' / 'bench' / 'c_library'
HOST = ROOT / 'test' / 'c_library' / 'replay_host.c'
LOCKED = {'panda_finger_joint1': 0.02, 'panda_finger_joint2': 0.02}
READY = np.array([0.0, -0.7853981634, 0.0, -2.3561944902, 0.0, 1.5707963268, 0.7853981634])
STIFF: dict[str, Any] = {
    'rate': 1000.0, 'effort_rate_limit': 1000.0, 'task_frame': 'panda_hand',
    'stiffness': (52.5, 155.0, 60.0, 95.0, 4.25, 5.5, 0.7),
    'damping': (10.5, 31.0, 5.7, 19.0, 0.85, 1.1, 0.14), 'acceleration_kp': (100.0,),
    'acceleration_kd': (20.0,)}
EXPORTED = {
    'stiff': Settings(mode='joint_impedance', **STIFF),
    'soft': Settings(mode='joint_impedance', **STIFF | {
        'stiffness': tuple(0.5 * k for k in STIFF['stiffness'])}),
    'torque': Settings(mode='computed_torque', **STIFF),
    'free': Settings(mode='gravity_compensation', **STIFF),
    'spatial': Settings(mode='cartesian_impedance', **STIFF)}
STIFF_NUMBER, _, TORQUE, _, SPATIAL = range(len(EXPORTED))
CHUNK = 20_000          # steps of one arm
EVERY = 400             # steps between two calls
DISTURBED = 0.0004      # of the steps


def panda():
    """Return the model."""
    return load_robot('panda', LOCKED, []).model


def call_of(own: Replica, rng: np.random.Generator) -> tuple:
    """Return a random call, of which some are refused."""
    nv = own.controller.model.nv
    target = READY + rng.uniform(-0.4, 0.4, nv)
    kind = rng.integers(9)
    if own.settings == SPATIAL and kind in (2, 3, 4):
        pose = own.controller.memory['pose_position'][0] + rng.uniform(-0.05, 0.05, 3)
        return replica.POSE, pose, [1.0, 0.0, 0.0, 0.0]
    if kind < 2:
        return replica.TARGET, target
    if kind < 4:
        times, kinds = np.cumsum(rng.uniform(0.6, 1.5, 3)), int(rng.integers(2, 4))
        x = READY + rng.uniform(-0.3, 0.3, (3, nv))
        v = np.vstack([np.zeros((1, nv)) + 0.05, np.zeros((2, nv))])
        return replica.TRAJECTORY, [3, kinds], times, x, v, np.zeros((kinds - 2, 3, nv))
    if kind == 4:
        return (replica.TRAJECTORY,)
    if kind == 5:
        target[rng.integers(nv)] = rng.choice([np.nan, np.inf, 50.0])
        return replica.TARGET, target
    return replica.SETTINGS, [int(rng.integers(len(EXPORTED)))]


class Streamed:
    """A stream of joint references, from where the reference is."""

    def __init__(self, own: Replica, rng: np.random.Generator):
        self.begin, self.step = own.controller._v.target.copy(), 0
        self.rate = rng.uniform(1.0, 3.0, len(self.begin))
        self.size = rng.uniform(0.02, 0.15, len(self.begin))

    def next(self) -> tuple:
        """Return the next call."""
        t, self.step = 1e-3 * self.step, self.step + 1
        w, a = self.rate, self.size
        return replica.STREAM_JOINTS, np.array([
            self.begin + a * (1.0 - np.cos(w * t)), a * w * np.sin(w * t),
            a * w**2 * np.cos(w * t)])


def recorded(exported: Exported, seed: int, steps: int) -> tuple[bytes, list[int], dict[str, int]]:
    """Return records of a random motion, the times of a step in Python [ns], and what happened."""
    rng, own = np.random.default_rng(seed), Replica(exported)
    loop = ClosedLoop(exported.model, exported.settings['stiff'], READY)
    c = loop.controller = own.controller
    records: list[bytes] = []
    times: list[int] = []
    seen: dict[str, int] = {}
    stream, advance, late = None, own._advance, 0.0

    def timed(now: float) -> bool:
        begin = time.perf_counter_ns()
        publish = advance(now)
        times.append(time.perf_counter_ns() - begin)
        return publish
    own._advance = timed        # type: ignore[assignment]

    def step(now: float) -> bool:
        nonlocal stream, late
        k, call = len(records), None
        disturbance = rng.integers(6) if rng.random() < DISTURBED else -1
        joint = rng.integers(exported.model.nv)
        if disturbance == 0:
            loop.plant.push('panda_link6', rng.uniform(-40.0, 40.0, 3).tolist(), 0.1)
        elif disturbance == 1:
            c.state['position'][joint] = rng.choice([np.nan, np.inf, 3.0])
        elif disturbance == 2:
            c.state['received'] = now - 0.2
        elif disturbance == 3:
            late += rng.choice([0.002, 0.004, 0.2])
        elif disturbance == 4:
            c.state['velocity'][joint] = rng.choice([np.nan, 20.0])
        loop.plant.brakes = not c.memory['publishing'][0]
        c.state['received'] += late
        if c.phase != guard.RUNNING or own.error != 'OK':
            stream = None
        if k % 200 == 0 and c.phase in (guard.INACTIVE, guard.FAULT):
            call = (replica.ARM,)
        elif c.phase == guard.RUNNING and k % EVERY == 0:
            stream = Streamed(own, rng) if rng.random() < 0.3 else None
            call = None if stream else call_of(own, rng)
        elif k % 9000 == 8999:
            call = (replica.STOP,)
        if stream and call is None:
            call = stream.next()
        if call:
            own.call(*call)
        publish, record = own.step(now + late)
        records.append(record)
        if own.error != 'OK':
            seen[own.error] = seen.get(own.error, 0) + 1
        state = f'{c.phase.name} {c.reason_code}' if c.phase == guard.FAULT else c.phase.name
        seen[state] = seen.get(state, 0) + 1
        return publish
    c.step = step       # type: ignore[method-assign]
    for _ in range(steps):
        loop.tick()
    return b''.join(records), times, seen


def program(folder: Path) -> Path:
    """Return the program that repeats records, compiled now."""
    host = folder / 'host'
    subprocess.run([*c_compiler(), '-std=c11', '-O2', '-I', folder, HOST, '-o', host, '-L', folder,
                    '-lpanda', f'-Wl,-rpath,{folder}'], check=True)
    return host


def main(steps: Annotated[int, typer.Option(help='Steps to compare.')] = 1_000_000,
         seed: Annotated[int, typer.Option(help='Of the first arm.')] = 0,
         output: Annotated[Path, typer.Option(help='Folder of the library.')] = OUTPUT) -> None:
    """Compare, and print figures."""
    out, model = Console(), panda()
    if not (output / 'libpanda.so').exists():
        write_library(model, EXPORTED, output, 'panda', Options(), aarch64=True)
    exported = Exported(model, EXPORTED)
    host, total, seen, times = program(output), 0, {}, np.zeros(0)
    while total < steps:
        data, taken, what = recorded(exported, seed, CHUNK)
        (output / 'cycles').write_bytes(data)
        done = subprocess.run([host, output / 'cycles', str(model.nv), '0', '', '1'], text=True,
                              capture_output=True)
        if done.returncode:
            out.print(f'seed {seed}: {done.stdout}{done.stderr}')
            raise typer.Exit(1)
        total, seed, times = total + CHUNK, seed + 1, np.append(times, taken)
        seen = {key: seen.get(key, 0) + what.get(key, 0) for key in {*seen, *what}}
        median, late = 1e-3 * np.quantile(taken, [0.5, 0.999])
        out.print(f'seed {seed - 1}, C: {done.stdout.strip()}; Python: median {median:.2f} us, '
                  f'99.9 % {late:.2f} us', soft_wrap=True)
    out.print(f'{total} steps agree bit for bit: {dict(sorted(seen.items()))}', soft_wrap=True)


if __name__ == '__main__':
    typer.run(main)
