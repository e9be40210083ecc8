# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Parameters of the controller node; docs/parameters.md is generated from this table.

Those of the node itself are declared here, those of control in
:mod:`robodyn_ros.control.settings.parameters`.
"""

from collections.abc import Callable
from dataclasses import Field, fields
from typing import Any

from .control_loop import ControlLoop
from .forward_controller import check_hand_over
from . import robot
from ..middleware.parameters import Parameter, Parameters
from ...control.controller.history import Version
from ...control.declare import listed
from ...control.laws import registry
from ...control.laws.law import Law
from ...control.settings.parameters import ControlParameters, LawParameters
from ...control.settings.settings import GAINS, Settings
from ...control.steps.cycle_data import ContactParameters, GuardParameters, MotionParameters
from ...driver import Driver
from ...errors import ParameterError
from ... import driver
from ...model.robot import RobotModel
from ...realtime.loop_settings import LoopSettings


def _declared(parameters: Any) -> tuple[Parameter, ...]:
    """Return the control parameters that a class declares, in the order for users."""
    return tuple(map(_parameter, listed(parameters)))


def _parameter(field: 'Field[Any]') -> Parameter:
    """Return a declared control parameter as a parameter of the node."""
    about, default = field.metadata, field.default
    kind, value = type(default), default
    if isinstance(default, tuple):
        kind, value = list[int] if field.type == tuple[int, ...] else list[float], list(default)
    return Parameter(field.name, kind, value, about['doc'], about.get('unit', ''),
                     about.get('lower'), about.get('upper'), about.get('choices', ()),
                     live=about['live'], places=about.get('places', False))


def law_parameters(law: Law) -> tuple[Parameter, ...]:
    """
    Return the gains of a law as parameters of the node.

    :raises ParameterError: a parameter of the node has the name of a gain.
    """
    names = {p.name for p in TABLE} - set(GAINS)
    for field in law.declared:
        if field.name in names:
            raise ParameterError(f'law {law.name} calls a gain {field.name}, as a parameter is '
                                 'called', name=field.name, remedy='give the gain another name')
    return tuple(map(_parameter, law.declared))


ROBOT = (
    *robot.PARAMETERS,
    Parameter('description_timeout', float, 5.0, 'Time to wait for the topic `robot_description` '
              'if no parameter defines the robot.', 's',
              0.0, 60.0),
    Parameter('poses', list[str], [], 'Named poses for `robodyn goto`: `name=0.0,-0.8` (rad, m).',
              live=True),
    Parameter('accepted_links', list[str], [], 'Links whose physically inconsistent inertia is '
              'accepted; `*`: all.'),
)

LOOP = (
    Parameter('autostart', bool, False, 'Configure and activate once at start-up.'),
    Parameter('specialize', bool, True, 'Compile the dynamics for this robot: faster cycles.'),
    *_declared(LoopSettings),
    Parameter('timing_file', str, '', 'File (.npz) for the timing of the latest cycles. Empty: '
              'none.', at_start=True),
    Parameter('flight_recorder', float, 5.0, 'Time span recorded at a fault (64 MiB at most); 0: '
              'none.', 's', 0.0, 60.0),
    Parameter('flight_folder', str, '', 'Folder of the newest 20 flight recordings. Empty: ROS '
              'logs.', at_start=True),
)

DRIVER = (
    Parameter('driver', str, '', 'Driver in place of the topics, `package.module:NAME`, or a file '
              'of recorded readings. Empty: none.'),
    Parameter('driver_options', list[str], [], 'Options of the driver, `name=value` with values '
              'in YAML; `record` records its readings.'),
    Parameter('discovery_time', float, -1.0, 'Time to discover other command publishers before '
              'activation. Negative: 0.7 s with Fast DDS, else 2 s.', 's', -1.0, 30.0),
    Parameter('arming_timeout', float, 5.0, 'Time for which activation and reset wait for a good '
              'state.', 's', 0.1, 60.0, live=True),
)

# Thresholds of the timing diagnostics
QUALITY = (
    Parameter('rate_warn', float, 0.05, 'Error or deviation of the rate, relative to `rate`, that '
              'causes a warning.', '', 0.0, 1.0, live=True),
    Parameter('rate_error', float, 0.1, 'As `rate_warn`, for an error.', '', 0.0, 1.0, live=True),
    Parameter('execution_warn', float, 0.001, 'Mean cycle time that causes a warning; at most '
              'half a period.', 's', 0.0, 1.0, live=True),
    Parameter('execution_error', float, 0.002, 'As `execution_warn`, for an error; at most a '
              'period.', 's', 0.0, 1.0, live=True),
    Parameter('jitter_warn', float, 0.0001, 'Standard deviation of the cycle time that causes a '
              'warning.', 's', 0.0, 1.0, live=True),
    Parameter('jitter_error', float, 0.0002, 'As `jitter_warn`, for an error.', 's', 0.0, 1.0,
              live=True),
)

STOPS = (
    Parameter('heartbeat_timeout', float, 0.0, 'Maximum silence of `~/heartbeat`; 0: no heartbeat '
              'is required.', 's', 0.0, 60.0),
    Parameter('emergency_stop', bool, False, 'Subscribe to `~/emergency_stop`: *true* or no '
              'publisher stops the arm.'),
)

EXTERNAL_EFFORTS = (
    Parameter('external_effort_rate', float, 20.0, 'Rate of `~/external_torque` and '
              '`~/external_wrench`; 0: not published.', 'Hz', 0.0, 1000.0),
    Parameter('external_wrench_frame', str, '', 'Frame of `~/external_wrench`. Empty: none.'),
)

COUPLING = (
    Parameter('coupling_rate', float, 250.0, 'Rate of `~/coupling`.', 'Hz', 1.0, 1000.0),
)

HAND_OVER = (
    Parameter('controller_manager', str, '', 'Controller manager that activates the forward '
              'controller when RUNNING. Empty: a person switches.'),
    Parameter('replaced_controllers', list[str], [], 'Controllers deactivated in this switch, and '
              'activated again at the end.'),
)

TELEMETRY = (
    Parameter('telemetry_rate', float, 20.0, 'Rate of the telemetry topics; 0: not published.',
              'Hz', 0.0, 1000.0),
)

TABLE = (ROBOT + LOOP + QUALITY + DRIVER + _declared(LawParameters) + STOPS
         + _declared(GuardParameters) + _declared(ContactParameters) + EXTERNAL_EFFORTS
         + _declared(MotionParameters) + COUPLING + HAND_OVER + TELEMETRY)


def settings(values: dict[str, Any]) -> Settings:
    """Return the control settings among a node's parameter values."""
    own = [f.name for f in registry.find(values['mode']).declared if f.name not in GAINS]
    return Settings(**{f.name: values[f.name] for f in fields(ControlParameters)},
                    gains={name: values[name] for name in own if values.get(name)})


def driver_of(values: dict[str, Any], model: RobotModel, sim_time: bool) -> Driver | None:
    """
    Return the driver that the parameters name, None if they name none.

    :raises RobodynError: it cannot be made, the node runs on simulation time, or a clock triggers
        the cycles of a driver that is read inline.
    """
    if not values['driver']:
        return None
    if sim_time:
        raise ParameterError('a driver is read in real time', name='driver',
                             value=values['driver'], remedy='set use_sim_time to false')
    made = driver.make(values['driver'], model, driver.given_options(values['driver_options']))
    if driver.reading_of(made) == driver.INLINE and values['trigger'] != 'state':
        made.close()
        raise ParameterError('the loop reads this driver, whose reading is inline', name='trigger',
                             value=values['trigger'], remedy='set trigger to state')
    return made


class LiveSettings:
    """
    Checks and applies the parameters of a node, and declares the gains of the law of its mode.

    :param parameters: of the node.
    :param loop: returns the loop while the node is configured.
    :param commands: the name of the topic of commands.
    :param changed: called after a change of settings.
    :param warn: logs that a change ended a motion.
    """

    def __init__(self, parameters: Parameters, loop: Callable[[], ControlLoop | None],
                 commands: str, changed: Callable[[], None], warn: Callable[[str], object]):
        self._parameters, self._loop = parameters, loop
        self._commands, self._changed, self._warn = commands, changed, warn
        self._prepared: Version | None = None
        self._declare_gains(parameters['mode'])
        parameters.fixed = lambda: loop() is not None
        parameters.accept = self.check
        parameters.changed = self._apply

    def check(self, values: dict[str, Any]) -> None:
        """
        Check new values and prepare their application.

        They are checked only here: after they are stored, a refusal would be too late. This method
        neither compiles nor waits: its thread serves resets, transitions and signals.

        :raises RobodynError: they cannot be used.
        """
        self._prepared = None
        self._declare_gains(values['mode'])
        check_hand_over(values, self._commands)
        if (loop := self._loop()) is not None:
            robot.named_poses(values['poses'], loop.controller.model)
            if values['motor_test_effort'] < 0.0 <= self._parameters['motor_test_effort']:
                raise ParameterError(
                    'what a negative motor_test_effort stands for is decided when the node is '
                    'configured', name='motor_test_effort', value=values['motor_test_effort'],
                    remedy='set the effort, or clean the node up first')
            self._prepared = loop.controller.prepare_settings(settings(values), wait=False)

    def _apply(self) -> None:
        prepared, self._prepared = self._prepared, None
        if prepared is not None and (loop := self._loop()) is not None:
            if ended := loop.controller.reference_ended_by(prepared.settings):
                self._warn(ended)
            loop.controller.put_in_force(prepared)
            self._changed()

    def _declare_gains(self, mode: str) -> None:
        """
        Declare the gains of the law of a mode, built-in or user-defined.

        While the node is configured, no module is imported: an import takes any time.
        """
        law = registry.find(mode, load=self._loop() is None)
        self._parameters.add(law_parameters(law))
