# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
C library of a controller: a program without Python gives the same efforts, bit for bit.

The library takes a minute of compiling, once for all tests: its machine code is not cached.
"""

import ctypes
from itertools import groupby
from pathlib import Path
import platform
import re
import shutil
import subprocess

from c_compiler import COMPILER, needs_compiler
import numpy as np
import pytest
from robodyn_ros import load_urdf, Settings
from robodyn_ros.c_library.library import write_library
from robodyn_ros.cli.app import app
from robodyn_ros.closed_loop import ClosedLoop
from robodyn_ros.compiler.object_code import image
from robodyn_ros.control.controller.controller import Controller
from robodyn_ros.control.cycle.compile import CYCLE_INPUTS
from robodyn_ros.control.declare.dtypes import ARM
from robodyn_ros.control.steps import guard
from robodyn_ros.errors import RobodynError
from typer.testing import CliRunner
import yaml

HOST = Path(__file__).with_name('replay_host.c')
SETTINGS = Settings(mode='joint_impedance', rate=1000.0, stiffness=(100.0, 60.0),
                    damping=(8.0, 4.0))
pytestmark = [pytest.mark.slow, needs_compiler, pytest.mark.skipif(
    platform.machine() != 'x86_64' or 'avx2' not in Path('/proc/cpuinfo').read_text(),
    reason='needs x86-64-v3')]


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    """Return a folder with the library of two_link, and a program that replays recordings."""
    pytest.importorskip('rclpy')
    place = tmp_path_factory.mktemp('library')
    (place / 'arm.yaml').write_text(yaml.safe_dump({'/**/controller': {'ros__parameters': {
        'mode': SETTINGS.mode, 'rate': SETTINGS.rate, 'stiffness': list(SETTINGS.stiffness),
        'damping': list(SETTINGS.damping)}}}))
    result = CliRunner().invoke(app, [
        'export', 'two_link', '--config', str(place / 'arm.yaml'), '-o', str(place), '--force'])
    assert result.exit_code == 0, result.output
    done = subprocess.run(
        [*COMPILER, '-std=c11', '-O2', '-Wall', '-Wextra', '-Werror', '-I.', HOST, '-o', 'host',
         '-L.', '-ltwo_link', f'-Wl,-rpath,{place}'], cwd=place, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    return place


def record(c, step, now):
    """Run a cycle; return whether it publishes, and its record."""
    request, before = c.cycle_input['request'][0], c.state.tobytes()
    publish = step(now)
    head = np.array([now, request, publish, c.phase, c.memory['joint'][0]], float)
    return publish, (head.tobytes() + c.reason_code.encode().ljust(32, b'\0') + before
                     + c.tau.tobytes())


def replayed(folder, cycles, tmp_path):
    """Return status and output of the program that replays cycles."""
    (tmp_path / 'cycles').write_bytes(cycles)
    done = subprocess.run([folder / 'host', tmp_path / 'cycles', '2'], text=True,
                          capture_output=True, timeout=60)
    return done.returncode, done.stdout


@pytest.fixture(scope='module')
def recorded():
    """Return cycles in which two_link is pushed, stops, fails twice, and is armed again."""
    pytest.importorskip('mujoco')
    loop = ClosedLoop(load_urdf('two_link'), SETTINGS, [0.3, 0.5])
    loop.controller = Controller(load_urdf('two_link'), SETTINGS)       # with kernels, as nodes
    c, cycles, phases, advance = loop.controller, [], [], loop.controller.step
    state = c.state

    def step(now):
        k = len(cycles)
        if k in (200, 1150):
            loop.plant.push('link2', [30.0, 0.0, 20.0], 0.2)
        if 600 <= k < 700:
            state['received'] = 0.001 * 600         # no state arrives: a fault
        if k >= 650:
            loop.plant.brakes = c.phase in (guard.INACTIVE, guard.FAULT)
        if 2500 <= k:
            state['position'][0] += 1.0             # another arm: a fault
        if k in (1000, 2200):
            c.arm()
        if k == 1200:
            c.stop()
        publish, cycle = record(c, advance, now + 0.0004 * (k >= 400))      # a delayed cycle
        cycles.append(cycle)
        phases.append((guard.PHASES[c.phase], c.reason_code))
        return publish
    c.step = step
    c.arm()
    motion = []
    for _ in range(2700):
        loop.tick()
        motion.append(state['position'].copy())
    return b''.join(cycles), [phase for phase, _ in groupby(phases)], np.array(motion)


def test_the_recording_has_motion_faults_and_a_stop(recorded):
    _, phases, motion = recorded
    assert np.ptp(motion[200:600], axis=0).min() > 0.01
    assert [phase for phase, _ in phases] == [
        'INACTIVE', 'RUNNING', 'FAULT', 'RUNNING', 'STOPPING', 'INACTIVE', 'RUNNING',
        'FAULT'], phases


def test_a_program_without_python_gives_the_same_efforts(folder, recorded, tmp_path):
    status, output = replayed(folder, recorded[0], tmp_path)
    assert status == 0 and output.startswith('2700 steps agree'), output


def test_so_it_does_with_random_states_times_and_requests(folder, tmp_path):
    c, rng = Controller(load_urdf('two_link'), SETTINGS), np.random.default_rng(5)
    now, cycles, phases = 0.0, [], set()
    for k in range(20_000):
        now += 0.001
        c.state['position'], c.state['velocity'] = [0.3, 0.5], 0.0
        c.state['effort'], c.state['received'] = [16.79165356, 2.73387713], now
        if rng.random() < 0.02:                     # one false value
            field = rng.choice(['position', 'velocity', 'effort', 'received', 'other', 'stamp'])
            c.state[field][rng.integers(2)] = rng.choice([np.nan, np.inf, -1e9, 0.0, 0.31, now])
        if rng.random() < 0.01:                     # a jump of the time, a stall, or no time
            now += rng.choice([-0.5, -0.001, 0.002, 0.004, 0.06, 0.3])
        if k % 400 == 0 or rng.random() < 0.01:
            c.cycle_input['request'] = rng.integers(4) if k % 400 else ARM
        cycles.append(record(c, c.step, now)[1])
        phases.add(c.phase)
    status, output = replayed(folder, b''.join(cycles), tmp_path)
    assert status == 0 and output.startswith('20000 steps agree'), output
    assert phases >= {guard.INACTIVE, guard.RUNNING, guard.FAULT}


def test_the_program_notices_one_bit(folder, recorded, tmp_path):
    cycles = bytearray(recorded[0])
    cycles[300 * (40 + 32 + 2 * 56 + 16) - 8] ^= 1          # of an effort
    status, output = replayed(folder, cycles, tmp_path)
    assert status == 1 and 'step 299 differs' in output


def test_it_needs_libm_and_libc_and_allocates_in_create_only(folder):
    if not (nm := shutil.which('nm')):
        pytest.skip('needs nm')

    def symbols(file, *options):
        lines = subprocess.run([nm, *options, folder / file], text=True, check=True,
                               capture_output=True).stdout.splitlines()
        return {line.split()[-1].partition('@')[0] for line in lines}
    assert {name for name in symbols('robodyn_cycle.o', '-u') if not re.match(
        'Py|numba_|NRT_Free|NRT_MemInfo_call_dtor|robodyn_ros_address', name)} <= {
            'exp', 'fmod', 'memset', 'memcpy', 'sincos', 'sin', 'cos', 'tanh', 'pow', 'log'}
    assert {name for name in symbols('libtwo_link.so', '-D', '--defined-only')
            if not name.startswith('robodyn_controller_')} == set()


def test_another_header_or_robot_gets_no_controller(folder):
    library, error = ctypes.CDLL(folder / 'libtwo_link.so'), ctypes.c_int()
    create = library.robodyn_controller_create
    create.restype = ctypes.c_void_p
    for version, joints, expected in ((2, 2, 1), (1, 3, 2), (1, 2, 0)):
        controller = create(version, joints, ctypes.byref(error))
        assert (controller is None, error.value) == (expected != 0, expected)
    library.robodyn_controller_joint.restype = ctypes.c_char_p
    assert library.robodyn_controller_joint(1) == b'joint2'
    assert library.robodyn_controller_joint(2) is None


def test_two_controllers_share_nothing(folder):
    library = ctypes.CDLL(folder / 'libtwo_link.so')
    library.robodyn_controller_create.restype = ctypes.c_void_p
    one, other = (ctypes.c_void_p(library.robodyn_controller_create(1, 2, None)) for _ in range(2))
    state, tau = np.full((2, 7), np.nan), np.zeros(2)
    state[:, :3] = 0.0
    library.robodyn_controller_arm(one)
    for k in range(60):
        state[:, 3] = now = 0.001 * k
        for controller in (one, other):
            library.robodyn_controller_step(
                controller, ctypes.c_void_p(state.ctypes.data), ctypes.c_double(now),
                ctypes.c_void_p(tau.ctypes.data))
    assert library.robodyn_controller_phase(other) == guard.INACTIVE
    library.robodyn_controller_destroy(one)
    library.robodyn_controller_destroy(other)
    library.robodyn_controller_destroy(None)


def test_arrays_that_share_memory_do_so_in_the_image():
    controller = Controller(load_urdf('two_link'), SETTINGS, specialize=False)
    found = image(CYCLE_INPUTS, controller.inputs, {})
    v, ring = controller.inputs.vectors, controller.inputs.ring
    assert found.place_of(ring.present) == found.place_of(v.q)
    assert found.place_of(v.qd) == found.place_of(v.q) + 2
    assert set(found.pointers.values()) <= set(range(len(found.words)))


def test_there_is_no_library_without_a_compiler(monkeypatch, tmp_path):
    monkeypatch.setattr(shutil, 'which', lambda name: None)
    monkeypatch.setattr('robodyn_ros.c_library.library.find_spec', lambda name: None)
    with pytest.raises(RobodynError, match='there is no C compiler: install gcc'):
        write_library(load_urdf('two_link'), SETTINGS, tmp_path, 'two_link')
