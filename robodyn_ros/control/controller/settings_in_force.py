# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Settings of a controller: their checks, the compiled code that they need, and their records."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy import ndarray

from .history import Version
from .partner_and_policy import joint_map
from ..cycle import trial
from ..cycle.call import no_law
from ..cycle.compile import (
    begin_others, law_address, load_all_parts, load_parts, needed_parts, needs_generic_dynamics,
    OPTIONAL, others_are_cached, plain)
from ..cycle.compile_ahead import COMPILING
from ..cycle.compile_laws import law_is_cached
from ..laws import registry
from ..laws.law import Law
from ..references.request import GRAVITY_CHANGE
from ..settings.motion_limits import data_of, default_tolerances, motion_limits, Scarcity
from ..settings.settings import Settings
from ..settings.task_and_bounds import bounds_of, FrameKernel, task_of
from ..steps import guard, robot_dynamics
from ..steps.cycle_data import LawMemory
from ...compiler import second_process
from ...dynamics import Dynamics
from ...dynamics.model_data import ModelData
from ...dynamics.specialize import with_kernels
from ...errors import ParameterError
from ...model.robot import RobotModel

if TYPE_CHECKING:
    from .controller import Controller

MAX_REMEMBERED = 64     # settings whose gains need no check again
# Fields of a model that its compiled kernels have as constants
KERNEL_DATA = [name for name in ModelData._fields if name not in ('friction', 'addresses')]


class SettingsInForce:
    """
    The settings of a controller, and the records that the cycle reads of them.

    :param settings: the first ones, which :meth:`prepare` has yet to check.
    :param law_memory: (rows, nv) of the law in force.
    :param like: of a controller of the same model and settings, whose checks and compiled code
        count for this one.
    """

    newest: Version     #: those in force

    def __init__(self, controller: Controller, settings: Settings, law_memory: ndarray,
                 like: SettingsInForce | None):
        self._controller, self._model = controller, controller.model
        #: In force.
        self.settings = settings
        # Laws that the mode can be switched to
        self._laws = dict.fromkeys((*registry.BUILT_IN, settings.law_in_force))
        self._addresses = LawAddresses(settings.law_in_force)
        self._no_law = no_law(self._model.nv)._replace(memory=law_memory)
        #: The model without payload.
        self.unloaded = data_of(self._model)
        # With kernels compiled for this robot
        self._own: ModelData | None = None
        self._frame_kernel: FrameKernel | None = None
        self._numbers = dict.fromkeys(('version', 'law', 'basis', 'payload'), 0)
        # `stability` of settings that were found stable, and what they leave to each joint
        self._stable: list[tuple[tuple, Scarcity]] = like._stable if like else []
        self._loaded: set[str] = set()      # `needs` of settings so far

    def try_law(self) -> None:
        """Try a law of a user in random states."""
        settings, now = self.settings, self.newest
        if settings.law_in_force not in registry.BUILT_IN:
            trial.check(settings.law_in_force, now.law, self._model, now.joints,
                        1.0 / settings.rate)

    def specialize(self, like: SettingsInForce | None) -> None:
        """Take the dynamics compiled for this robot, of ``like`` where it is given."""
        own, kernel = (like._own, like._frame_kernel) if like else (None, None)
        self._own = own or with_kernels(self.newest.robot)
        self._frame_kernel = kernel or FrameKernel(self.settings, self._model, self.unloaded)
        self.newest = self.newest._replace(
            robot=self._own, task=self._frame_kernel.given_to(self.newest.task))

    def load(self) -> None:
        """Load the compiled code of the settings in force."""
        if not plain():
            load_parts(self.newest.record, self.newest.robot)

    def load_laws(self) -> None:
        """Load our laws and the optional parts of the cycle, or begin to compile them."""
        self._addresses.prepare()

    def put_in_force(self, new: Version) -> None:
        """
        Replace the settings by those of a version.

        :param new: as :meth:`prepare` has returned it; no other settings have come into
            force since.
        """
        self._numbers = {'version': self._numbers['version'] + 1, **{
            name: int(new.record[name][0]) for name in ('law', 'basis', 'payload')}}
        new.record['version'] = self._numbers['version']
        self._controller.history.add(new)               # before a cycle can refer to it
        self.newest, self.settings = new, new.settings
        self._controller.changed()

    def prepare(self, settings: Settings, wait: bool) -> Version:
        """See :meth:`.Controller.prepare_settings`."""
        model, before = self._model, self.settings
        loaded, joints = settings.loaded(model), settings.joint_records(model)
        record = settings.settings_record()
        record['payload_body'] = settings.payload_body(model)
        for name in ('law', 'basis', 'payload'):
            changes = getattr(settings, name) != getattr(before, name)
            record[name] = self._numbers[name] + changes
        robot, own = data_of(loaded), self._own
        if own and all((getattr(robot, name) == getattr(own, name)).all() for name in KERNEL_DATA):
            robot = robot._replace(addresses=own.addresses)
        gains = settings.gain_rows(model)
        needed = needs(settings, record, robot, before)
        if not wait:
            check_compiled({name: needed[name] for name in needed.keys() - self._loaded})
        task = task_of(settings, model, self.unloaded)
        bounds = bounds_of(settings, model, self.unloaded)
        law = self._law_of(settings, gains)
        motion_limits(model, settings, joints['velocity_limit'])
        default_tolerances(model, settings)
        joint_map(model, settings)
        self._checked_gains(settings, loaded)
        if settings.payload != before.payload:      # friction and rotors weigh nothing
            check_gravity(self._controller, loaded, settings, joints['effort_limit'])
        self._controller.compiled.code_for(record, robot)   # now, not in the cycle that needs it
        self._loaded |= needed.keys()
        if self._frame_kernel is not None:
            task = self._frame_kernel.given_to(task)
        return Version(robot, joints, record, settings, law, task, bounds)

    @property
    def scarcity(self) -> Scarcity:
        """See :attr:`.Controller.scarcity`."""
        return self._checked_gains(self.settings)

    def _checked_gains(self, settings: Settings, loaded: RobotModel | None = None) -> Scarcity:
        """Return the scarcity of stable settings; to check them takes tens of milliseconds."""
        stability = settings.stability
        for known, scarcity in self._stable:
            if known == stability:
                return scarcity
        loaded = loaded or settings.loaded(self._model)
        settings.check_gains(loaded)
        scarcity = settings.scarcity(loaded)
        self._stable = [*self._stable[1 - MAX_REMEMBERED:], (stability, scarcity)]
        return scarcity

    def _law_of(self, settings: Settings, gains: ndarray) -> LawMemory:
        """Return the law of the settings, with its gains (K, nv)."""
        law = settings.law_in_force
        if law not in self._laws:
            raise registry.not_loaded(settings.mode)
        code = np.array([self._addresses[law], registry.number(settings.mode)], np.int64)
        return self._no_law._replace(code=code, gains=gains)


def check_gravity(c: Controller, loaded: RobotModel, settings: Settings, limit: ndarray) -> None:
    """
    Refuse a change of the payload with which an arm that is driven could not be armed.

    :param limit: (nv,) effort limits [N·m | N].
    :raises ParameterError: g(q) of the new model differs by more than ``arming_effort`` (at most
        GRAVITY_CHANGE) effort limits from the measured efforts, or from the previous g(q)
        where none are measured; or at all, while efforts of a fault are in force; or the arm is
        being armed.
    """
    if not c.memory['publishing'][0]:
        if c.arming:            # with the present model, before the new one is in force
            raise ParameterError(
                'the arm is just being armed', name='payload_mass', value=settings.payload_mass,
                remedy='change payload and model before, or when it is driven')
        return
    v = c.history.newest(c.memory, c.tau)[1]       # of one cycle
    gravity, measured = Dynamics(loaded).gravity(v.q), v.measured
    known = np.where(np.isfinite(measured), measured, v.gravity)
    held = c.phase == guard.FAULT        # perhaps without a valid state
    allowed = 0.0 if held else min(settings.arming_effort, GRAVITY_CHANGE) * limit
    if (wrong := np.abs(gravity - known) > allowed).any():
        i = int(wrong.argmax())
        said = 'measured' if np.isfinite(measured[i]) else 'given before'
        raise ParameterError(
            f'the gravity torque of {c.model.joint_names[i]} would be {gravity[i]:.4g}, '
            f'and {known[i]:.4g} N·m or N are {said}', name='payload_mass',
            value=settings.payload_mass, remedy='change payload and model while the arm is at '
            'rest and carries it, in steps that it would be armed with, or deactivate first')


class LawAddresses:
    """
    Addresses of laws: of one at once, of our others when the mode is switched to them.

    What this machine has not compiled yet is compiled by a second process, with low priority, so
    that no loop in Python waits for a compilation.

    :param first: the law to begin with.
    :raises ParameterError: it does not compile.
    """

    def __init__(self, first: Law):
        self._known = {first: law_address(first)}

    def prepare(self) -> None:
        """Load our laws and the optional parts of the cycle, or begin to compile them."""
        if plain():
            self._known |= {law: law_address(law) for law in registry.BUILT_IN}
            return
        missing = [law for law in registry.BUILT_IN if not law_is_cached(law)]
        begun = not others_are_cached() and begin_others()
        if not begun:
            load_all_parts()
        for law in registry.BUILT_IN:
            if law not in missing or not begun:
                self._known[law] = law_address(law)

    def __getitem__(self, law: Law) -> int:
        if law not in self._known:
            second_process.wait(OPTIONAL, lambda: law_is_cached(law))
            self._known[law] = law_address(law)
        return self._known[law]


def needs(settings: Settings, record: ndarray, robot: ModelData, before: Settings
          ) -> dict[str, Callable[[], bool]]:
    """
    Return the names of code that settings need, with functions that return whether it is compiled.

    :param record: the settings as (1,) ``SETTINGS``, and the ``robot`` with their payload.
    :param before: the settings that are replaced.
    """
    law = settings.law_in_force
    found: dict[str, Callable[[], bool]] = {
        f'mode {settings.mode}': lambda: law not in registry.BUILT_IN or law_is_cached(law)}
    found |= {part.setting: part.is_cached for part in needed_parts(record)}
    if needs_generic_dynamics(record, robot) or settings.loading != before.loading:
        found['payload'] = robot_dynamics.are_cached
    return found


def check_compiled(new: Mapping[str, Callable[[], bool]]) -> None:
    """
    Check that the needed code can be loaded, without compiling it or waiting for it.

    :param new: items of :func:`needs` that this process has not loaded yet.
    :raises ParameterError: code is missing, and the process that compiles it still runs or has
        failed.
    """
    if not (what := ', '.join(name for name, is_cached in new.items() if not is_cached())):
        return
    if second_process.running(OPTIONAL):
        raise ParameterError(f'the code of {what} is {COMPILING} in the background, once on '
                             'this machine', name='mode', value=what,
                             remedy='try again in a few seconds; nothing has changed')
    if second_process.failed(OPTIONAL):
        raise ParameterError(f'the code of {what} could not be compiled in the background',
                             name='mode', value=what, remedy='run `robodyn check-machine '
                             '--compile ROBOT`, which compiles it or reports the error; nothing '
                             'has changed')
