# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Optional dependencies of the package, and the commands that install them.

`setup.py` runs this file without the package to declare the extras, so that it imports the
standard library only.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from platform import machine
import re
import shlex
import sys
import sysconfig

# Wheels of ROS 2 for machines without a ROS installation. They are not requirements of the
# package, since they would shadow the rclpy of a ROS installation. The extras include mcap, for
# the files of the flight recorder.
ROS = ('diagnostic-msgs', 'geometry-msgs', 'lifecycle-msgs', 'rclpy', 'rmw-fastrtps-cpp',
       'sensor-msgs', 'std-msgs', 'std-srvs', 'trajectory-msgs')

EXTRAS = {
    'ros': ['mcap', *(f'ros-kilted-{part}' for part in ROS)],
    'ros-jazzy': ['mcap', *(f'ros-jazzy-{part}' for part in ROS)],    # instead of ros
    'sim': [
        'example-robot-data',
        'matplotlib',
        'mujoco>=3.14',             # earlier ones ignore the rpy of an inertia with products
        'plotly',                   # plots of reports, which the browser zooms
    ],
    'identify': [
        'clarabel',                 # cone programs
        'plotly',
        'rosbags>=0.11',            # reader of ROS 2 bags without ROS
        "backports.zstd; python_version < '3.14'",      # compressed bags
    ],
    'derive': [
        'sympy',                    # equations of motion in closed form
    ],
    'ik': [
        'mink',                     # inverse kinematics, for examples/inverse_kinematics.py
    ],
    'view': [
        'pycollada',                # meshes in .dae files, for trimesh
        'viser',                    # 3D scenes in the browser; brings trimesh
    ],
    'can': [
        'pyserial',                 # the USB-CAN adapter of Damiao
        'python-can',               # adapters other than those of SocketCAN
    ],
    'franka': [
        'pylibfranka',
    ],
    'cluster': [
        'distributed',              # Dask: worlds of `robodyn verify` on several machines
    ],
    'docs': [
        'mkdocs-material',
        'mkdocstrings-python',      # pages of the docstrings
    ],
    'bench': [
        'casadi',                   # generates C code of the dynamics, beside which they are timed
        'cmeel-eigen',              # headers for the C++ API of Pinocchio
        'drake; python_version < "3.14"',       # beside which the dynamics are timed, as the next
        'dynibo',
        'frax',
    ],
    'test': [
        'clang-format==23.*',
        'codespell==2.4.*',
        'colcon-common-extensions',
        'coverage>=7.10',           # the first that measures child processes without a plugin
        'hypothesis',
        'import-linter==2.*',
        'isort==9.*',
        'mink',
        'motorbridge; platform_system == "Linux" and platform_machine == "x86_64"',    # frames
        'mypy==2.4.*',
        'pin',
        'pyserial',
        'pytest==8.3.*',            # the last that launch_testing runs under
        'pytest-xdist',
        'python-can',
        'ruckig',                   # beside which motions to targets are timed
        'ruff==0.17.*',
        'setuptools==79.0.1',       # the last that colcon build --symlink-install runs under
        'types-PyYAML',
        'xacro',
    ],
}


def pip_install(*packages: str) -> str:
    """
    Return the command that installs these packages, in the versions that the extras require.

    The packages are listed, since this package is not on PyPI, so that
    `pip install 'robodyn_ros[sim]'` would fail.
    """
    versions = {re.split('[^A-Za-z0-9_.-]', line)[0]: line.partition(';')[0]
                for extra in EXTRAS.values() for line in extra}
    command = ['pip', 'install', *(['--break-system-packages'] if _externally_managed() else [])]
    return shlex.join([*command, *(versions.get(package, package) for package in packages)])


def pip_install_extra(extra: str) -> str:
    """Return the command that installs all packages of an extra."""
    return pip_install(*(re.split('[^A-Za-z0-9_.-]', line)[0] for line in EXTRAS[extra]))


def install_ros() -> str:
    """Return how to get ROS 2; PyPI has it for Linux on x86_64 and Python below 3.14."""
    if sys.platform == 'linux' and machine() == 'x86_64' and sys.version_info < (3, 14):
        return f'source your ROS 2 installation, or run `{pip_install_extra("ros")}`'
    return 'source your ROS 2 installation'


def _externally_managed() -> bool:
    """Return whether this Python is externally managed (PEP 668), as on Debian and Ubuntu."""
    return (sys.prefix == sys.base_prefix
            and Path(sysconfig.get_path('stdlib'), 'EXTERNALLY-MANAGED').exists())


def from_modules(package: str, modules: Mapping[str, str]) -> Callable[[str], object]:
    """
    Return the ``__getattr__`` of a package whose names are those of its modules.

    :param package: ``__name__`` of the package.
    :param modules: for each name the module that has it, relative to the package.
    :return: function that raises ImportError, with the cause, if a module cannot be imported.
    """
    def load(name: str) -> object:
        if name not in modules:
            raise AttributeError(f'module {package!r} has no attribute {name!r}')
        try:
            module = import_module(modules[name], package)
        except AttributeError as error:     # would read as if the package had no such name
            raise ImportError(f'{package}.{name} cannot be loaded, because its module raises '
                              f'AttributeError: {error}', name=f'{package}.{name}') from error
        return getattr(module, name)
    return load
