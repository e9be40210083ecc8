# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Package definition for colcon and pip; name, version and description come from package.xml."""

from glob import glob
from pathlib import Path
from runpy import run_path
import sys
from xml.etree import ElementTree

from setuptools import find_packages, setup

NODES = ('controller', 'controllers', 'simulator')
# Names without robodyn_ are for `ros2 run` only: pip installs scripts into a shared folder.
by_pip = not {'bdist_wheel', 'dist_info', 'editable_wheel'}.isdisjoint(sys.argv)

manifest = ElementTree.parse('package.xml')
name = manifest.findtext('name')
# Beside the file itself: colcon runs a link to it in another folder
README = Path(__file__).resolve().with_name('README.md').read_text(encoding='utf-8')

setup(
    name=name,
    version=manifest.findtext('version'),
    description=manifest.findtext('description'),
    long_description=README,
    long_description_content_type='text/markdown',
    author=manifest.findtext('author'),
    url=manifest.findtext('url'),
    maintainer=manifest.findtext('maintainer'),
    maintainer_email=manifest.find('maintainer').get('email'),
    license=manifest.findtext('license'),
    python_requires='>=3.10',
    packages=find_packages(include=[name, f'{name}.*']),
    package_data={name: ['py.typed', 'c_library/c/*', 'c_library/ros2_control/**',
                         'drivers/arms/*.yaml', 'nodes/middleware/*.xml',
                         '*/templates/*']},
    data_files=[
        ('share/ament_index/resource_index/packages', [f'resource/{name}']),
        (f'share/{name}', ['package.xml', 'LICENSE']),
        (f'share/{name}/launch', glob('launch/*.launch.py')),
        (f'share/{name}/config', glob('config/*.yaml') + glob('config/*.xml')),
        (f'share/{name}/examples', glob('examples/*.yaml') + glob('examples/*.py')),
        (f'share/{name}/examples/displays', glob('examples/displays/*')),
        (f'share/{name}/examples/moveit', glob('examples/moveit/*.yaml')),
        (f'share/{name}/examples/launch', glob('examples/launch/*.launch.*')),
        (f'share/{name}/urdf', glob('urdf/*.urdf')),
    ],
    entry_points={
        'console_scripts': [
            'robodyn = robodyn_ros.cli:main',
            *(f'robodyn_{node} = {name}.nodes.{node}:main' for node in NODES),
            *(f'{node} = {name}.nodes.{node}:main' for node in NODES if not by_pip),
        ],
    },
    install_requires=[
        'lxml',
        'numba>=0.58,<0.69',        # both ends: test/packaging/test_remedies.py
        'numpy',
        'platformdirs',
        'PyYAML',
        'rich',
        'scipy',
        'typer',
        'urdfdom-py>=1.2.1',
    ],
    extras_require=run_path(f'{name}/extras.py')['EXTRAS'],
    zip_safe=True,
)
