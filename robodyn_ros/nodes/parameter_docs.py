# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Generator of docs/parameters.md: python -m robodyn_ros.nodes.parameter_docs > that file."""

from .controller import parameters as controller_parameters
from .middleware.parameters import markdown
from .simulator import parameters as simulator_parameters


def page() -> str:
    """Return the page, made from the declarations the nodes themselves use."""
    return '\n'.join((
        '# Parameters',
        '',
        'This page is generated from the declarations in `robodyn_ros/control/` and '
        '`robodyn_ros/nodes/*/parameters.py`; do not edit it.',
        'Lists have one value per joint, in the order of the model; gains and limits also accept '
        'a single value for all joints. Parameters that are not live can be changed only while '
        'the controller is unconfigured; the simulator reads them once, when it starts. If one '
        'value of a set is refused, the whole set is refused.',
        '',
        '## controller',
        '',
        markdown(controller_parameters.TABLE),
        '## simulator',
        '',
        markdown(simulator_parameters.TABLE)))


if __name__ == '__main__':
    print(page(), end='')
