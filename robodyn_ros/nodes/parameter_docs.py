# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Generator of docs/parameters.md: python -m robodyn_ros.nodes.parameter_docs > that file."""

from .controller import parameters as controller_parameters, robot
from .middleware.parameters import markdown, Parameter
from .simulator import parameters as simulator_parameters

INTRODUCTION = """\
# Parameters

This page is generated from the declarations in the code: do not edit it.

Numbers without a default are lists with one value per joint, in the order of the model; gains and
limits also accept a single value for all joints. *Fixed* parameters change only while the
controller is unconfigured, or at the start of the simulator; those *at start* never. A set with a
refused value is refused as a whole. The default of a choice is in bold.

## Essential parameters

`robodyn init my_arm.urdf` writes a file with suitable gains. Those below are for `joint_impedance`
and `computed_torque`; other laws have [more](#control-law-and-gains).
"""
ESSENTIAL = ('urdf', 'mode', 'rate', 'stiffness', 'damping', 'acceleration_kp', 'acceleration_kd',
             'loop_delay', 'robot_compensates_gravity', 'effort_limit', 'velocity_limit',
             'trigger', 'autostart', 'payload_frame', 'payload_mass', 'payload_com')
#: Headings of the other parameters of the controller, by the first one below each.
HEADINGS = {
    'robot_description': 'Robot model', 'autostart': 'Loop, driver, hand-over and telemetry',
    'arming_timeout': 'Arming, stopping and fault efforts',
    'priority': 'Real time and diagnostics', 'driver': 'Loop, driver, hand-over and telemetry',
    'mode': 'Control law and gains', 'task_frame': 'Task space', 'coupling_role': 'Coupled arms',
    'effort_limit': 'Limits and payload', 'viscous_friction': 'Friction',
    'robot_compensates_gravity': 'Limits and payload', 'acceleration_limit': 'References',
    'heartbeat_timeout': 'State and motion checks',
    'arming_samples': 'Arming, stopping and fault efforts',
    'external_effort_bandwidth': 'Contact, hand guiding and bounded motion',
    'coupling_rate': 'Coupled arms', 'controller_manager': 'Loop, driver, hand-over and telemetry'}


def page() -> str:
    """Return the page, made from the declarations the nodes themselves use."""
    declared = {p.name: p for p in controller_parameters.TABLE}
    sections: dict[str, list[Parameter]] = {}
    title = ''
    for name, p in declared.items():
        title = HEADINGS.get(name, title)
        if name not in ESSENTIAL:
            sections.setdefault(title, []).append(p)
    sections['Simulator'] = [p for p in simulator_parameters.TABLE if p not in robot.PARAMETERS]
    return '\n'.join((
        INTRODUCTION, markdown(declared[name] for name in ESSENTIAL),
        *(f'## {title}\n\n{markdown(table)}' for title, table in sections.items()),
        'The robot is defined as for the controller, by '
        f'{", ".join(f"`{p.name}`" for p in robot.PARAMETERS)}.\n'))


if __name__ == '__main__':
    print(page(), end='')
