# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Snapshots of the flight recorder as bytes: a NumPy .npz of exact arrays, without pickled objects.

Damage is detected by the checksums of the zip. Values that the compiled cycle uses as indices are
checked before a snapshot is returned.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from io import BytesIO
import json
from typing import Any, NamedTuple
import zipfile

import numpy as np
from numpy import ndarray

from ..compiler.code_cache import machine
from ..control.controller.history import Snapshot, Version
from ..control.cycle.call import no_law
from ..control.cycle.compile import compiled, law_address
from ..control.cycle.ring_buffer import BOUNDARIES, slot_types
from ..control.inputs.partner import Policy, POLICY_HEADER
from ..control.inputs.pose_tracking import Points, PosePoints
from ..control.laws import registry
from ..control.settings.settings import Settings
from ..control.settings.task_and_bounds import bounds_of, FrameKernel, task_of
from ..control.steps import guard, payload_transition
from ..control.steps.cycle_data import CONTROLLER_STATE, CYCLE_INPUT, JOINT, SETTINGS, VECTOR_NAMES
from ..control.steps.velocity_estimator import MISSING_VELOCITY
from ..dynamics.model_data import parameters
from ..dynamics.specialize import with_kernels
from ..errors import ParameterError
from ..model.capsules import link_capsules
from ..model.resources import package_version
from ..model.robot import RobotModel
from ..model.to_urdf import to_urdf
from ..model.urdf import load_urdf

FORMAT = 'robodyn_ros flight 17'
ARRAYS = Snapshot._fields[:7]
MAX_BYTES = 1 << 32         # of all arrays, unpacked

# Fields that are indices, and into how many phases, reasons, ...
INDICES = {'phase': len(guard.PHASES), 'reason': len(guard.CODES),
           'arming_refusal': len(guard.CODES)}
# Fields that are the index of a joint, or -1
JOINTS = ('joint', 'arming_refusal_joint', 'saturated_joint', 'other_joint')


@dataclass
class About:
    """Origin of a recording; its last fields are by default those of this process."""

    node: str
    reason: str             # code of the fault
    sentence: str           # the reason in words, with the joint
    time: str               # of the fault, UTC, ISO 8601
    data_path: str
    trigger: str
    clock: str              # of all times: steady | ros
    offset: float           # s, UNIX time minus time of that clock
    version: str = field(default_factory=package_version)
    # Name of the compiled cycle: its sources, Numba, Python and CPU
    code: str = field(default_factory=lambda: compiled().code)
    machine: str = field(default_factory=machine)       # Numba, Python and CPU in words


class Flown(NamedTuple):
    """Recording read from a file."""

    model: RobotModel
    snapshot: Snapshot
    about: About


def described(model: RobotModel, snapshot: Snapshot, about: About) -> dict[str, Any]:
    """
    Return the description of a snapshot for JSON: origin, model, settings and references.

    The shapes of the model are the capsules that the cycle has watched, which need no files.
    """
    watched = any(v.settings.self_collision_distance for v in snapshot.versions.values())
    model = replace(model, shapes=link_capsules(model)[0] if watched else ())
    return {'format': FORMAT, 'vectors': VECTOR_NAMES, 'about': asdict(about),
            'model': to_urdf(model, shapes=True),
            'settings': [asdict(v.settings) for v in snapshot.versions.values()],
            'laws': {str(k): registry.mode_name(k) for k in sorted(
                {*map(int, snapshot.memory['mode'])}
                | {int(v.record['mode'][0]) for v in snapshot.versions.values()})},
            'specialized': [bool(v.robot.addresses[0]) for v in snapshot.versions.values()],
            'frame_kernel': [bool(v.task.kernel[0]) for v in snapshot.versions.values()],
            'references': [{'serial': serial, 'start': float(p.header['start'][0]),
                            'segments': len(p.coefficients), 'duration': float(p.times[-1])}
                           for serial, p in snapshot.points.items()]}


def packed(text: str, snapshot: Snapshot) -> bytes:
    """Return the snapshot as an .npz; ``text`` is the JSON of :func:`described`."""
    versions, nv = [*snapshot.versions.values()], snapshot.tau.shape[1]
    out = BytesIO()
    np.savez_compressed(
        out, text=np.frombuffer(text.encode(), np.uint8),
        **{name: getattr(snapshot, name) for name in ARRAYS},
        joints=np.array([v.joints for v in versions], JOINT).reshape(-1, nv),
        settings=np.concatenate([np.zeros(0, SETTINGS), *(v.record for v in versions)]),
        policy_headers=np.concatenate([np.zeros(0, POLICY_HEADER),
                                       *(p.header for p in snapshot.policies.values())]),
        policies=np.array([_rows(p) for p in snapshot.policies.values()]).reshape(
            -1, nv, 3 + 2 * nv),
        **_joined('', Points.none(nv), snapshot.points),        # type: ignore[arg-type]
        **_joined('pose_', PosePoints.none(), snapshot.poses))  # type: ignore[arg-type]
    return out.getvalue()


def unpacked(data: bytes) -> Flown:
    """
    Return the recording that :func:`packed` has written.

    :raises ValueError: it is no recording, or is inconsistent; damaged data raises this and other
        exceptions, for :func:`..errors.reading`.
    """
    with zipfile.ZipFile(BytesIO(data)) as archive:
        if sum(entry.file_size for entry in archive.infolist()) > MAX_BYTES:
            raise ValueError('more than 4 GiB')
        if (broken := archive.testzip()) is not None:
            raise ValueError(f'{broken} is damaged')
    with np.load(BytesIO(data), allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    text = json.loads(arrays['text'].tobytes())
    if text['format'] != FORMAT:
        raise ValueError(f'format {text["format"]!r}, not {FORMAT!r}')
    if not str(text['model']).startswith('<'):          # never another file
        raise ValueError('no model')
    model, about = load_urdf(text['model']), About(**text['about'])
    absent = _complete(arrays, text.get('vectors'))
    nv, k = model.nv, arrays['vectors'].shape[1] if arrays['vectors'].ndim == 3 else 0
    c, versions = len(arrays['cycles']), len(arrays['settings'])
    policies = len(arrays['policies'])
    for name, kind, count in (
            *((name, kind, c + (name in BOUNDARIES)) for name, kind in slot_types(nv, k).items()),
            ('joints', np.dtype((JOINT, (nv,))), versions), ('settings', SETTINGS, versions),
            ('policy_headers', POLICY_HEADER, policies),
            ('policies', np.dtype((float, (nv, 3 + 2 * nv))), policies),
            *_expected('', Points.none(nv), arrays['segments']),
            *_expected('pose_', PosePoints.none(), arrays['pose_segments'])):
        if arrays[name].dtype != kind.base or arrays[name].shape != (count, *kind.shape):
            raise ValueError(f'{name} is {arrays[name].dtype} {arrays[name].shape}')
    for records in arrays['memory'], arrays['settings']:
        records['mode'] = _present_numbers(text['laws'], records['mode'])
    laws = [registry.by_number(int(mode)) for mode in np.unique(arrays['memory']['mode'])]
    if k < (len(VECTOR_NAMES) + registry.most_rows(nv, *laws)
            + payload_transition.rows(model.nb, nv)):           # which compiled code relies on
        raise ValueError('fewer vectors than there are now')
    snapshot = Snapshot(
        versions=dict(_versions(model, text, arrays)), policies=dict(_policies(arrays)),
        points=dict(_references('', Points.none(nv), arrays)),
        poses=dict(_references('pose_', PosePoints.none(), arrays)),
        **{name: np.ascontiguousarray(arrays[name]) for name in ARRAYS}, absent=absent)
    _check(snapshot, nv)
    return Flown(model, snapshot, about)


def _complete(arrays: dict[str, ndarray], recorded: Sequence[str] | None) -> frozenset[str]:
    """
    Add fields and vectors, all zero, that the version of a recording had not; return their names.

    :param recorded: names of its vectors; None: those of now, from before they were listed.
    """
    absent: set[str] = set()
    for name, kind in (('memory', CONTROLLER_STATE), ('settings', SETTINGS),
                       ('inputs', CYCLE_INPUT), ('joints', JOINT)):
        old = arrays[name]
        had, has = old.dtype.names or (), kind.names or ()
        if all(field in has and old.dtype[field] == kind[field] for field in had):
            arrays[name] = np.zeros(old.shape, kind)
            for field in had:
                arrays[name][field] = old[field]
            absent |= {*has} - {*had}
    names = VECTOR_NAMES if recorded is None else recorded
    if new := [name for name in VECTOR_NAMES if name not in names]:
        known = dict(zip(names, arrays['vectors'].transpose(1, 0, 2)))
        blank = np.zeros_like(arrays['vectors'][:, 0])
        arrays['vectors'] = np.concatenate(
            [np.stack([known.get(name, blank) for name in VECTOR_NAMES], 1),
             arrays['vectors'][:, len(names):]], 1)
    return frozenset(absent.union(new))


def _present_numbers(laws: dict[str, str], recorded: ndarray) -> ndarray:
    """
    Return the numbers that laws have in this process for those that they had in the recording.

    :param laws: modes by the numbers of the recording.
    :raises ValueError: a law is of another package, and has not been loaded: a recording from
        anywhere must not be able to import a module.
    """
    out = np.zeros_like(recorded)
    for number in np.unique(recorded):
        mode = laws[str(number)]
        try:
            registry.find(mode, load=False)
        except ParameterError as error:
            raise ValueError(f'the law {mode} is not loaded: name it with --law') from error
        out[recorded == number] = registry.number(mode)
    return out


def _versions(model: RobotModel, text: dict[str, Any],
              arrays: dict[str, ndarray]) -> Iterator[tuple[int, Version]]:
    """Yield the settings by version, each with the parameters of its loaded model."""
    robots: dict[tuple, Any] = {}
    for said, special, with_frame, joints, record in zip(
            text['settings'], text['specialized'], text['frame_kernel'], arrays['joints'],
            arrays['settings'], strict=True):
        if unknown := said.keys() - {f.name for f in fields(Settings)}:
            raise ValueError(f'settings that there are no more: {", ".join(sorted(unknown))}')
        if said['mode'] != registry.mode_name(int(record['mode'])):
            raise ValueError('settings of another law')
        values: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value
                                  for name, value in said.items()}
        try:
            settings = Settings(**values)
        except ParameterError as error:
            raise ValueError(str(error)) from error
        key = special, settings.loading
        if key not in robots:
            robot = parameters(settings.loaded(model))
            robots[key] = with_kernels(robot) if special else robot
        if not 0 <= record['missing_velocity'] < len(MISSING_VELOCITY):
            raise ValueError('settings without a meaning')
        if not 0 <= record['payload_body'] < model.nb:
            raise ValueError('payload_body is none of the bodies')
        law = no_law(model.nv)._replace(
            code=np.array([law_address(settings.law_in_force), record['mode']], np.int64),
            gains=settings.gain_rows(model))
        task = task_of(settings, model, robots[key])
        if with_frame:
            task = FrameKernel(settings, model, robots[key]).given_to(task)
        yield int(record['version']), Version(
            robots[key], joints.copy(), np.array([record], SETTINGS), settings, law, task,
            bounds_of(settings, model, robots[key]))


def _rows(policy: Policy) -> ndarray:
    """Return a policy as an array (nv, 3 + 2 nv)."""
    return np.hstack([np.array([*policy[1:4]]).T, policy.gain])


def _policies(arrays: dict[str, ndarray]) -> Iterator[tuple[int, Policy]]:
    """Yield the policies by serial number."""
    for header, rows in zip(arrays['policy_headers'], arrays['policies']):
        effort, position, velocity = rows.T[:3].copy()
        yield int(header['serial']), Policy(
            np.array([header], POLICY_HEADER), effort, position, velocity,
            np.ascontiguousarray(rows[:, 3:]))


def _parts(like: Points | PosePoints) -> Iterator[tuple[str, str, np.dtype]]:
    """Yield field, name of the array, and type of the parts of a reference after its times."""
    for part in like._fields[2:]:
        array = getattr(like, part)
        whole = part == 'command'       # one a reference, and not one a segment
        yield (part, 'commands' if whole else part,
               np.dtype((float, array.shape if whole else array.shape[1:])))


def _joined(prefix: str, like: Points | PosePoints, kept: Mapping[int, Any]
            ) -> dict[str, ndarray]:
    """Return references as arrays of all their segments, whose names begin with a prefix."""
    def joined(field: str, none: ndarray) -> ndarray:
        return np.concatenate([none, *(getattr(p, field).ravel() for p in kept.values())])
    return {f'{prefix}headers': joined('header', like.header[:0]),
            f'{prefix}segments': np.array([len(p.coefficients) for p in kept.values()], np.int64),
            f'{prefix}times': joined('times', np.zeros(0)),
            **{prefix + name: joined(field, np.zeros(0)).reshape(-1, *kind.shape)
               for field, name, kind in _parts(like)}}


def _expected(prefix: str, like: Points | PosePoints, segments: ndarray
              ) -> Iterator[tuple[str, np.dtype, int]]:
    """Yield the name of each of these arrays, the type of its elements, and their number."""
    n, total = len(segments), int(segments.sum())
    yield from ((f'{prefix}headers', like.header.dtype, n),
                (f'{prefix}segments', np.dtype(np.int64), n),
                (f'{prefix}times', np.dtype(float), total + n))
    for part, name, kind in _parts(like):
        yield prefix + name, kind, n if part == 'command' else total


def _references(prefix: str, like: Any, arrays: dict[str, ndarray]) -> Iterator[tuple[int, Any]]:
    """Yield the references in these arrays by serial number."""
    first = 0
    for i, (header, count) in enumerate(zip(arrays[f'{prefix}headers'],
                                            arrays[f'{prefix}segments'])):
        if count < 1:
            raise ValueError('a reference without segments')
        yield int(header['serial']), type(like)(
            np.array([header]), arrays[f'{prefix}times'][first + i:first + i + count + 1].copy(),
            *(arrays[prefix + name][i].copy() if field == 'command'
              else np.ascontiguousarray(arrays[prefix + name][first:first + count])
              for field, name, _ in _parts(like)))
        first += int(count)


def _check(s: Snapshot, nv: int) -> None:
    """Raise :class:`ValueError` where a value is used as an index and is none."""
    m, phase = s.memory, s.cycles
    for name, count in INDICES.items():
        if ((m[name] < 0) | (m[name] >= count)).any():
            raise ValueError(f'{name} without a meaning')
    for name in JOINTS:
        if ((m[name] < -1) | (m[name] >= nv)).any():
            raise ValueError(f'{name} is none of the joints')
    if ((m['tested'] < 0) | (m['tested'] > nv)).any():     # nv: after the last joint
        raise ValueError('tested is none of the joints')
    if not ({*map(int, phase['version'])} <= s.versions.keys()
            and {*map(int, phase['serial'])} <= s.points.keys()
            and {*map(int, phase['policy'])} <= s.policies.keys()
            and {*map(int, phase['pose'])} <= s.poses.keys()):
        raise ValueError('cycles refer to what is not there')
    parts: tuple[tuple[str, str, str, dict[int, Any]], ...] = (
        ('serial', 'serial', 'segment', s.points),
        ('pose', 'pose_serial', 'pose_segment', s.poses))
    for name, serial, segment, references in parts:
        of_cycle = np.array([len(references[int(i)].coefficients) for i in phase[name]], np.int64)
        used = phase[name] == m[serial][:-1]        # otherwise the cycle begins at segment 0
        if (used & ((m[segment][:-1] < 0) | (m[segment][:-1] >= of_cycle))).any():
            raise ValueError('a segment that the reference does not have')
