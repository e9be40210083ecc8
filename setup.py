# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The package, for colcon and for pip alike; name, version and texts come from package.xml."""

from glob import glob
from xml.etree import ElementTree

from setuptools import find_packages, setup

# What the nodes need of ROS 2, for a machine that has none. Never a requirement: a ROS
# installation brings its own rclpy, which these wheels would shadow. With it goes mcap, for the
# files of the flight recorder.
ROS = ('diagnostic-msgs', 'geometry-msgs', 'lifecycle-msgs', 'rclpy', 'rmw-fastrtps-cpp',
       'sensor-msgs', 'std-msgs', 'std-srvs', 'trajectory-msgs')

manifest = ElementTree.parse('package.xml')
name = manifest.findtext('name')

setup(
    name=name,
    version=manifest.findtext('version'),
    description=manifest.findtext('description'),
    author=manifest.findtext('author'),
    maintainer=manifest.findtext('maintainer'),
    maintainer_email=manifest.find('maintainer').get('email'),
    license=manifest.findtext('license'),
    python_requires='>=3.10',
    packages=find_packages(include=[name, f'{name}.*']),
    package_data={name: ['py.typed', 'identification/templates/*.jinja']},
    data_files=[
        ('share/ament_index/resource_index/packages', [f'resource/{name}']),
        (f'share/{name}', ['package.xml', 'LICENSE']),
        (f'share/{name}/launch', glob('launch/*.launch.py')),
        (f'share/{name}/config', glob('config/*.yaml') + glob('config/*.xml')),
        (f'share/{name}/examples', glob('examples/*.yaml')),
        (f'share/{name}/urdf', glob('urdf/*.urdf')),
    ],
    entry_points={
        'console_scripts': [
            'controller = robodyn_ros.nodes.controller:main',
            'simulator = robodyn_ros.nodes.simulator:main',
            'robodyn = robodyn_ros.cli:main',
        ],
    },
    install_requires=[
        'lxml',
        'numba>=0.58',
        'numpy',
        'platformdirs',
        'PyYAML',
        'rich',
        'scipy',
        'sympy',
        'typer',
        'urdfdom-py>=1.2.1',
    ],
    extras_require={
        'ros': ['mcap', *(f'ros-kilted-{part}' for part in ROS)],
        'ros-jazzy': ['mcap', *(f'ros-jazzy-{part}' for part in ROS)],      # instead of ros
        'sim': [
            'example-robot-data',
            'matplotlib',
            'mujoco>=3.2.3',
        ],
        'identify': [
            'clarabel',                 # what cvxpy solves with here
            'cvxpy',
            'jinja2',
            'matplotlib',
            'rosbags>=0.11',            # bags of ROS 2, read without ROS
        ],
        'bench': [
            'cmeel-eigen',              # headers that Pinocchio's C++ wants
        ],
        'test': [
            # Where there are packages of it; elsewhere `fuzz wire` cannot hunt, and says so.
            'atheris; platform_system == "Linux" and platform_machine == "x86_64" '
            'and python_version < "3.14"',
            'colcon-common-extensions',
            'hypothesis',
            'mypy==2.4.*',
            'pin',
            'pytest==8.3.*',            # the last that launch_testing runs under
            'pytest-xdist',
            'ruff==0.17.*',
            'setuptools==79.0.1',       # the last that colcon build --symlink-install runs under
            'types-PyYAML',
            'xacro',
        ],
    },
    zip_safe=True,
)
