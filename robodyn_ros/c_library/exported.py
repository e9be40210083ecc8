# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a C library consists of: a controller with all its settings, as code and as memory."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
import sys
from typing import Any

from numba import types
import numpy as np

from . import payload_requests
from .payload_requests import check_payload, load_payload
from ..compiler.jit import compile_callback, jitable
from ..compiler.linking import Image, image
from ..compiler.tuple_reference import Reference
from ..control.controller.controller import Controller
from ..control.controller.history import Version
from ..control.cycle import compile as cycle_code
from ..control.cycle.compile import CYCLE_INPUTS, MODULES as CYCLE_MODULES
from ..control.cycle.compile_laws import compiled_law
from ..control.laws import registry
from ..control.laws.law import Law, POSE
from ..control.references.compile_planner import MODULES as PLANNER_MODULES, REQUEST
from ..control.references.joint_requests import (
    begin_path, begin_stop, begin_target, prepare_path, stream_joints)
from ..control.references.pose_planning import pose_limits
from ..control.references.pose_requests import begin_pose, stream_pose
from ..control.references.request import JERK, Request, request, SHORT_SEGMENTS
from ..control.settings.motion_limits import limit_rows, motion_limits, MotionLimits
from ..control.settings.settings import Settings
from ..control.settings.task_and_bounds import reach
from ..control.steps import robot_dynamics
from ..control.steps.acceleration_limits import VELOCITY_SHARE
from ..control.steps.cycle_data import Cycle
from ..dynamics.model_data import ADDRESSED_KERNELS, frame_record
from ..dynamics.specialize import kernel_callback
from ..errors import ParameterError
from ..model.robot import RobotModel, with_payload

#: Functions of the requests: those of the step, and the check of a trajectory by another thread.
FUNCTIONS = (stream_joints, begin_target, begin_stop, prepare_path, begin_path, begin_pose,
             stream_pose, load_payload, check_payload)
MODULES = (*CYCLE_MODULES, *PLANNER_MODULES, jitable(payload_requests), sys.modules[__name__])
SIGNATURE = types.int64(Reference(CYCLE_INPUTS), Reference(REQUEST), types.float64)


def compiled_request(function: Callable[..., int]) -> Any:
    """
    Return one of :data:`FUNCTIONS`, with an ``address``.

    It takes the addresses of a Cycle and a Request, and the time [s].
    """
    assert function in FUNCTIONS
    return compile_callback(f'request_{function.__name__}', function, SIGNATURE, MODULES,
                            allocates=False)


# Symbols of functions, and prefixes of those of the dynamics of this robot and of any one, which
# is followed by names as _generic_gravity
CYCLE, RECORDED, LAW = 'robodyn_cycle', 'robodyn_recorded_cycle', 'robodyn_law_'
KERNEL, GENERIC, FRAME_KERNEL = 'robodyn_kernel_', 'robodyn', 'pose_and_jacobian'
# Settings for which the loop is made, and which cannot change while it runs
FIXED = 'rate', 'state_timeout'
# Shares of the greatest payload, and directions of its center, with which gains are checked
MASSES = 0.25, 0.5, 0.75, 1.0
DIRECTIONS = np.vstack([np.zeros(3), np.eye(3), -np.eye(3)])

_PLACES = {CYCLE: cycle_code.CYCLE} | {
    f'robodyn_{part.function.__name__}': part.place for part in cycle_code.PARTS}


@dataclass(frozen=True)
class Options:
    """
    What a library is exported with beside robot and settings.

    :param payload_mass: greatest mass [kg] that may be set at run time; 0: none.
    :param payload_distance: of its center from ``payload_frame`` [m], at most.
    :param heartbeat_timeout: longest time without a heartbeat [s]; 0: none is required.
    :param emergency_stop: whether the controller is stopped until the caller releases it.
    """

    payload_mass: float = 0.0
    payload_distance: float = 0.0
    heartbeat_timeout: float = 0.0
    emergency_stop: bool = False


@dataclass
class Exported:
    """
    Controller of a robot with settings by name, of which the first are in force at its start.

    :raises RobodynError: settings cannot be used, or not beside the first ones.
    """

    model: RobotModel
    settings: Mapping[str, Settings]
    options: Options = field(default_factory=Options)

    def __post_init__(self):
        (_, first), *others = self.settings.items()
        for name, other in others:
            for fixed in FIXED:
                if getattr(other, fixed) != getattr(first, fixed):
                    raise ParameterError(
                        f'{fixed} of {name} is {getattr(other, fixed)}', name=fixed,
                        value=getattr(other, fixed),
                        remedy=f'use {getattr(first, fixed)}, as in the first settings')
        for name, settings in self.settings.items():
            if self.options.payload_mass and not settings.payload_frame:
                raise ParameterError(
                    f'payload_frame is not set in {name}', name='payload_frame', value='',
                    remedy='set it to the link that holds the payload')
        # The library lets the ring of one cycle be a longer one, or none
        self.controller = controller = Controller(self.model, first, recorded=1)
        self.versions: list[Version] = [controller.prepare_settings(s)
                                        for s in self.settings.values()]
        for k, version in enumerate(self.versions):
            version.record['version'] = k
            version.record['law'] = version.record['basis'] = version.record['payload'] = 0
        self._judge_payloads()
        nv, nb, count = self.model.nv, self.model.nb, len(self.versions)
        self.step, post = request(nv, nb, count, SHORT_SEGMENTS), request(nv, nb, count, 1)
        self._write_limits(self.step)
        # The same limits for both
        self.post = post._replace(**{name: getattr(self.step, name) for name in (
            'limits', 'pose_limits', 'reach', 'frames', 'payload_limits')})

    def _judge_payloads(self) -> None:
        """Check the gains of all settings with payloads up to the greatest one."""
        mass, far = self.options.payload_mass, self.options.payload_distance
        if not mass:
            return
        for settings in self.settings.values():
            loaded = settings.loaded(self.model)
            for share in MASSES:
                for direction in DIRECTIONS:
                    settings.check_gains(with_payload(loaded, settings.payload_frame,
                                                      share * mass, far * direction))

    def motion_limits(self, k: int) -> MotionLimits:
        """Return the limits of references of some settings, as the controller has them."""
        version = self.versions[k]
        return motion_limits(self.model, version.settings,
                             VELOCITY_SHARE * version.joints['velocity_limit'],
                             version.joints['effort_limit'])

    def _write_limits(self, r: Request) -> None:
        r.payload_limits[:] = self.options.payload_mass, self.options.payload_distance
        for k, version in enumerate(self.versions):
            settings = version.settings
            r.limits[k] = limit_rows(self.motion_limits(k))
            if settings.law_in_force.reference == POSE:
                r.pose_limits[k] = limit_rows(pose_limits(settings))[:JERK + 1]
                center, longest = reach(self.model, settings.task_frame)
                r.reach[k] = *center, longest
            if settings.payload_frame:
                r.frames[k] = frame_record(self.model, version.robot, settings.payload_frame)[0]

    @property
    def laws(self) -> list[Law]:
        """Return the laws of the settings, each once."""
        return list(dict.fromkeys(s.law_in_force for s in self.settings.values()))

    def differences(self, a: int, b: int) -> tuple[bool, bool, bool]:
        """Return whether law, basis and payload of two of the settings differ."""
        old, new = (self.versions[k].settings for k in (a, b))
        return old.law != new.law, old.basis != new.basis, old.payload != new.payload

    def inputs(self, k: int) -> Cycle:
        """Return what the cycle reads and writes with some of the settings."""
        robot, joints, record, _, law, task, bounds = self.versions[k]
        c = self.controller.inputs
        # Neither the flight recorder nor parts that no settings need
        return c._replace(robot=robot, joints=joints, settings=record, law=law, task=task,
                          bounds=bounds, code=self._code)

    def functions(self) -> dict[str, Any]:
        """Return the compiled functions that a cycle or a request may call, by symbol."""
        inputs = self.controller.inputs
        records = [version.record for version in self.versions]
        parts = dict.fromkeys(part for record in records
                              for part in cycle_code.needed_parts(record))
        kernels: list[tuple[str, dict[str, Any]]] = [(name, {}) for name in ADDRESSED_KERNELS]
        if frames := [v.task.frame for v in self.versions if v.task.kernel[0]]:
            kernels.append((FRAME_KERNEL, {'frame': frames[0]}))
        return {
            CYCLE: cycle_code.compiled_cycle(), RECORDED: cycle_code.compiled_recorded_cycle(),
            cycle_code.LINKED_EFFORTS.symbol: cycle_code.LINKED_EFFORTS.compiled(),
            **{f'{LAW}{i}': compiled_law(law) for i, law in enumerate(self.laws)},
            **{f'robodyn_{part.function.__name__}': part.compiled() for part in parts},
            **{f'{KERNEL}{name}': kernel_callback(name, inputs.robot, options)
               for name, options in kernels},
            **{f'{GENERIC}{function.function.__name__}': function.compiled()
               for function in robot_dynamics.GENERIC},
            **{f'robodyn_{function.__name__}': compiled_request(function)
               for function in FUNCTIONS}}

    def memory(self, symbols: Mapping[str, Any]) -> Image:
        """
        Return the image of all settings, of what the cycle reads twice, and of both requests.

        :param symbols: of :meth:`functions`.
        """
        c = self.controller.inputs
        addresses = {int(c.code[place]): symbol for symbol, place in _PLACES.items()
                     if symbol in symbols}
        addresses |= {int(version.law.code[0]): f'{LAW}{self.laws.index(law)}'
                      for version in self.versions for law in [version.settings.law_in_force]}
        addresses |= {int(address): f'{KERNEL}{name}' for address, name in zip(
            c.robot.addresses, ADDRESSED_KERNELS, strict=True)}
        addresses |= {int(version.task.kernel[0]): KERNEL + FRAME_KERNEL
                      for version in self.versions if version.task.kernel[0]}
        assert 0 not in addresses
        self._code = np.where(np.isin(c.code, [*addresses]), c.code, 0)
        each = [self.inputs(k) for k in range(len(self.versions))]
        return image([*((cycle_code.CYCLE_INPUTS, inputs) for inputs in (*each, each[0], each[0])),
                      (REQUEST, self.step), (REQUEST, self.post)], addresses)

    def mode(self, k: int) -> str:
        """Return the name of the mode of some settings."""
        return registry.mode_name(int(self.versions[k].record['mode'][0]))
