# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Text of ``robodyn_image.h``: robot and settings, and the memory that the code reads."""

from collections.abc import Iterable, Mapping
from math import inf, isfinite, isnan
from pathlib import Path
from string import Template
from typing import Any

import numpy as np
from numpy import ndarray

from .exported import Exported, GENERIC, Options
from ..compiler.linking import Image
from ..compiler.tuple_reference import place_of_field, WORD
from ..control.cycle.compile import CYCLE_INPUTS
from ..control.cycle.ring_buffer import SPARE_SLOTS
from ..control.inputs.pose_tracking import no_command
from ..control.laws.law import POSE, TRAJECTORY
from ..control.references.compile_planner import REQUEST
from ..control.references.request import MAX_WAYPOINTS, segments_of, SHORT_SEGMENTS
from ..control.settings.motion_limits import resting_error_warning
from ..control.settings.settings import Settings
from ..control.steps import guard, robot_dynamics
from ..errors import printable
from ..model.resources import package_version
from ..model.robot import Frame, RobotModel

MAX_RECORDED_CYCLES = 100_000    # cycles that may be recorded
RING = 'cycles', 'inputs', 'state', 'memory', 'vectors', 'tau', 'partner'
KINDS = {TRAJECTORY: 'ROBODYN_JOINT_REFERENCE', POSE: 'ROBODYN_POSE_REFERENCE'}
NUMBERS_A_LINE = 8
TEMPLATE = Path(__file__).with_name('c') / 'robodyn_image.h.template'


def image_text(exported: Exported, memory: Image, functions: Mapping[str, Any],
               about: bytes, *, code: str, version: str) -> str:
    """
    Return the text.

    :param memory: from :meth:`.Exported.memory`, with these functions.
    :param about: description of the robot for :func:`..flight_recorder.file.description`.
    :param code: symbol that only the assembly for this image defines.
    :param version: of the header that declares the structures.
    """
    model, options, count = exported.model, exported.options, len(exported.versions)
    first = exported.versions[0].settings
    constants = _constants(exported, memory)
    externals = [f'extern void {symbol}(void);' for symbol in sorted(
        {*memory.functions.values()} | {f'{GENERIC}{function.function.__name__}'
                                        for function in robot_dynamics.GENERIC})]
    externals += [f'void (*const {function.symbol})(void) = {GENERIC}{function.function.__name__};'
                  for function in robot_dynamics.GENERIC]
    return Template(TEMPLATE.read_text(encoding='utf-8')).substitute(
        name=printable(model.name).replace('*/', '* /'), robot=_text(model.name),
        package=_text(package_version()), version=version, code=code,
        constants='\n'.join(f'  {name} = {value},' for name, value in constants.items()),
        period=_number(1.0 / first.rate), timeout=_number(first.state_timeout),
        heartbeat=_number(options.heartbeat_timeout), mass=_number(options.payload_mass),
        distance=_number(options.payload_distance),
        joints=', '.join(map(_text, model.joint_names)),
        settings=', '.join(map(_text, exported.settings)),
        modes=', '.join(_text(exported.mode(k)) for k in range(count)),
        warnings=', '.join(_text(resting_error_warning(model, v.settings))
                           for v in exported.versions),
        references=', '.join(KINDS.get(v.settings.law_in_force.reference, 'ROBODYN_NO_REFERENCE')
                             for v in exported.versions),
        limits='\n'.join(_limits(exported, k) for k in range(count)),
        parameters='\n'.join(_parameters(v.settings, options) for v in exported.versions),
        bodies='\n'.join(_body(model, i) for i in range(model.nb)),
        frames='\n'.join(f'  {_frame(name, model.frames[name])},' for name in _fixed(model)),
        differences=', '.join('{' + ', '.join(str(_bits(exported.differences(a, b)))
                                              for b in range(count)) + '}' for a in range(count)),
        reasons='\n'.join(f'  {{{_text(code)}, {_text(text)}}},'
                          for code, text in guard.REASONS.items()),
        structures=', '.join(map(str, memory.tuples[:count + 2])),
        records=', '.join(str(memory.place_of(v.record)) for v in exported.versions),
        ring=', '.join(_ring(exported, name) for name in RING),
        symbols='\n'.join(externals),
        pointers=', '.join(f'{{{a}, {b}}}' for a, b in memory.pointers.items()),
        functions=', '.join(f'{{{a}, (void (*)(void)){b}}}' for a, b in memory.functions.items()),
        words=_words(memory.words), about=_words(np.frombuffer(
            about + b'\0' * (-len(about) % WORD), np.int64)))


def _constants(exported: Exported, memory: Image) -> dict[str, int]:
    """Return numbers of things, and places: of arrays and fields, in words."""
    c, nv, count = exported.controller, exported.model.nv, len(exported.versions)
    inputs, request = exported.inputs(0), exported.step
    v = inputs.vectors

    def field(kind: Any, path: str) -> int:
        return place_of_field(kind, path)[0]

    def word(array: ndarray, name: str) -> int:
        offset = array.dtype.fields[name][1]       # type: ignore[index]
        return memory.place_of(array) + offset // WORD
    record = exported.versions[0].record
    cycle, step, post = (memory.tuples[k] for k in (count, count + 2, count + 3))
    points = field(CYCLE_INPUTS, 'points.header')
    out = {
        'JOINTS': nv, 'BODIES': exported.model.nb, 'SETTINGS_COUNT': count,
        'FIXED_FRAMES': len(_fixed(exported.model)),
        'STRUCTURES': count + 2, 'WAYPOINTS': MAX_WAYPOINTS,
        'BRIEF': SHORT_SEGMENTS, 'SEGMENTS': segments_of(nv, MAX_WAYPOINTS),
        'POSE_SEGMENTS': segments_of(6), 'SPARE': SPARE_SLOTS,
        'LONGEST': MAX_RECORDED_CYCLES, 'COMMAND': len(no_command()),
        'BODIES_BYTES': inputs.robot.bodies.nbytes, 'RING_ARRAYS': len(RING),
        'RING_MEMORY': RING.index('memory'), 'RING_VECTORS': RING.index('vectors'),
        'EMERGENCY_STOP': int(exported.options.emergency_stop),
        'EMERGENCY_STOP_REASON': guard.EMERGENCY_STOP,
        'HEARTBEAT_LOST_REASON': guard.HEARTBEAT_LOST,
        # Of structures, and of fields in them
        'CYCLE': cycle, 'TRIAL': memory.tuples[count + 1], 'STEP': step, 'POST': post,
        'CYCLE_WORDS': step - memory.tuples[count + 1],
        'CYCLE_POINTS': points, 'CYCLE_TASK': field(CYCLE_INPUTS, 'task.settings'),
        'CYCLE_POSES': field(CYCLE_INPUTS, 'poses.header'),
        'CYCLE_BOUNDS': field(CYCLE_INPUTS, 'bounds.tool'),
        'CYCLE_CONTROLLER': field(CYCLE_INPUTS, 'controller'),
        'CYCLE_BODIES': field(CYCLE_INPUTS, 'robot.bodies'),
        'CYCLE_ADDRESSES': field(CYCLE_INPUTS, 'robot.addresses'),
        'CYCLE_NO_ADDRESSES': field(CYCLE_INPUTS, 'payload.robot.addresses'),
        'CYCLE_TASK_POSE': field(CYCLE_INPUTS, 'task.pose'),
        'CYCLE_TASK_TARGET': field(CYCLE_INPUTS, 'task.target'),
        'REQUEST_POINTS': field(REQUEST, 'points.header'),
        'REQUEST_POSES': field(REQUEST, 'poses.header'),
        'REQUEST_TIMES': field(REQUEST, 'times'), 'REQUEST_WAYPOINTS': field(REQUEST, 'waypoints'),
        'REQUEST_BODIES': field(REQUEST, 'bodies'),
        'HEADER_FIELD': 0, 'TIMES_FIELD': field(CYCLE_INPUTS, 'points.times') - points,
        'COEFFICIENTS_FIELD': field(CYCLE_INPUTS, 'points.coefficients') - points,
        'THIRD_FIELD': field(CYCLE_INPUTS, 'points.efforts') - points,
        'COMMAND_FIELD': field(CYCLE_INPUTS, 'poses.command') - field(CYCLE_INPUTS,
                                                                      'poses.header'),
        # Of numbers in a record of the settings
        **{name: word(record, of) - memory.place_of(record) for name, of in (
            ('LAW', 'law'), ('BASIS', 'basis'), ('PAYLOAD_NUMBER', 'payload'),
            ('VERSION', 'version'))},
        # Of arrays and records
        'STATE': memory.place_of(c.state), 'CONTROLLER': memory.place_of(c.memory),
        'PRESENT': memory.place_of(inputs.ring.present), 'DONE': memory.place_of(inputs.ring.done),
        **{name: word(c.cycle_input, of) for name, of in (
            ('REQUEST', 'request'), ('MISSED', 'missed'), ('STOP_REASON', 'stop_reason'),
            ('GUIDING_UNTIL', 'guiding_until'))},
        **{name: word(c.memory, of) for name, of in (
            ('PHASE', 'phase'), ('ARMING', 'arming'), ('REASON', 'reason'),
            ('REASON_JOINT', 'joint'), ('REFUSAL', 'arming_refusal'),
            ('REFUSAL_JOINT', 'arming_refusal_joint'),
            ('HELD_BY', 'held_by'), ('FOLLOWING', 'following'),
            ('POSE_FOLLOWING', 'pose_following'), ('TIME', 'time'), ('LAG', 'lag'),
            ('ESTIMATES', 'estimates'))},
        'TARGET_POSITION': memory.place_of(v.target),
        'TARGET_VELOCITY': memory.place_of(v.target_qd),
        'TARGET_ACCELERATION': memory.place_of(v.target_qdd),
        'EXTERNAL': memory.place_of(v.momentum_observer.external)}
    for name, of in (('STEP', request), ('POST', exported.post)):
        out |= {f'{name}_{key.upper()}': memory.place_of(getattr(of, key)) for key in (
            'asked', 'pose', 'payload', 'counts', 'settings', 'result')}
    return out


def _ring(exported: Exported, name: str) -> str:
    place, dimensions = place_of_field(CYCLE_INPUTS, f'ring.{name}')
    array = getattr(exported.controller.inputs.ring, name)
    row = int(np.prod(array.shape[1:], dtype=int)) * array.itemsize
    assert array.strides[0] == row, name
    return f'{{{place}, {dimensions}, {row}}}'


def _limits(exported: Exported, k: int) -> str:
    limits, joints = exported.motion_limits(k), exported.versions[k].joints
    rows = (_structure(position_lower=j['position_lower'], position_upper=j['position_upper'],
                       velocity=velocity, acceleration=acceleration, effort=j['effort_limit'],
                       continuous=bool(j['periodic']))
            for j, velocity, acceleration in zip(joints, limits.model.velocity_limit,
                                                 limits.acceleration))
    return f'  {{{", ".join(rows)}}},'


def _parameters(s: Settings, options: Options) -> str:
    return '  ' + _structure(
        arming_time=s.arming_samples / s.rate, state_timeout=s.state_timeout,
        heartbeat_timeout=options.heartbeat_timeout,
        robot_compensates_gravity=s.robot_compensates_gravity,
        stop_with_gravity=s.stop_with == 'gravity', lower_to_rest=s.lower_to_rest) + ','


def _body(model: RobotModel, i: int) -> str:
    """Return mass and limits of a body; those of a joint that mimics another one are unknown."""
    name, driver = model.body_joint_names[i], int(model.driver[i])
    parent = int(model.parent[i])

    def limit(values: ndarray, unlimited: float) -> float:
        return values[driver] if name == model.joint_names[driver] else unlimited
    return '  ' + _structure(
        joint=name, parent=model.body_joint_names[parent] if parent >= 0 else '',
        type=model.body_joint_types[i], mass=model.mass[i],
        position_lower=limit(model.position_lower, -inf),
        position_upper=limit(model.position_upper, inf),
        velocity=limit(model.velocity_limit, inf), effort=limit(model.effort_limit, inf)) + ','


def _fixed(model: RobotModel) -> list[str]:
    return [name for name, frame in model.frames.items() if frame.body < 0]


def _frame(name: str, frame: Frame) -> str:
    from scipy.spatial.transform import Rotation  # takes a while to import

    return _structure(name=name, position=frame.origin,
                      quaternion=Rotation.from_matrix(frame.rotation).as_quat())


def _structure(**values: str | float | ndarray) -> str:
    """Return a structure of C, whose fields are named: their order in the header may change."""
    return '{' + ', '.join(
        f'.{name} = ' + (_text(v) if isinstance(v, str) else f'{{{", ".join(map(_number, v))}}}'
                         if isinstance(v, ndarray) else _number(v))
        for name, v in values.items()) + '}'


def _bits(differ: Iterable[bool]) -> int:
    return sum(1 << i for i, one in enumerate(differ) if one)


def _number(value: float) -> str:
    if isfinite(value):
        return repr(int(value) if isinstance(value, bool) else float(value))
    return 'NAN' if isnan(value) else 'INFINITY' if value > 0.0 else '-INFINITY'


def _words(words: ndarray) -> str:
    values = [f'{value:#x},' for value in words.view(np.uint64).tolist()]
    return '\n'.join(' '.join(values[i:i + NUMBERS_A_LINE])
                     for i in range(0, len(values), NUMBERS_A_LINE))


def _text(text: str) -> str:
    """Return a text as a literal of C, whatever characters it has."""
    return '"' + ''.join(f'\\{byte:03o}' if byte < 32 or byte > 126 or byte in b'"\\?' else
                         chr(byte) for byte in text.encode()) + '"'
