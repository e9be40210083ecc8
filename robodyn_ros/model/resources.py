# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Where files are found: this package's own ones, and robots known by a short name."""

import re
from collections import Counter
from importlib import import_module, metadata
from pathlib import Path
from sysconfig import get_path, get_preferred_scheme
from xml.etree import ElementTree

from ..errors import UnknownNameError, UrdfError, close_names
from ..extras import pip_install

PACKAGE = 'robodyn_ros'
MAX_SHOWN = 200         # characters of a name that is none
ROBOT_NAME = re.compile(r'[A-Za-z][\w.+-]{0,100}', re.ASCII)
OWN_ROBOTS = ('two_link', 'rp', 'arm6')
OWN_ROWS = ('craig_2r', 'craig_rp')         # DH rows in examples/
EXAMPLE_ROBOTS = {
    'panda': 'panda_description/urdf/panda.urdf',
    'ur5': 'ur_description/urdf/ur5_robot.urdf',
    'kinova': 'kinova_description/robots/kinova.urdf',
    'double_pendulum': 'double_pendulum_description/urdf/double_pendulum.urdf',
}

ARMS = ('panda', 'ur5', 'kinova')           # those with limits, which the demo can drive


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


def _example_robots() -> dict[str, Path]:
    """
    Return every robot of example-robot-data by name, of its ROS package or of its wheel.

    A robot has the name of its file, without a final `_robot`; where several files have one name,
    that of its folder, without `_description`.
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
    Path of a robot of robot_descriptions, which downloads it once; None: there is no such robot.

    :raises UrdfError: it cannot be downloaded, or comes as xacro only.
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
    except Exception as error:          # whatever git and the network have to say
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
    Return the names that ``load_urdf`` and the commands know, as far as their robots are there.

    Those of this package, of example-robot-data, and of robot_descriptions, which downloads a
    robot when it is first asked for.
    """
    try:
        from robot_descriptions import DESCRIPTIONS
    except ImportError:
        DESCRIPTIONS = {}
    described = [name for name, about in DESCRIPTIONS.items() if about.has_urdf]
    return tuple(dict.fromkeys((*OWN_ROBOTS, *sorted(_example_robots()), *described)))


def robot_path(name_or_path: str | Path) -> Path:
    """
    Path of the URDF file of a robot, given by name (`two_link`, `panda`, ...) or by its path.

    :raises UrdfError: if it is neither a file nor a known name, or is known but not installed.
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
        return path
    if found := examples.get(name) or _described(name):
        return found
    close = close_names(name[:MAX_SHOWN], robot_names())
    some = ', '.join((*OWN_ROBOTS, *ARMS))
    raise UrdfError(f'no robot {name[:MAX_SHOWN]!r}', name=name, value=name_or_path, remedy=(
        f'did you mean {" or ".join(close)}?' if close else
        f'give the path of a URDF file that exists, or one of {some}')
        + ' (robodyn_ros.robot_names() lists all)')


def is_robot_name(text: object) -> bool:
    """Whether a text looks like a robot's name, not like a path or like XML."""
    return isinstance(text, str) and ROBOT_NAME.fullmatch(text) is not None \
        and not text.endswith(('.urdf', '.xml', '.xacro')) and not Path(text).exists()


def rows_path(name_or_path: str | Path) -> Path | None:
    """Path of a file of DH rows, given by name (`craig_2r`) or path; None of what is no such."""
    if str(name_or_path) in OWN_ROWS:
        return share_path('examples', f'{name_or_path}.yaml')
    path = Path(name_or_path).expanduser()
    return path if path.suffix.lower() in ('.yaml', '.yml') else None
