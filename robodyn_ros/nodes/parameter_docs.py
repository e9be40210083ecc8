# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The page docs/parameters.md: python -m robodyn_ros.nodes.parameter_docs > docs/parameters.md."""

from . import controller_parameters, simulator_parameters
from .parameters import markdown


def page() -> str:
    """Return the page, made from the declarations the nodes themselves use."""
    return '\n'.join((
        '# Parameters',
        '',
        'Made from the declarations in `robodyn_ros/nodes/*_parameters.py`; do not edit.',
        'Lists hold one value a joint, in the order of the model; gains and limits may also be a '
        'single value for all joints. Parameters that are not live can only change while the '
        'controller is unconfigured; the simulator reads them once, when it starts. A set of '
        'changes with one refused value is refused as a whole.',
        '',
        '## controller',
        '',
        markdown(controller_parameters.TABLE),
        '## simulator',
        '',
        markdown(simulator_parameters.TABLE)))


if __name__ == '__main__':
    print(page(), end='')
