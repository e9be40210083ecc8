# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""C library of a controller: a program without Python gives the same efforts, bit for bit."""

import ctypes
from dataclasses import replace
from itertools import groupby
import os
from pathlib import Path
import platform
import re
import shutil
import subprocess

from c_compiler import COMPILER, needs_compiler
from c_library import replica
from c_library.replica import Replica
from cli.commands import config_options, done, robodyn
import numpy as np
import pytest
from robodyn_ros import Dynamics, load_urdf, Settings
from robodyn_ros.c_library.exported import Exported, Options
from robodyn_ros.c_library.library import ARM, ARM_CPU, CPU, FLAGS, stored_assembly, write_library
from robodyn_ros.closed_loop import ClosedLoop
from robodyn_ros.compiler.linking import assembly, image
from robodyn_ros.control.controller.controller import Controller
from robodyn_ros.control.cycle.compile import CYCLE_INPUTS
from robodyn_ros.control.cycle.compile_laws import compiled_law
from robodyn_ros.control.laws.pd import JOINT_IMPEDANCE
from robodyn_ros.control.steps import guard
from robodyn_ros.errors import ParameterError, RobodynError
from robodyn_ros.flight_recorder.file import read
from robodyn_ros.flight_recorder.replay import Replay
from robodyn_ros.model.rigid_body import quaternion_product

HOST, ALLOCATIONS = (Path(__file__).with_name(name) for name in (
    'replay_host.c', 'count_allocations.c'))
SOURCES = ('robodyn_controller.h', 'robodyn_image.h', 'robodyn_controller.c', 'robodyn_cycle.s')
NODE = {'heartbeat_timeout': 0.2, 'emergency_stop': True}      # of the node, not of the settings
MASS, DISTANCE = 3.0, 0.1
COMMON = {'rate': 1000.0, 'payload_frame': 'link2', 'task_frame': 'tool0'}
STIFF = {'mode': 'joint_impedance', 'stiffness': [100.0, 60.0], 'damping': [8.0, 4.0]}
FILES = {'stiff': STIFF, 'soft': STIFF | {'stiffness': [40.0, 25.0]},
         'free': {'mode': 'gravity_compensation'},
         'loaded': STIFF | {'payload_mass': 0.2, 'payload_com': [0.0, 0.0, 0.05]},
         'heavy': STIFF | {'payload_mass': MASS},
         'spatial': {'mode': 'cartesian_impedance'}}
FIRST, SOFT, FREE, LOADED, HEAVY, SPATIAL = range(len(FILES))
pytestmark = [
    pytest.mark.slow, pytest.mark.usefixtures('few_poses'), needs_compiler, pytest.mark.skipif(
        platform.machine() != 'x86_64' or 'avx2' not in Path('/proc/cpuinfo').read_text(),
        reason='needs x86-64-v3')]


def settings_of(values):
    known = {key: tuple(value) if isinstance(value, list) else value
             for key, value in (COMMON | values).items()}
    return Settings(**known)


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    """Return a folder with the library of two_link, and a program that replays recordings."""
    pytest.importorskip('rclpy')
    place = tmp_path_factory.mktemp('library')
    done('export', 'two_link', '-o', place, '--force', '--payload', f'{MASS},{DISTANCE}',
         *config_options(place, {name: NODE | COMMON | own for name, own in FILES.items()}))
    for words in (['-shared', '-fPIC', str(ALLOCATIONS), '-o', 'liballocations.so'],
                  [str(HOST), '-o', 'host', '-L.', '-ltwo_link', f'-Wl,-rpath,{place}']):
        compiled = subprocess.run([*COMPILER, '-std=c11', '-O2', '-Wall', '-Wextra', '-Werror',
                                   '-I.', *words], cwd=place, text=True, capture_output=True)
        assert compiled.returncode == 0, compiled.stderr
    return place


def replayed(folder, cycles, tmp_path, *more):
    """Return status and output of the program that replays cycles."""
    (tmp_path / 'cycles').write_bytes(cycles)
    done = subprocess.run(
        [folder / 'host', tmp_path / 'cycles', '2', *more], text=True, capture_output=True,
        timeout=120, env=os.environ | {'LD_PRELOAD': str(folder / 'liballocations.so')})
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope='module')
def exported():
    """Return what the library is made of, in this process."""
    return Exported(load_urdf('two_link'), {name: settings_of(v) for name, v in FILES.items()},
                    Options(MASS, DISTANCE, *NODE.values()))


def played(exported, steps, calls, disturb=lambda k, loop: 0.0):
    """
    Return records, phases, positions with references, and errors of a motion of two_link.

    :param calls: of a step: its number and the replica to a call, or None.
    :param disturb: changes the state before a step; returns by how much the step is late [s].
    """
    first = next(iter(exported.settings.values()))
    loop, own = ClosedLoop(load_urdf('two_link'), first, [0.3, 0.5]), Replica(exported)
    c = loop.controller = own.controller
    records, phases, motion, errors = [], [], [], {}

    def step(now):
        k = len(records)
        late = disturb(k, loop)
        if call := calls(k, own):
            own.call(*call)
        publish, record = own.step(now + late)
        records.append(record)
        phases.append((guard.PHASES[c.phase], c.reason_code))
        motion.append([c.state['position'].copy(), c._v.target.copy()])
        if own.error != 'OK':
            errors[k] = own.error
        return publish
    c.step = step
    for _ in range(steps):
        loop.tick()
    return b''.join(records), [phase for phase, _ in groupby(phases)], np.array(motion), errors


@pytest.fixture(scope='module')
def pushed(exported):
    """Return the same of two_link that is pushed, stops, fails four times, and is armed again."""
    pytest.importorskip('mujoco')
    calls_at = {0: replica.RELEASE, 1: replica.ARM, 1000: replica.ARM, 1200: replica.STOP,
                2200: replica.ARM, 2500: replica.EMERGENCY_STOP, 2800: replica.RELEASE,
                3000: replica.ARM, 3700: replica.ARM}
    stop = {}

    def disturb(k, loop):
        state, phase = loop.controller.state, loop.controller.phase
        if k in (200, 1150):
            loop.plant.push('link2', [30.0, 0.0, 20.0], 0.2)
        if 600 <= k < 700:
            state['received'] = 0.001 * 600         # no state arrives: a fault
        if k >= 650:
            loop.plant.brakes = phase in (guard.INACTIVE, guard.FAULT)
        if k == 3400:
            stop['q'], stop['qd'] = state['position'].copy(), state['velocity'].copy()
        if 3400 <= k < 3600:                        # it stops by itself within 30 ms: a fault
            state['velocity'] = stop['qd'] * max(0.0, 1.0 - (k - 3400) / 30)
            stop['q'] += 0.001 * state['velocity']
            state['position'] = stop['q']
        if k >= 4000:
            state['position'][0] += 1.0             # another arm: a fault
        return 0.0004 * (k >= 400)                  # a delayed cycle
    return played(exported, 4200, lambda k, own: (calls_at[k],) if k in calls_at else (
        replica.TARGET, [1.2, -0.4]) if k == 3300 else None, disturb)


def test_the_recording_has_motion_faults_and_stops(pushed):
    _, phases, motion, _ = pushed
    assert np.ptp(motion[200:600, 0], axis=0).min() > 0.01
    assert [phase if phase != 'FAULT' else reason for phase, reason in phases] == [
        'INACTIVE', 'RUNNING', 'STALE_STATE', 'RUNNING', 'STOPPING', 'INACTIVE', 'RUNNING',
        'EMERGENCY_STOP', 'RUNNING', 'ROBOT_STOPPED', 'RUNNING', 'STATE_INCONSISTENT'], phases


def test_a_program_without_python_gives_the_same_efforts(folder, pushed, tmp_path):
    status, output = replayed(folder, pushed[0], tmp_path)
    assert status == 0 and output.startswith('4200 steps agree'), output
    assert 'none allocates' in output
    cycles = bytearray(pushed[0])
    cycles[300 * (56 + 32 + 2 * 56 + 16) - 8] ^= 1          # of an effort
    status, output = replayed(folder, cycles, tmp_path)
    assert status == 1 and 'step 299 differs' in output


SINE = 2.0      # rad/s


def stream(k, own, begun={}):       # noqa: B006
    """Return the next reference of a stream that has begun with step 3000."""
    if k == 3000:
        begun['at'] = own.controller._v.target.copy()
    t, size = 1e-3 * (k - 3000), np.array([0.2, -0.1])
    return (replica.STREAM_JOINTS, begun['at'] + size * (1.0 - np.cos(SINE * t)),
            size * SINE * np.sin(SINE * t), size * SINE**2 * np.cos(SINE * t))


X, V = [[0.5, 0.3], [0.4, 0.4], [0.3, 0.5]], [[-0.1, 0.1], [-0.1, 0.1], [0.0, 0.0]]
NAN = np.nan
ASKED = {
    0: (replica.RELEASE,), 1: (replica.ARM,),
    10: (replica.TARGET, [0.5, 0.5]), 400: (replica.TARGET, [0.6, 0.2]),
    900: (replica.TRAJECTORY, [3, 3], [0.5, 1.0, 1.5], X, V, np.zeros((3, 2))),
    1500: (replica.TRAJECTORY,),
    1600: (replica.TRAJECTORY, [3, 2], [0.0, 0.7, 1.5], X, V),
    1700: (replica.TRAJECTORY, [3, 2], [0.0, 0.7, 1.5], X[::-1], V),
    1800: (replica.TRAJECTORY, [3, 2], [0.5, 1.0, 1.5], X, V),
    1900: (replica.SETTINGS, [SOFT]), 2200: (replica.SETTINGS, [FREE]),
    2250: (replica.TARGET, [0.1, 0.1]), 2300: (replica.SETTINGS, [FIRST]),
    2400: (replica.SETTINGS, [LOADED]), 2500: (replica.SETTINGS, [HEAVY]),
    2600: (replica.SETTINGS, [FIRST]),
    2700: (replica.TARGET, [NAN, 0.0]), 2710: (replica.TARGET, [100.0, 0.0]),
    2720: (replica.TRAJECTORY, [2, 2], [0.5, 0.4], X[:2], V[1:]),
    2730: (replica.TRAJECTORY, [2, 2], [0.5, 1.0], X[:2], V[:2]),
    2740: (replica.TRAJECTORY, [3, 2], [0.01, 0.02, 0.03], X, V),
    2750: (replica.TRAJECTORY, [2, 2], [0.5, 1.0], X[:2], [[NAN, 0.0], [0.0, 0.0]]),
    2760: (replica.STREAM_JOINTS, [[1.5, 1.5], [0.0, 0.0], [0.0, 0.0]]),
    2770: (replica.STREAM_JOINTS, [[NAN, NAN], [50.0, 0.0], [0.0, 0.0]]),
    2780: (replica.STREAM_POSE, np.zeros(13)),
    4100: (replica.SETTINGS, [SPATIAL]), 4600: (replica.STREAM_POSE, np.full(13, NAN)),
    4700: (replica.POSE, [9.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]),
    4800: (replica.TARGET, [0.3, 0.5])}


def asked(k, own):
    if 3000 <= k < 3600:
        return stream(k, own)
    if 3600 <= k < 3800:            # velocities alone
        return replica.STREAM_JOINTS, [[NAN, NAN], [0.2, 0.1], [NAN, NAN]]
    if k in (4200, 4300) or 4400 <= k < 4500:
        position = own.controller.memory['pose_position'][0].copy()
        R = own.controller.memory['pose_rotation'][0].reshape(3, 3)
        angle = np.arctan2(R[2, 0], R[0, 0])            # about z, then by 90° about x
        quaternion = quaternion_product(np.sqrt([0.5, 0.0, 0.0, 0.5]),
                             np.array([0.0, 0.0, np.sin(angle / 2.0), np.cos(angle / 2.0)]))
        if k >= 4400:
            return (replica.STREAM_POSE, position + [0.0, 0.0, 1e-4], quaternion,
                    [0.0, 0.0, 0.1, 0.0, 0.0, 0.0])
        return replica.POSE, position - [0.02, 0.0, 0.02], quaternion
    return ASKED.get(k)


@pytest.fixture(scope='module')
def followed(exported):
    """Return the same of two_link that follows references of all kinds, and refuses others."""
    pytest.importorskip('mujoco')
    return played(exported, 5000, asked)


def test_references_are_followed_or_refused_with_their_reason(followed, folder, tmp_path):
    _, phases, motion, errors = followed
    assert phases[-1] == ('RUNNING', 'NO_REASON'), phases
    assert np.abs(motion[899, 1] - [0.6, 0.2]).max() < 1e-9
    assert np.abs(motion[1899, 1] - [0.6, 0.2]).max() > 0.05
    assert np.ptp(motion[3000:3600], axis=0).min() > 0.05
    steps = np.abs(np.diff(motion[2700:4100, 1], axis=0))       # of the reference, of 0.4 rad/s
    assert steps.max() < 5e-4 and steps[1200:].max() == 0.0
    refused = {k: error for k, error in errors.items() if not 4400 <= k < 4500}
    assert refused == {
        10: 'NOT_RUNNING', 1700: 'JUMP', 2250: 'NOT_FOLLOWED', 2500: 'WRONG_PAYLOAD',
        2700: 'NOT_FINITE', 2710: 'OUTSIDE', 2720: 'WRONG_TIMES', 2730: 'MOVING_END',
        2740: 'TOO_FAST', 2750: 'NOT_FINITE', 2760: 'JUMP', 2770: 'TOO_FAST',
        2780: 'NOT_FOLLOWED', 4600: 'NOT_FINITE', 4700: 'OUTSIDE', 4800: 'NOT_FOLLOWED'}
    status, output = replayed(folder, followed[0], tmp_path)
    assert status == 0 and output.startswith('5000 steps agree'), output
    assert 'none allocates' in output


def test_a_recording_of_the_program_is_recomputed_bit_for_bit(folder, followed, tmp_path):
    status, output = replayed(folder, followed[0], tmp_path, '4000', tmp_path / 'flight')
    assert status == 0, output
    flown = read(tmp_path / 'flight')
    agreement = Replay(flown.model, flown.snapshot).compare()
    assert agreement.cycles == agreement.same > 3000
    assert len(flown.snapshot.versions) > 5 and len(flown.snapshot.points) > 600
    data = (tmp_path / 'flight').read_bytes()
    for damaged in (data[:-9], data[:50_000], data[:16]):
        (tmp_path / 'flight').write_bytes(damaged)
        with pytest.raises(RobodynError, match='cannot be read .*exported library'):
            read(tmp_path / 'flight')


def reference(rng, controller):
    """Return a random call that most often begins a motion, or stops one."""
    kind, x = rng.integers(4), controller._v.target
    if kind == 0:
        return (replica.TRAJECTORY,)
    if kind == 1:
        return replica.TARGET, x + rng.uniform(-0.2, 0.2, 2)
    if kind == 2:
        return (replica.POSE, controller.memory['pose_position'][0] + rng.uniform(-0.02, 0.02, 3),
                np.sqrt([0.5, 0.0, 0.0, 0.5]))
    count, kinds = rng.integers(2, 9), rng.integers(2, 4)
    times = np.cumsum(rng.uniform(0.3, 0.6, count))
    times -= times[0] * rng.integers(2)
    rows = rng.uniform(-0.1, 0.1, (kinds, count, 2))
    rows[0] += x
    rows[0, 0] += rng.uniform(-0.01, 0.01, 2) - rows[0, 0] + x
    rows[1, -1] = 0.0
    return replica.TRAJECTORY, [count, kinds], times, rows


def test_so_it_is_with_random_states_times_and_calls(folder, exported, tmp_path):
    own, rng = Replica(exported), np.random.default_rng(5)
    c, now, cycles, phases = own.controller, 0.0, [], set()
    own.call(replica.RELEASE)
    for k in range(20_000):
        now += 0.001
        c.state['position'], c.state['velocity'] = [0.3, 0.5], 0.0
        c.state['effort'], c.state['received'] = [16.79165356, 2.73387713], now
        if rng.random() < 0.02:                     # one false value
            field = rng.choice(['position', 'velocity', 'effort', 'received', 'other', 'stamp'])
            c.state[field][rng.integers(2)] = rng.choice([np.nan, np.inf, -1e9, 0.0, 0.31, now])
        if rng.random() < 0.01:                     # a jump of the time, a stall, or no time
            now += rng.choice([-0.5, -0.001, 0.002, 0.004, 0.06, 0.15])
        if k % 400 == 1:
            own.call(replica.ARM)
        elif k > 1 and rng.random() < 0.05:
            numbers = rng.choice([0.3, 0.5, 0.31, 3.0, np.nan, np.inf, 0.0, -1e300], 6)
            kind = rng.choice([replica.ARM, replica.DISARM, replica.STREAM_JOINTS,
                               replica.TARGET, replica.SETTINGS])
            own.call(kind, *{replica.STREAM_JOINTS: [numbers], replica.TARGET: [numbers[:2]],
                             replica.SETTINGS: [[rng.integers(len(FILES))]]}.get(kind, []))
        cycles.append(own.step(now)[1])
        phases.add(c.phase)
    status, output = replayed(folder, b''.join(cycles), tmp_path)
    assert status == 0 and output.startswith('20000 steps agree'), output
    assert phases >= {guard.INACTIVE, guard.RUNNING, guard.FAULT}


def test_random_references_are_those_of_the_program(folder, exported, tmp_path):
    """Trajectories, targets and stops that replace each other in motion."""
    pytest.importorskip('mujoco')
    rng, asked_of = np.random.default_rng(5), {}

    def calls(k, own):
        if k < 2:
            return ((replica.RELEASE,), (replica.ARM,))[k]
        if k >= 400 and k % 900 == 0:
            return replica.SETTINGS, [rng.choice([FIRST, SPATIAL])]
        if k < 400 or k % 70:
            return None
        call = reference(rng, own.controller)
        asked_of[k] = call[0], len(call) > 1
        return call
    cycles, phases, motion, errors = played(exported, 8000, calls)
    assert phases[-1] == ('RUNNING', 'NO_REASON')
    begun = {what for k, what in asked_of.items() if k not in errors}
    assert len(begun) == 4 and np.ptp(motion[:, 1], axis=0).min() > 0.2
    status, output = replayed(folder, cycles, tmp_path)
    assert status == 0 and output.startswith('8000 steps agree'), output
    assert 'none allocates' in output


def test_it_needs_libm_and_libc_alone(folder):
    if not (nm := shutil.which('nm')) or not (readelf := shutil.which('readelf')):
        pytest.skip('needs nm and readelf')

    assert '\t.globl\trobodyn_recorded_cycle\n' in (folder / 'robodyn_cycle.s').read_text()
    subprocess.run([*COMPILER, '-c', 'robodyn_cycle.s'], cwd=folder, check=True)

    def symbols(file, *options):
        lines = subprocess.run([nm, *options, folder / file], text=True, check=True,
                               capture_output=True).stdout.splitlines()
        return {line.split()[-1].partition('@')[0] for line in lines}
    assert {name for name in symbols('robodyn_cycle.o', '-u') if not re.match(
        'Py|numba_|NRT_Free|NRT_MemInfo_call_dtor|robodyn_ros_address|_GLOBAL_OFFSET', name)} <= {
            'exp', 'fmod', 'memset', 'memcpy', 'memmove', 'sincos', 'sin', 'cos', 'tanh', 'pow',
            'log', 'atan2', 'cbrt', 'rint', 'round'}
    assert {name for name in symbols('libtwo_link.so', '-D', '--defined-only')
            if not name.startswith('robodyn_controller_')} == set()
    needed = subprocess.run([readelf, '-d', folder / 'libtwo_link.so'], text=True, check=True,
                            capture_output=True).stdout
    assert set(re.findall(r'NEEDED.*\[(.*)\]', needed)) <= {'libm.so.6', 'libc.so.6'}


def rebuilt(folder, place, file, *changes):
    """Compile the library elsewhere, texts in a file replaced; return the process."""
    for name in SOURCES:
        text = (folder / name).read_text()
        if name == file:
            for old, new in zip(changes[::2], changes[1::2], strict=True):
                assert old in text
                text = text.replace(old, new)
        (place / name).write_text(text)
    return subprocess.run(
        [*COMPILER, *FLAGS, '-O0', '-shared', *SOURCES[2:], '-o', 'lib.so', '-lm',
         '-Wl,--no-undefined'], cwd=place, text=True, capture_output=True)


@pytest.mark.parametrize('file, old, new, said', [
    ('robodyn_cycle.s', 'robodyn_cycle_of_export_', 'robodyn_cycle_of_export_0',
     'robodyn_cycle_of_export_'),
    ('robodyn_controller.h', 'VERSION 4', 'VERSION 5', 'are of two versions: export again'),
    ('robodyn_controller.h', 'double arming_time;', 'double other_time;', 'arming_time')])
def test_files_of_two_exports_are_refused_by_name(folder, tmp_path, file, old, new, said):
    done = rebuilt(folder, tmp_path, file, old, new)
    assert done.returncode and said in done.stderr, done.stderr


def test_fields_in_another_order_are_not_misread(folder, tmp_path):
    done = rebuilt(folder, tmp_path, 'robodyn_controller.h', 'arming_time', 'other',
                   'state_timeout', 'arming_time', 'other', 'state_timeout')
    assert done.returncode == 0, done.stderr
    values = (ctypes.c_double * 5)()
    assert ctypes.CDLL(tmp_path / 'lib.so').robodyn_controller_parameters(FIRST, values)
    first = settings_of(STIFF)
    assert [*values][:3] == [first.state_timeout, first.arming_samples / first.rate, 0.2]


# --- Through ctypes --------------------------------------------------------------------------


class Library:
    """The functions of the library, without their prefix; a controller that is called."""

    def __init__(self, folder, recorded=0):
        self._library = ctypes.CDLL(folder / 'libtwo_link.so')
        for name, kind in (('create', ctypes.c_void_p), ('period', ctypes.c_double),
                           ('payload_mass', ctypes.c_double), ('joint', ctypes.c_char_p),
                           ('robot', ctypes.c_char_p), ('reason', ctypes.c_char_p),
                           ('error_text', ctypes.c_char_p), ('reason_text', ctypes.c_char_p),
                           ('settings_mode', ctypes.c_char_p),
                           ('settings_name', ctypes.c_char_p)):
            self.function(name).restype = kind
        self.controller = ctypes.c_void_p(self.function('create')(4, 2, recorded, None))
        self.state, self.tau, self.time = np.full((2, 7), np.nan), np.zeros(2), 0.0
        self.state[:, :3] = [[0.3, 0.0, 16.79165356], [0.5, 0.0, 2.73387713]]
        self.beats = True

    def function(self, name):
        return getattr(self._library, f'robodyn_controller_{name}')

    def __getattr__(self, name):
        return lambda *words: self.function(name)(self.controller, *words)

    def run(self, steps):
        """Step so often, every millisecond."""
        for _ in range(steps):
            self.time += 0.001
            self.state[:, 3] = self.time
            if self.beats:
                self.heartbeat()
            self.step(ctypes.c_void_p(self.state.ctypes.data), ctypes.c_double(self.time),
                      ctypes.c_void_p(self.tau.ctypes.data))

    def start(self):
        """Run until the arm is RUNNING."""
        self.emergency_stop(0)
        self.arm()
        self.run(400)
        assert self.phase() == guard.RUNNING, self.reason()


@pytest.fixture
def library(folder):
    one = Library(folder, 2000)
    yield one
    one.destroy()


def test_the_library_tells_what_was_exported(library):
    f = library.function
    assert f('version')() == 4 and f('robot')() == b'two_link' and f('joints')() == 2
    assert f('joint')(1) == b'joint2' and f('joint')(2) is None and f('period')() == 0.001
    assert [f('settings_name')(k).decode() for k in range(f('settings_count')())] == [*FILES]
    assert f('settings_mode')(FREE) == b'gravity_compensation'
    assert f('settings_mode')(99) is None and f('settings_mode')(-1) is None
    assert [f('settings_reference')(k) for k in (FIRST, FREE, SPATIAL)] == [1, 0, 2]
    limits = (ctypes.c_double * 6)()
    assert f('limits')(FIRST, 1, limits) == 1 and f('limits')(FIRST, 2, limits) == 0
    assert limits[1] == load_urdf('two_link').position_upper[1]
    assert f('payload_mass')() == MASS
    names, numbers_of = (ctypes.c_char_p * 8)(), (ctypes.c_double * 8)()
    for values in (names, numbers_of):
        assert f('body')(1, values) == 1 and f('body')(2, values) == 0
    model = load_urdf('two_link')
    assert names[:3] == [b'joint2', b'joint1', b'revolute']
    assert numbers_of[3:] == [model.mass[1], model.position_lower[1], model.position_upper[1],
                              model.velocity_limit[1], model.effort_limit[1]]
    assert f('reason_text')(b'STALE_STATE') == b'state is stale' and f('reason_text')(b'x') is None
    assert f('error_text')(8).startswith(b'the law in force') and f('error_text')(99)


def test_headers_and_neighbours(library, folder):
    create, error = library.function('create'), ctypes.c_int()
    for version, joints, expected in ((3, 2, 1), (5, 2, 1), (4, 3, 2), (4, 2, 0)):
        controller = create(version, joints, 0, ctypes.byref(error))
        assert (controller is None, error.value) == (expected != 0, expected)
    other = Library(folder)
    library.start()
    other.run(400)
    assert other.phase() == guard.INACTIVE
    other.destroy()
    library.function('destroy')(None)


def test_stops_of_others(library):
    library.arm()
    library.run(100)
    assert library.phase() == guard.INACTIVE            # the file asks for it from the beginning
    library.start()
    library.emergency_stop(1)
    library.emergency_stop(0)                           # between two steps: it is not missed
    library.run(1)
    assert library.phase() == guard.FAULT and library.reason() == b'EMERGENCY_STOP'
    library.start()
    library.beats = False
    library.run(190)
    assert library.phase() == guard.RUNNING
    library.run(20)
    assert library.phase() == guard.FAULT and library.reason() == b'HEARTBEAT_LOST'
    library.beats = True
    library.start()
    library.end_heartbeat()
    library.heartbeat()                                 # between two steps: it is not missed
    library.run(1)
    assert library.phase() == guard.FAULT and library.reason() == b'HEARTBEAT_LOST'
    library.beats = False
    library.heartbeat()
    library.end_heartbeat()                             # the last word counts
    library.arm()
    library.run(100)
    assert library.phase() == guard.FAULT


def test_a_stop_ends_with_no_efforts(library):
    library.start()
    library.stop()
    library.run(400)
    assert library.phase() == guard.INACTIVE and np.isnan(library.tau).all()


def numbers(*values):
    return (ctypes.c_double * len(values))(*values)


def test_one_request_waits_at_a_time(library):
    library.start()
    assert library.posted(None) == 0 and library.post_target(numbers(0.4, 0.4)) == 0
    assert library.posted(None) == 5                    # PENDING
    assert library.post_target(numbers(0.4, 0.4)) == 6 == library.post_settings(SOFT)   # BUSY
    library.run(1)
    assert library.posted(None) == 0 and library.moving() == 1
    joint, waypoint = ctypes.c_int(), ctypes.c_int()
    assert library.post_target(numbers(0.4, 99.0)) == 0
    library.run(1)
    assert library.posted(ctypes.byref(joint)) == 10 and joint.value == 1       # OUTSIDE
    assert library.post_settings(99) == 16              # NOT_EXPORTED
    assert library.posted(ctypes.byref(joint)) == 16 and joint.value == -1, 'of this request'
    assert library.post_trajectory(
        2, numbers(0.5, 1.0), numbers(0.4, 99.0, 0.3, 0.4), numbers(0.0, 0.0, 0.0, 0.0), None,
        ctypes.byref(joint), ctypes.byref(waypoint)) == 10
    assert joint.value == 1 and waypoint.value == 0
    assert library.posted(ctypes.byref(joint)) == 10 and joint.value == 1, 'refused at once'
    assert library.post_settings(SOFT) == 0 and library.settings() == FIRST
    library.run(1)
    assert library.settings() == SOFT and library.posted(ctypes.byref(joint)) == 0
    assert joint.value == -1


def test_an_arm_that_is_armed_in_every_cycle_is_armed(library):
    library.emergency_stop(0)
    for _ in range(400):
        library.arm()
        library.run(1)
    assert library.phase() == guard.RUNNING, library.reason()


def test_a_payload_changes_gravity_within_its_bounds(library, folder, tmp_path):
    def post(mass, *center):
        error = library.post_payload(ctypes.c_double(mass), numbers(*center))
        library.run(1)
        return error or library.posted(None)
    assert post(MASS + 0.1, 0.0, 0.0, 0.0) == 16 == post(0.1, DISTANCE, DISTANCE, 0.0)
    assert post(NAN, 0.0, 0.0, 0.0) == 9
    library.start()
    before = library.tau.copy()
    assert post(MASS, 0.0, 0.0, DISTANCE) == 17         # no effort is measured of such a payload
    assert post(0.1, 0.0, 0.02, 0.05) == 0
    library.run(1500)
    model = load_urdf('two_link')
    loaded = Settings(mode='gravity_compensation', payload_frame='link2', payload_mass=0.1,
                      payload_com=(0.0, 0.02, 0.05)).loaded(model)
    expected = (Dynamics(loaded).gravity([0.3, 0.5]) - Dynamics(model).gravity([0.3, 0.5]))
    assert np.abs(library.tau - before - expected).max() < 1e-9
    assert library.post_settings(SOFT) == 0             # with the payload
    library.run(1000)
    assert np.abs(library.tau - before - expected).max() < 1e-9
    assert post(0.0, 0.0, 0.0, 0.0) == 0
    library.run(1000)
    assert np.abs(library.tau - before).max() < 1e-9
    assert library.write_recording(str(tmp_path / 'flight').encode()) == 0
    flown = read(tmp_path / 'flight')
    agreement = Replay(flown.model, flown.snapshot).compare()
    assert agreement.cycles == agreement.same == 2000
    assert post(0.1, 0.0, 0.02, 0.05) == 0
    other = Library(folder)                             # knows neither payload nor settings
    other.start()
    assert other.settings() == FIRST and np.abs(other.tau - before).max() < 1e-9
    other.destroy()


def test_without_cycles_to_record_there_is_no_recording(folder, tmp_path):
    library = Library(folder)
    assert library.write_recording(str(tmp_path / 'flight').encode()) == 18     # NOT_RECORDED
    library.destroy()
    library = Library(folder, 10)
    assert library.write_recording(b'/nowhere/flight') == 19                    # NOT_WRITTEN
    library.destroy()


# --- In Python -------------------------------------------------------------------------------


def test_what_is_not_exported_is_refused(tmp_path, monkeypatch):
    model, first = load_urdf('two_link'), settings_of(STIFF)
    with pytest.raises(ParameterError, match='rate of slow is 500.0: use 1000.0'):
        Exported(model, {'fast': first, 'slow': replace(first, rate=500.0)})
    with monkeypatch.context() as patch:                # before anything is compiled
        patch.setattr('robodyn_ros.c_library.exported.Controller', None)
        with pytest.raises(ParameterError, match='payload_frame is not set in bare: set it to t'):
            Exported(model, {'bare': replace(first, payload_frame='')}, Options(1.0, 0.1))
    with pytest.raises(ParameterError, match='unstable'):
        Exported(model, {'fast': first, 'hard': replace(first, stiffness=(1e5, 1e5))})
    pytest.importorskip('rclpy')
    one = COMMON | STIFF
    result = robodyn('export', 'two_link', '-o', tmp_path / 'out', *config_options(
        tmp_path, {'one': one, 'two': one | {'tip': 'link1'}}))
    assert result.exit_code and "tip is 'link1' in two, and '' in the first" in result.output


def test_images_of_arrays_and_assembly_for_arm():
    controller = Controller(load_urdf('two_link'), settings_of(STIFF), specialize=False)
    found = image([(CYCLE_INPUTS, controller.inputs)] * 2, {})
    v, ring = controller.inputs.vectors, controller.inputs.ring
    assert found.place_of(ring.present) == found.place_of(v.q)
    assert found.place_of(v.qd) == found.place_of(v.q) + 2
    assert set(found.pointers.values()) <= set(range(len(found.words)))
    assert len(found.tuples) == 2 and len(found.pointers) % 2 == 0
    functions = {'robodyn_law': compiled_law(JOINT_IMPEDANCE)}
    assert '@llvm.x86' in str(functions['robodyn_law']._library._get_module_for_linking())
    assert '\tfmadd\t' in assembly(functions, ARM_CPU, ARM)      # an instruction of AArch64


def test_assembly_is_made_once(monkeypatch):
    functions = {'robodyn_law': compiled_law(JOINT_IMPEDANCE)}
    code = stored_assembly(functions, CPU)
    assert code == assembly(functions, CPU)
    monkeypatch.setattr('robodyn_ros.c_library.library.assembly', None)
    assert stored_assembly(functions, CPU) == code
    with pytest.raises(TypeError):
        stored_assembly(functions, 'x86-64-v2')


def test_there_is_no_library_without_a_compiler(monkeypatch, tmp_path):
    monkeypatch.setattr(shutil, 'which', lambda name: None)
    monkeypatch.setattr('robodyn_ros.c_library.library.find_spec', lambda name: None)
    with pytest.raises(RobodynError, match='there is no C compiler: install gcc'):
        write_library(load_urdf('two_link'), {'stiff': settings_of(STIFF)}, tmp_path, 'two_link')
