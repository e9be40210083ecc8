# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Criteria for every text: a valid robot or a helpful refusal, and nothing else."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
import ctypes
import os
from pathlib import Path
import re
import socket
import sys
import traceback
from typing import Any, NamedTuple
import warnings

from fuzz import malformed_urdfs as urdfs
from fuzz.mutants import Mutant
import numpy as np
from robodyn_ros import Dynamics, load_urdf, RobotModel
from robodyn_ros.errors import RobodynError
from robodyn_ros.model.robot import initial_position
from robodyn_ros.model.urdf_xml import MAX_NUMBER
from robots import differences

VALID, FAILED = 'valid', 'FAILED'
LONGEST = 3_000         # characters of a message: it has to fit into a log
IN_ACCESS, IN_OPEN = 0x1, 0x20
# Of a body, and of a joint that moves on its own
BODIES = {'driver': (), 'ratio': (), 'shift': (), 'parent': (), 'joint_rotation': (3, 3),
          'joint_origin': (3,), 'joint_axis': (3,), 'mass': (), 'com': (3,), 'inertia': (3, 3)}
JOINTS = dict.fromkeys(('viscous_friction', 'coulomb_friction', 'static_friction', 'armature',
                        'friction_velocity', 'stribeck_velocity', 'presliding_distance',
                        'load_friction'), ())
LIMITS = ('position_lower', 'position_upper', 'velocity_limit', 'effort_limit')


class Verdict(NamedTuple):
    """'valid', the class of a refusal, or 'FAILED', and then why."""

    outcome: str
    complaint: str = ''


class Canary:
    """
    A file and an address that nobody may touch: the kernel tells of those who do.

    XML libraries open files from C, which no hook of Python sees; but the audit hook sees what
    Python itself opens, wherever it is.
    """

    def __init__(self, folder: Path, name: str = 'canary'):
        self.file = folder / f'{name}.dtd'
        self.file.write_text('<!ENTITY x "sung">')
        libc = ctypes.CDLL(None, use_errno=True)
        self._watch = libc.inotify_init1(os.O_NONBLOCK)
        if self._watch < 0 or libc.inotify_add_watch(
                self._watch, os.fsencode(self.file), IN_ACCESS | IN_OPEN) < 0:
            raise OSError(ctypes.get_errno(), 'no inotify')     # as on anything but Linux
        self._server = socket.create_server(('127.0.0.1', 0))
        self._server.setblocking(False)
        self.address = f'http://127.0.0.1:{self._server.getsockname()[1]}/canary.dtd'

    def close(self) -> None:
        os.close(self._watch)
        self._server.close()

    def put_into(self, text: bytes) -> bytes:
        """Return a text whose placeholders are where the canary sits."""
        return (text.replace(urdfs.CANARY_FILE, bytes(self.file))
                .replace(urdfs.CANARY_HTTP, self.address.encode()))

    @contextmanager
    def watched(self) -> Iterator[list[str]]:
        """Collect what is touched in the meantime."""
        touched: list[str] = []
        _watchers.append(touched)
        try:
            yield touched
        finally:
            _watchers.remove(touched)
            for look, what in ((lambda: os.read(self._watch, 4096), str(self.file)),
                               (lambda: self._server.accept()[0].close(), self.address)):
                try:
                    look()
                except BlockingIOError:
                    continue
                touched.append(what)


_watchers: list[list[str]] = []


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if _watchers and event in ('open', 'subprocess.Popen', 'os.system', 'socket.connect'):
        _watchers[-1].append(f'{event} {arguments[0]!r}')


sys.addaudithook(_audit)        # for good: there is no way to remove one


def judge(mutant: Mutant, canary: Canary, load: Callable[..., RobotModel] = load_urdf) -> Verdict:
    source = mutant.source
    if isinstance(source, bytes):
        source = canary.put_into(source)
    else:
        source = canary.put_into(source.encode('utf-8', 'surrogatepass')).decode(
            'utf-8', 'surrogatepass')
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        try:
            with canary.watched() as touched:
                model = load(source, **mutant.options)
            outcome, complaints = VALID, list(flaws(model))
        except RobodynError as error:
            outcome, complaints = type(error).__name__, list(shortcomings(error))
        except Exception:
            outcome, complaints = FAILED, [traceback.format_exc()]
    complaints += [f'touched {what}' for what in touched]
    return Verdict(FAILED if complaints else outcome, '; '.join(complaints)[:LONGEST])


def shortcomings(error: RobodynError) -> Iterator[str]:
    """Yield what a refusal lacks."""
    text = str(error)
    if not (error.name and error.remedy.strip() and text.strip()):
        yield f'{text!r} lacks a name or a remedy'
    if re.fullmatch(r'\w{1,80}', error.name) and error.name not in text:
        yield f'{text!r} does not mention {error.name!r}'
    yield from _unsightly(text)


def _unsightly(text: str) -> Iterator[str]:
    if not text.isprintable():
        yield f'{text[:500]!r} has characters that a terminal obeys'
    if len(text) > LONGEST:
        yield f'a message of {len(text)} characters: {text[:200]!r}'


def flaws(model: RobotModel) -> Iterator[str]:
    """Yield what cannot be in a robot that may be driven."""
    n, nb = model.nv, model.nb
    for count, shapes in ((n, JOINTS), (nb, BODIES)):
        for name, shape in shapes.items():
            array = getattr(model, name)
            if array.shape != (count, *shape) or not np.isfinite(array).all():
                yield f'{name} = {array}'
    if not model.ratio.all() or [*model.driver[model.leaders]] != [*range(n)]:
        yield f'ratio = {model.ratio}, driver = {model.driver}'
    for name in LIMITS:
        if getattr(model, name).shape != (n,) or np.isnan(getattr(model, name)).any():
            yield f'{name} = {getattr(model, name)}'
    for name, shape in (('backward_friction', (3, n)), ('gravity_vector', (3,))):
        if getattr(model, name).shape != shape or not np.isfinite(getattr(model, name)).all():
            yield f'{name} = {getattr(model, name)}'
    for count, names in ((n, model.joint_names), (nb, model.link_names),
                         (nb, model.body_joint_names)):
        if len({*names}) != count:
            yield f'doubled names {names}'
    if not n or not {*model.link_names, model.base_link} <= {*model.frame_names}:
        yield 'links without frames'
    if not ((model.parent >= -1) & (model.parent < np.arange(nb))).all():
        yield f'parent = {model.parent}'
    if not np.allclose(model.joint_rotation @ model.joint_rotation.transpose(0, 2, 1), np.eye(3)):
        yield f'joint_rotation = {model.joint_rotation}'
    if not np.allclose(np.linalg.norm(model.joint_axis, axis=1), 1):
        yield f'joint_axis = {model.joint_axis}'
    for names in (model.body_joint_names, model.frame_names, [model.name]):
        for name in names:
            if not name.strip() or len(name) > LONGEST or re.search(r'[\x00-\x1f\x7f-\x9f]', name):
                yield f'name {name[:200]!r}'
    for text in model.warnings:
        yield from _unsightly(text)
    if len(model.warnings) > 1_000:
        yield f'{len(model.warnings)} warnings'
    yield from _misbehaviour(model)
    yield from _losses(model)


def _losses(model: RobotModel) -> Iterator[str]:
    """Yield what is not the same when the model is written and read again."""
    lumped = (model.mass, model.com, model.inertia, model.joint_origin, model.gravity_vector,
              [frame.origin for frame in model.frames.values()])
    if all(np.abs(array).max() <= MAX_NUMBER for array in lumped):     # sums may be beyond
        yield from differences(model, load_urdf(model.to_urdf()))


def _misbehaviour(model: RobotModel) -> Iterator[str]:
    """Yield what is wrong with the dynamics where the robot starts."""
    q, ones, dynamics = initial_position(model), np.ones(model.nv), Dynamics(model)
    if not (np.isfinite(q) & (model.position_lower <= q) & (q <= model.position_upper)).all():
        yield f'initial position {q}'
        return
    M = dynamics.mass_matrix(q)
    if not (np.isfinite(M).all() and (M == M.T).all() and (np.diag(M) > 0).all()):
        yield f'M = {M}'
        return
    scale = np.sqrt(np.diag(M))
    if np.linalg.eigvalsh(M / scale / scale[:, None])[0] <= 0:
        yield f'M is not positive definite: {M}'
    tau = dynamics.inverse_dynamics(q, ones, ones)
    if not (np.isfinite(tau).all() and np.isfinite(dynamics.forward_dynamics(q, ones, tau)).all()):
        yield f'efforts {tau}, accelerations {dynamics.forward_dynamics(q, ones, tau)}'
