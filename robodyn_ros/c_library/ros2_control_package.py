# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Package of a controller for ros2_control: a plugin around the C library of a controller."""

from collections.abc import Mapping
import json
from pathlib import Path
import re

from ..control.settings.settings import Settings
from ..errors import ArgumentError, ParameterError, writing
from ..model.resources import package_version
from ..model.robot import RobotModel

TEMPLATES = Path(__file__).with_name('ros2_control')
NAME = 'robot_controller'           # of package and files in the templates
MIN_ARMING_TIMEOUT = 0.01           # [s]


def package_name(folder: Path) -> str:
    """
    Return the name of the package in a folder: that of the folder.

    :raises ArgumentError: no ROS package can have it.
    """
    name = folder.resolve().name
    if not re.fullmatch(r'[a-z][a-z0-9]*(_[a-z0-9]+)*', name) or len(name) < 2:
        raise ArgumentError(
            f'{name} is no name of a ROS package', name='output', value=str(folder),
            remedy='end the path by a folder of lower-case letters, digits and single '
                   'underscores, as my_arm_controller')
    return name


def write_package(model: RobotModel, settings: Mapping[str, Settings], folder: Path) -> None:
    """
    Write the files of an ament_cmake package beside those of the library in a folder.

    :param settings: as in :func:`.library.write_library`.
    :raises ArgumentError: see :func:`package_name`; the folder cannot be written.
    :raises ParameterError: no controller manager runs at the rate.
    """
    package = package_name(folder)
    first = next(iter(settings.values()))
    rate = first.rate
    if rate != round(rate):
        raise ParameterError(f'rate = {rate:g} Hz is no update_rate of a controller manager',
                             name='rate', value=rate, remedy='choose a whole number')
    texts = {
        NAME: package,
        '@robot@': _plain(model.name),
        '@mode@': first.law_in_force.name,
        '@first@': json.dumps(next(iter(settings))),
        '@settings@': ', '.join(f'{_plain(name)} ({one.law_in_force.name})'
                                for name, one in settings.items()),
        '@rate@': f'{rate:g}',
        '@version@': package_version(),
        '@payload_frame@': json.dumps(first.payload_frame),
        '@base@': json.dumps(model.base_link),
        '@arming_timeout@': f'{max(MIN_ARMING_TIMEOUT, 2.0 * first.arming_samples / rate):g}',
        '@joints@': ', '.join(map(json.dumps, model.joint_names)),
        '@command_joints@': ', '.join(json.dumps(f'{package}/{n}') for n in model.joint_names),
        '@joint_list@': ', '.join(f'`{_plain(name)}`' for name in model.joint_names),
    }
    with writing(folder, 'output', 'give another folder'):
        for source in sorted(TEMPLATES.rglob('*')):
            # pip compiles the launch file, too
            if source.is_file() and source.suffix != '.pyc':
                target = folder / str(source.relative_to(TEMPLATES)).replace(NAME, package)
                target.parent.mkdir(parents=True, exist_ok=True)
                text = source.read_text(encoding='utf-8')
                for word, value in texts.items():
                    text = text.replace(word, value)
                target.write_text(text, encoding='utf-8')


def _plain(text: str) -> str:
    """Return a name without what XML, Markdown and CMake give a meaning to."""
    return re.sub(r'[^\w .+/-]', '?', text)
