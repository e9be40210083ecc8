# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Snapshots of the flight recorder as bytes: a NumPy .npz of exact arrays, without pickled objects.

Damage is detected by the checksums of the zip. Values that the compiled cycle uses as indices are
checked before a snapshot is returned.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields, replace
from io import BytesIO
import json
from typing import Any, NamedTuple
import zipfile

import numpy as np
from numpy import ndarray

from ..control.controller.history import Snapshot, Version
from ..control.cycle.call import no_law
from ..control.cycle.compile import law_address
from ..control.cycle.ring_buffer import CYCLE
from ..control.inputs.partner import Policy, POLICY_HEADER, QUANTITIES
from ..control.inputs.pose_tracking import HEADER, no_command, Points, PosePoints
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
from ..model.robot import RobotModel
from ..model.to_urdf import to_urdf
from ..model.urdf import load_urdf
from ..state import STATE

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
    """Origin of a recording."""

    node: str
    reason: str             # code of the fault
    sentence: str           # the reason in words, with the joint
    time: str               # of the fault, UTC, ISO 8601
    data_path: str
    trigger: str
    clock: str              # of all times: steady | ros
    offset: float           # s, UNIX time minus time of that clock
    version: str            # of this package
    code: str               # name of the compiled cycle: its sources, Numba, Python and CPU
    machine: str            # Numba, Python and CPU in words


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
    return {'format': FORMAT, 'about': asdict(about), 'model': to_urdf(model, shapes=True),
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
    versions, points = [*snapshot.versions.values()], [*snapshot.points.values()]
    nv = snapshot.tau.shape[1]
    out = BytesIO()
    np.savez_compressed(
        out, text=np.frombuffer(text.encode(), np.uint8),
        **{name: getattr(snapshot, name) for name in ARRAYS},
        joints=np.array([v.joints for v in versions], JOINT).reshape(-1, nv),
        settings=np.concatenate([np.zeros(0, SETTINGS), *(v.record for v in versions)]),
        headers=np.concatenate([np.zeros(0, HEADER), *(p.header for p in points)]),
        segments=np.array([len(p.coefficients) for p in points], np.int64),
        times=np.concatenate([np.zeros(0), *(p.times for p in points)]),
        coefficients=np.concatenate([np.zeros((0, 6, nv)), *(p.coefficients for p in points)]),
        efforts=np.concatenate([np.zeros((0, 2, nv)), *(p.efforts for p in points)]),
        policy_headers=np.concatenate([np.zeros(0, POLICY_HEADER),
                                       *(p.header for p in snapshot.policies.values())]),
        policies=np.array([_rows(p) for p in snapshot.policies.values()]).reshape(
            -1, nv, 3 + 2 * nv),
        **_pose_arrays([*snapshot.poses.values()]))     # type: ignore[arg-type]
    return out.getvalue()


def unpacked(data: bytes) -> Flown:
    """
    Return the recording that :func:`packed` has written.

    :raises ValueError: it is no recording, or is inconsistent; damaged data raises this and other
        exceptions of :data:`.file.FILE_ERRORS`.
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
    nv, k = model.nv, arrays['vectors'].shape[1] if arrays['vectors'].ndim == 3 else 0
    c, versions = len(arrays['cycles']), len(arrays['settings'])
    parts, total = len(arrays['segments']), int(arrays['segments'].sum())
    policies = len(arrays['policies'])
    poses, pose_total = len(arrays['pose_segments']), int(arrays['pose_segments'].sum())
    for name, dtype, shape in (
            ('cycles', CYCLE, (c,)), ('inputs', CYCLE_INPUT, (c,)), ('state', STATE, (c, nv)),
            ('memory', CONTROLLER_STATE, (c + 1,)),
            ('vectors', np.dtype(float), (c + 1, k, nv)), ('tau', np.dtype(float), (c + 1, nv)),
            ('partner', np.dtype(float), (c, len(QUANTITIES), nv)),
            ('joints', JOINT, (versions, nv)), ('settings', SETTINGS, (versions,)),
            ('headers', HEADER, (parts,)), ('segments', np.dtype(np.int64), (parts,)),
            ('times', np.dtype(float), (total + parts,)),
            ('coefficients', np.dtype(float), (total, 6, nv)),
            ('efforts', np.dtype(float), (total, 2, nv)),
            ('policy_headers', POLICY_HEADER, (policies,)),
            ('policies', np.dtype(float), (policies, nv, 3 + 2 * nv)),
            ('pose_headers', HEADER, (poses,)), ('pose_segments', np.dtype(np.int64), (poses,)),
            ('pose_times', np.dtype(float), (pose_total + poses,)),
            ('pose_coefficients', np.dtype(float), (pose_total, 6, 6)),
            ('pose_bases', np.dtype(float), (pose_total, 3, 3)),
            ('pose_commands', np.dtype(float), (poses, len(no_command())))):
        if arrays[name].dtype != dtype or arrays[name].shape != shape:
            raise ValueError(f'{name} is {arrays[name].dtype} {arrays[name].shape}')
    for records in arrays['memory'], arrays['settings']:
        records['mode'] = _present_numbers(text['laws'], records['mode'])
    laws = [registry.by_number(int(mode)) for mode in np.unique(arrays['memory']['mode'])]
    if k < (len(VECTOR_NAMES) + registry.most_rows(nv, *laws)
            + payload_transition.rows(model.nb, nv)):           # which compiled code relies on
        raise ValueError('fewer vectors than there are now')
    snapshot = Snapshot(
        versions=dict(_versions(model, text, arrays)), points=dict(_points(arrays)),
        policies=dict(_policies(arrays)), poses=dict(_poses(arrays)),
        **{name: np.ascontiguousarray(arrays[name]) for name in ARRAYS})
    _check(snapshot, nv)
    return Flown(model, snapshot, about)


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
        if said.keys() != {f.name for f in fields(Settings)}:
            raise ValueError('other settings than there are now')
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


def _points(arrays: dict[str, ndarray]) -> Iterator[tuple[int, Points]]:
    """Yield the references by serial number."""
    first = 0
    for i, (header, count) in enumerate(zip(arrays['headers'], arrays['segments'])):
        if count < 1:
            raise ValueError('a reference without segments')
        times = arrays['times'][first + i:first + i + count + 1].copy()
        yield int(header['serial']), Points(
            np.array([header], HEADER), times,
            *(np.ascontiguousarray(arrays[name][first:first + count])
              for name in ('coefficients', 'efforts')))
        first += int(count)


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


def _pose_arrays(poses: list[PosePoints]) -> dict[str, ndarray]:
    """Return reference poses as arrays of all their segments."""
    return {'pose_headers': np.concatenate([np.zeros(0, HEADER), *(p.header for p in poses)]),
            'pose_segments': np.array([len(p.coefficients) for p in poses], np.int64),
            'pose_times': np.concatenate([np.zeros(0), *(p.times for p in poses)]),
            'pose_coefficients': np.concatenate([np.zeros((0, 6, 6)),
                                                 *(p.coefficients for p in poses)]),
            'pose_bases': np.concatenate([np.zeros((0, 3, 3)), *(p.bases for p in poses)]),
            'pose_commands': np.array([p.command for p in poses]).reshape(-1, len(no_command()))}


def _poses(arrays: dict[str, ndarray]) -> Iterator[tuple[int, PosePoints]]:
    """Yield the reference poses by serial number."""
    first = 0
    for i, (header, count) in enumerate(zip(arrays['pose_headers'], arrays['pose_segments'])):
        if count < 1:
            raise ValueError('a reference pose without segments')
        yield int(header['serial']), PosePoints(
            np.array([header], HEADER),
            arrays['pose_times'][first + i:first + i + count + 1].copy(),
            np.ascontiguousarray(arrays['pose_coefficients'][first:first + count]),
            np.ascontiguousarray(arrays['pose_bases'][first:first + count]),
            arrays['pose_commands'][i].copy())
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
