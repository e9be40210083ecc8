# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Controller of one robot as a shared library for C.

The code is that of the compiled control cycle, emitted once more as assembly: each assembler makes
the same instructions of it. The data that it reads and writes, a
:class:`~robodyn_ros.control.steps.cycle_data.Cycle`, becomes an image of memory, which the library
copies and relocates for each controller.
``c/robodyn_controller.h`` declares the functions.
"""

from collections.abc import Mapping
import hashlib
from importlib.util import find_spec
import json
from pathlib import Path
import platform
import re
import shutil
import subprocess
import sys
from typing import Any

from .exported import Exported, Options
from .image_text import image_text
from ..compiler.code_cache import fingerprint, stored
from ..compiler.linking import assembly
from ..control.cycle.compile import plain
from ..control.settings.settings import Settings
from ..errors import ArgumentError, ParameterError, RobodynError, writing
from ..flight_recorder.file import description
from ..model.resources import package_version
from ..model.robot import RobotModel

SOURCES = Path(__file__).with_name('c')
CPU = 'x86-64-v3'           # AVX2 and FMA: Intel since 2013, AMD since 2015
ARM, ARM_CPU = 'aarch64-linux-gnu', 'cortex-a72'
HEADER, SOURCE = 'robodyn_controller.h', 'robodyn_controller.c'
VERSION = '#define ROBODYN_CONTROLLER_VERSION '
CYCLE, ARM_CYCLE, IMAGE = 'robodyn_cycle.s', 'robodyn_cycle_aarch64.s', 'robodyn_image.h'
FLAGS = '-std=c11', '-O2', '-Wall', '-Wextra', '-fPIC', '-fvisibility=hidden', '-ffp-contract=off'


def write_library(model: RobotModel, settings: Mapping[str, Settings], folder: Path, name: str,
                  options: Options | None = None, *, aarch64: bool = False) -> Path:
    """
    Write ``libNAME.so``, its header and its sources into a folder; return the library.

    :param settings: by name; the first ones are in force at the start of a controller.
    :param aarch64: whether to write assembly for ARM as well, to be compiled there.
    :raises RobodynError: the settings cannot be used, this machine has no C compiler, or another
        processor than x86-64.
    """
    if sys.platform != 'linux' or platform.machine() != 'x86_64':
        raise RobodynError(f'this is {sys.platform} on {platform.machine()}', name='platform',
                           remedy='export on Linux on x86_64, which the library is for')
    if plain():
        raise RobodynError('the control cycle is plain Python', name='ROBODYN_PLAIN',
                           remedy='unset ROBODYN_PLAIN')
    compiler = c_compiler()
    write_sources(Exported(model, settings, options or Options()), folder, aarch64=aarch64)
    library = f'lib{name}.so'
    done = subprocess.run(
        [*compiler, *FLAGS, '-shared', SOURCE, CYCLE, '-o', library, '-lm',
         '-Wl,--no-undefined'], cwd=folder, text=True, capture_output=True)
    if done.returncode:
        raise RobodynError(f'{compiler[0]} has failed: {done.stderr.strip()[-300:]}', name='cc',
                           remedy='install gcc or clang for this machine')
    return folder / library


def write_sources(exported: Exported, folder: Path, *, aarch64: bool) -> None:
    """Write what the library is made of: C sources and assembly."""
    functions = exported.functions()
    memory = exported.memory(functions)
    code = f'robodyn_cycle_of_export_{code_digest(functions)}'
    header = (SOURCES / HEADER).read_text(encoding='utf-8')
    text = image_text(exported, memory, functions, description(
        exported.model, dict(enumerate(exported.versions)),
        exported.controller.inputs), code=code, version=header.partition(VERSION)[2].split()[0])
    label = f'\t.globl\t{code}\n\t.hidden\t{code}\n{code}:\n'
    with writing(folder, 'output', 'choose another folder'):
        folder.mkdir(parents=True, exist_ok=True)
        for source in (HEADER, SOURCE):
            shutil.copy(SOURCES / source, folder)
        (folder / CYCLE).write_text(label + stored_assembly(functions, CPU))
        if aarch64:
            (folder / ARM_CYCLE).write_text(label + stored_assembly(functions, ARM_CPU, ARM))
        (folder / IMAGE).write_text(text, encoding='utf-8')


def stored_assembly(functions: Mapping[str, Any], cpu: str, triple: str = '') -> str:
    """Return assembly, see :func:`.linking.assembly`, made now or before."""
    digest = hashlib.sha256(fingerprint(()) + f'{cpu} {triple} {code_digest(functions)}'.encode())

    def make(cached: Path | None) -> str:
        file = cached and cached / CYCLE
        if file and file.exists():
            return file.read_text()
        code = assembly(functions, cpu, triple)
        if file:
            file.write_text(code)
        return code
    return stored(f'assembly_{digest.hexdigest()[:20]}', 'assembly', make)


def code_digest(functions: Mapping[str, Any]) -> str:
    """Return a digest of the code of functions, for any processor, and thus of its memory."""
    digest = hashlib.sha256()
    for symbol, function in functions.items():
        digest.update(f'{symbol} {function._library._get_module_for_linking()}'.encode())
    return digest.hexdigest()[:20]


def c_compiler() -> list[str]:
    """Return the command of a C compiler; raise an error if there is none."""
    if found := next(filter(None, map(shutil.which, ('cc', 'gcc', 'clang'))), None):
        return [found]
    if find_spec('ziglang'):
        return [sys.executable, '-m', 'ziglang', 'cc']
    raise RobodynError('there is no C compiler', name='cc',
                       remedy='install gcc, or run `pip install ziglang`')


EMAIL = r'[\w.%+-]+@[\w-]+(\.[\w-]+)*\.[a-zA-Z]{2,}'     # as in a package.xml
TEMPLATES = Path(__file__).with_name('ros2_control')
NAME = 'robot_controller'           # of package and files in the templates


def package_name(folder: Path) -> str:
    """
    Return the name of the package in a folder: that of the folder.

    :raises ArgumentError: no ROS package can have it.
    """
    name = folder.resolve().name
    if not re.fullmatch(r'[a-z][a-z0-9]*(_[a-z0-9]+)*', name) or len(name) < 2:
        raise ArgumentError(
            f'{name} is not a valid name of a ROS package', name='output', value=str(folder),
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
    first, *_ = every = [*settings.values()]
    rate = first.rate
    if rate != round(rate):
        raise ParameterError(f'rate = {rate:g} Hz is not a valid update_rate of a manager',
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
        '@maintainer@': _plain(_git('user.name', 'maintainer')),
        '@email@': _plain(_git('user.email', 'maintainer@todo.todo', EMAIL)),
        '@joints@': ', '.join(map(json.dumps, model.joint_names)),
        '@command_joints@': ', '.join(json.dumps(f'{package}/{n}') for n in model.joint_names),
        # Twice as long as it takes
        '@arming_timeout@': str(min(10.0, max(0.01, *(2.0 * s.arming_samples / rate
                                                      for s in every)))),
        '@constraints@': json.dumps(
            {'goal_time': first.goal_time_tolerance} | {name: {'goal': goal} for name, goal in zip(
                model.joint_names, first.per_joint(model, 'goal_tolerance').tolist(),
                strict=True)}),
        '@joint_list@': ', '.join(f'`{_plain(name)}`' for name in model.joint_names),
    }
    with writing(folder, 'output', 'choose another folder'):
        for source in sorted(TEMPLATES.rglob('*')):
            # pip compiles the launch file, too
            if source.is_file() and source.suffix != '.pyc':
                target = folder / str(source.relative_to(TEMPLATES)).replace(NAME, package)
                target.parent.mkdir(parents=True, exist_ok=True)
                text = source.read_text(encoding='utf-8')
                for word, value in texts.items():
                    text = text.replace(word, value)
                target.write_text(text, encoding='utf-8')
        (folder / '.gitignore').write_text('lib*.so\n')     # built here; all else is text


def _git(key: str, default: str, form: str = '.+') -> str:
    """Return who exports, as Git knows them, or what `ros2 pkg create` would write."""
    if not shutil.which('git'):
        return default
    done = subprocess.run(['git', 'config', key], text=True, capture_output=True)
    given = done.stdout.strip()
    return given if re.fullmatch(form, given) else default


def _plain(text: str) -> str:
    """Return a name without what XML, Markdown and CMake give a meaning to."""
    return re.sub(r'[^\w .@+/-]', '?', text)
