# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Where files are found: this package's own ones, and robots known by a short name."""

from importlib import metadata
from pathlib import Path
from sysconfig import get_path, get_preferred_scheme
from xml.etree import ElementTree

from ..errors import UnknownNameError, UrdfError
from ..extras import pip_install

PACKAGE = 'robodyn_ros'
OWN_ROBOTS = ('two_link', 'rp', 'arm6')
OWN_ROWS = ('craig_2r', 'craig_rp')         # DH rows in examples/
EXAMPLE_ROBOTS = {
    'panda': 'panda_description/urdf/panda.urdf',
    'ur5': 'ur_description/urdf/ur5_robot.urdf',
    'kinova': 'kinova_description/robots/kinova.urdf',
    'double_pendulum': 'double_pendulum_description/urdf/double_pendulum.urdf',
}


def _ament_share(package: str) -> Path | None:
    """Return the share folder of an installed ROS package, None where there is no such thing."""
    try:
        from ament_index_python.packages import get_package_share_path
    except ImportError:
        return None
    try:
        return get_package_share_path(package)
    except (LookupError, OSError):          # unknown package; no AMENT_PREFIX_PATH at all
        return None


def share_path(*parts: str) -> Path:
    """
    Path of a file or folder of this package, e.g. ``share_path('config', 'panda.yaml')``.

    It is looked for where a ROS installation, a `pip install` and a source tree (`pip install -e`
    installs no share folder) keep it, in this order.

    :raises UnknownNameError: if none of them has it.
    """
    ament = _ament_share(PACKAGE)
    installed = [Path(get_path('data', get_preferred_scheme(kind)), 'share', PACKAGE)
                 for kind in ('prefix', 'user')]        # pip install, with and without --user
    folders = [*([ament] if ament else []), *installed, Path(__file__).resolve().parents[2]]
    for folder in folders:
        if (path := folder.joinpath(*parts)).exists():
            return path
    here = folders[-1].joinpath(*parts[:-1])
    raise UnknownNameError('file', '/'.join(parts), sorted(
        '/'.join((*parts[:-1], p.name)) for p in here.glob('*')))


def package_version() -> str:
    """Return the version of this package."""
    return ElementTree.parse(share_path('package.xml')).findtext('version') or 'unknown'


def _example_path(name: str) -> Path:
    """Path of a robot of example-robot-data, of its ROS package or of its wheel."""
    ament = _ament_share('example-robot-data')
    if ament and (path := ament / 'robots' / EXAMPLE_ROBOTS[name]).is_file():
        return path
    try:
        files = metadata.files('example-robot-data') or []
    except metadata.PackageNotFoundError:
        files = []
    for file in files:
        if file.match(f'example-robot-data/robots/{EXAMPLE_ROBOTS[name]}'):
            return Path(str(file.locate())).resolve()
    raise UrdfError(f'robot {name!r} comes with example-robot-data, which is not installed',
                    name=name, remedy=f'run `{pip_install("example-robot-data")}`, or give the '
                                      'path of a URDF file')


def robot_path(name_or_path: str | Path) -> Path:
    """
    Path of the URDF file of a robot, given by name (`two_link`, `panda`, ...) or by its path.

    :raises UrdfError: if it is neither a file nor a known name, or is known but not installed.
    """
    name = str(name_or_path)
    if name in OWN_ROBOTS:
        return share_path('urdf', f'{name}.urdf')
    if name in EXAMPLE_ROBOTS:
        return _example_path(name)
    if (path := Path(name).expanduser()).is_file():
        return path
    known = ', '.join((*OWN_ROBOTS, *EXAMPLE_ROBOTS))
    raise UrdfError(f'no robot {name!r}', name=name, value=name_or_path,
                    remedy=f'give the path of a URDF file that exists, or one of {known}')


def rows_path(name_or_path: str | Path) -> Path | None:
    """Path of a file of DH rows, given by name (`craig_2r`) or path; None of what is no such."""
    if str(name_or_path) in OWN_ROWS:
        return share_path('examples', f'{name_or_path}.yaml')
    path = Path(name_or_path).expanduser()
    return path if path.suffix.lower() in ('.yaml', '.yml') else None
