# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Lookup of the files of this package and of robots that are known by a short name."""

from collections import Counter
from importlib import import_module, metadata
from pathlib import Path
import re
from sysconfig import get_path, get_preferred_scheme
from xml.etree import ElementTree

from ..errors import close_names, UnknownNameError, UrdfError
from ..extras import pip_install

PACKAGE = 'robodyn_ros'
MAX_SHOWN = 200         # characters of an unknown name in a message
ROBOT_NAME = re.compile(r'[A-Za-z][\w.+-]{0,100}', re.ASCII)
OWN_ROBOTS = ('two_link', 'rp', 'arm6')
OWN_ROWS = ('craig_2r', 'craig_rp')         # DH rows in examples/
EXAMPLE_ROBOTS = {
    'panda': 'panda_description/urdf/panda.urdf',
    'ur5': 'ur_description/urdf/ur5_robot.urdf',
    'kinova': 'kinova_description/robots/kinova.urdf',
    'double_pendulum': 'double_pendulum_description/urdf/double_pendulum.urdf',
}

ARMS = ('panda', 'ur5', 'kinova')           # those with limits, which the demo supports


def _ament_share(package: str) -> Path | None:
    """Return the share folder of an installed ROS package, None if it is not found."""
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
    Return the path of a file or folder of this package, e.g. ``'config', 'panda.yaml'``.

    The locations of a ROS installation, a `pip install` and a source tree (`pip install -e`
    installs no share folder) are searched in this order.

    :raises UnknownNameError: no such file.
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
    """Return the version of this package, 'unknown' where its package.xml cannot be read."""
    try:
        return ElementTree.parse(share_path('package.xml')).findtext('version') or 'unknown'
    except (UnknownNameError, OSError, ElementTree.ParseError):     # overlaid installations
        return 'unknown'


def _example_robots() -> dict[str, Path]:
    """
    Return all robots of example-robot-data by name, from its ROS package or its wheel.

    The name is that of the file, without a final `_robot`; if several files have the same name,
    that of the folder, without `_description`.
    """
    ament = _ament_share('example-robot-data')
    files = sorted((ament / 'robots').glob('*/*/*.urdf')) if ament else []
    try:
        wheel = metadata.files('example-robot-data') or [] if not files else []
    except metadata.PackageNotFoundError:
        wheel = []
    files += [Path(str(file.locate())).resolve() for file in wheel
              if file.match('example-robot-data/robots/*/*/*.urdf')]
    stems = Counter(file.stem for file in files)
    found = {file.stem if stems[file.stem] == 1
             else file.parents[1].name.removesuffix('_description'): file for file in files}
    found = {name.removesuffix('_robot'): file for name, file in found.items()} | found
    for name, place in EXAMPLE_ROBOTS.items():
        if place_of := [file for file in files if file.match(f'robots/{place}')]:
            found[name] = place_of[0]
    return found


def _described(name: str) -> Path | None:
    """
    Return the path of a robot of robot_descriptions, downloaded once; None if it has no such.

    :raises UrdfError: the robot cannot be downloaded, or is xacro only.
    """
    try:
        from robot_descriptions import DESCRIPTIONS
    except ImportError:
        return None
    known = [key for key in (name, f'{name}_description')
             if key in DESCRIPTIONS and DESCRIPTIONS[key].has_urdf]
    if not known:
        return None
    try:
        module = import_module(f'robot_descriptions.{known[0]}')
    except Exception as error:          # of git or the network, of any type
        raise UrdfError(f'robot_descriptions cannot fetch {known[0]} ({error})', name=name,
                        remedy='connect to the network once, or give the path of a URDF file'
                        ) from error
    if not hasattr(module, 'URDF_PATH'):
        raise UrdfError(f'{known[0]} of robot_descriptions is xacro, {module.XACRO_PATH}',
                        name=name, remedy='expand it with `xacro FILE > my_arm.urdf` and give '
                                          'the path of that')
    return Path(module.URDF_PATH)


def robot_names() -> tuple[str, ...]:
    """
    Return the names of available robots, which ``load_urdf`` and the commands accept.

    They are those of this package, of example-robot-data, and of robot_descriptions, which
    downloads a robot when it is first used.

    >>> from robodyn_ros import robot_names
    >>> robot_names()[:3]
    ('two_link', 'rp', 'arm6')
    """
    try:
        from robot_descriptions import DESCRIPTIONS
    except ImportError:
        DESCRIPTIONS = {}
    described = [name for name, about in DESCRIPTIONS.items() if about.has_urdf]
    return tuple(dict.fromkeys((*OWN_ROBOTS, *sorted(_example_robots()), *described)))


def robot_path(name_or_path: str | Path) -> Path:
    """
    Return the path of the URDF file of a robot, given by name (`panda`, ...) or by its path.

    :raises UrdfError: it is neither a file nor a known name, it is YAML, or it is not installed.
    """
    name = str(name_or_path)
    if name in OWN_ROBOTS:
        return share_path('urdf', f'{name}.urdf')
    examples = _example_robots()
    if name in EXAMPLE_ROBOTS and name not in examples:
        raise UrdfError(f'robot {name!r} comes with example-robot-data, which is not installed',
                        name=name, remedy=f'run `{pip_install("example-robot-data")}`, or give '
                                          'the path of a URDF file')
    if name in EXAMPLE_ROBOTS:
        return examples[name]
    if (path := Path(name).expanduser()).is_file():
        if path.suffix.lower() in ('.yaml', '.yml'):
            raise UrdfError(f'{name} is not a URDF', name=name, value=name_or_path, remedy=(
                'name the robot; a parameter file is given with --config'))
        return path
    if found := examples.get(name) or _described(name):
        return found
    close = close_names(name[:MAX_SHOWN], robot_names())
    some = ', '.join((*OWN_ROBOTS, *ARMS))
    raise UrdfError(f'no robot {name[:MAX_SHOWN]!r}', name=name, value=name_or_path, remedy=(
        f'did you mean {" or ".join(close)}?' if close else
        f'pass the path of a URDF file that exists, or one of {some}')
        + ' (`robodyn robots` and robot_names() list all)')


def is_robot_name(text: object) -> bool:
    """Return whether a text can be the name of a robot, rather than a path or XML."""
    return isinstance(text, str) and ROBOT_NAME.fullmatch(text) is not None \
        and not text.endswith(('.urdf', '.xml', '.xacro')) and not Path(text).exists()


def rows_path(name_or_path: str | Path) -> Path | None:
    """Return the path of a file of DH rows, given by name (`craig_2r`) or path; else None."""
    if str(name_or_path) in OWN_ROWS:
        return share_path('examples', f'{name_or_path}.yaml')
    path = Path(name_or_path).expanduser()
    return path if path.suffix.lower() in ('.yaml', '.yml') else None
