# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Every way to install the package, and what is installed then at work."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import distributions
import json
from pathlib import Path
import re
import site
import subprocess
import sys
import tempfile
from xml.etree import ElementTree

import pytest
from thorough import seeds

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]

# Where things are; then what the program in the argument prints as help
LOOK = """
import robodyn_ros, runpy, sys
from importlib.metadata import entry_points, version
from importlib.util import find_spec
from robodyn_ros.model.resources import share_path
print(robodyn_ros.__file__, version('robodyn_ros'), share_path('launch', 'demo.launch.py'),
      share_path('config', 'security_policy.xml'), share_path('urdf', 'two_link.urdf'),
      share_path('examples', 'craig_2r.yaml'), sep='\\n')
for name in ('robodyn_controller', 'robodyn_simulator'):
    script, = {one.value for one in entry_points(group='console_scripts') if one.name == name}
    print(script, find_spec(script.partition(':')[0]).origin, flush=True)
sys.argv = sys.argv[1:] + ['--help']
runpy.run_path(sys.argv[0], run_name='__main__')
"""


@dataclass
class Installation:
    """Where an installation put things, and the environment it works in."""

    source: Path
    python: Path
    executables: Path
    package: Path
    share: Path
    env: dict[str, str]


def run(*command: object, cwd: Path, env: dict[str, str]) -> str:
    """Return what a command prints; fails with everything it said when it fails."""
    done = subprocess.run(list(map(str, command)), cwd=cwd, env=env, text=True,
                          stdin=subprocess.DEVNULL, capture_output=True)
    assert done.returncode == 0, f'{command}\n{done.stdout}\n{done.stderr}'
    return done.stdout


def pip(source: Path, env: dict[str, str]) -> Installation:
    """Install with pip into a new environment that shares the tests' other packages."""
    venv = source.parents[1] / 'environment'
    run(sys.executable, '-m', 'venv', '--without-pip', venv, cwd=source, env=env)
    python = venv / 'bin' / 'python'
    own = Path(run(python, '-c', 'import site; print(site.getsitepackages()[0])',
                   cwd=source, env=env).strip())
    # Not the folders themselves: their .pth files count too. Named to come after our package's
    (own / 'zz_shared.pth').write_text(''.join(
        f'import site; site.addsitedir({path!r})\n' for path in site.getsitepackages()))
    # Most modules are never imported here
    run(python, '-m', 'pip', 'install', '--no-deps', '--no-build-isolation', '--no-compile',
        source, cwd=source, env=env)
    return Installation(source, python, venv / 'bin', own / 'robodyn_ros',
                        venv / 'share' / 'robodyn_ros', env)


def editable(source: Path, env: dict[str, str]) -> Installation:
    """Return the installation of the tests, which make.py makes so."""
    if not any(json.loads(one.read_text('direct_url.json') or '{}').get('dir_info', {}).get(
            'editable') for one in distributions(name='robodyn_ros')):
        pytest.skip('the tests run in no editable installation')
    return Installation(source, Path(sys.executable), Path(sys.executable).parent,
                        source / 'robodyn_ros', source, env)


def colcon(source: Path, env: dict[str, str], *options: str) -> Installation:
    """Build with colcon and take over the environment that its setup file makes."""
    pytest.importorskip('colcon_core', reason='needs pip install colcon-common-extensions')
    workspace, python = source.parents[1], Path(sys.executable)
    if ' ' in str(python):          # colcon cannot name such a Python in the scripts it writes
        link = Path(tempfile.mkdtemp(dir=workspace.parent)) / 'environment'
        link.symlink_to(sys.prefix)
        python = link / 'bin' / 'python'
    run(python, '-m', 'colcon', 'build', *options, cwd=workspace,
        env={**env, 'PYTHONDONTWRITEBYTECODE': '1'})        # most modules are never imported here
    sourced = run('bash', '-c', 'source install/local_setup.bash >&2 && env -0', cwd=workspace,
                  env=env)
    env = dict(line.split('=', 1) for line in sourced.split('\0') if line)
    prefix = workspace / 'install' / 'robodyn_ros'
    package = prefix / 'lib' / f'python{sys.version_info[0]}.{sys.version_info[1]}' / \
        'site-packages' / 'robodyn_ros'
    if options:
        package = workspace / 'build' / 'robodyn_ros' / 'robodyn_ros'
    return Installation(source, python, prefix / 'lib' / 'robodyn_ros', package,
                        prefix / 'share' / 'robodyn_ros', env)


KINDS = {'pip': (pip,), 'pip-editable': (editable,), 'colcon': (colcon,),
         'colcon-symlink': (colcon, '--symlink-install')}


@pytest.fixture(scope='module')
def install(copy, clean) -> Callable[[str], Installation]:
    """Return what installs a copy in one of these ways, once."""
    @cache
    def install(kind: str) -> Installation:
        how, *options = KINDS[kind]
        return how(ROOT if how is editable else copy(), clean, *options)
    return install


@pytest.fixture(params=KINDS)
def installed(request, install) -> Installation:
    return install(request.param)


def test_files_and_programs_are_those_of_the_installation(installed, tmp_path):
    """Programs without robodyn_ are for `ros2 run` alone, and not among everybody's programs."""
    programs = installed.executables
    *found, shown = run(installed.python, '-c', LOOK, programs / 'robodyn', cwd=tmp_path,
                        env=installed.env).split('\n', maxsplit=8)
    version = ElementTree.parse(installed.source / 'package.xml').findtext('version')
    share = installed.share
    assert found == [str(installed.package / '__init__.py'), version,
                     str(share / 'launch/demo.launch.py'),
                     str(share / 'config/security_policy.xml'), str(share / 'urdf/two_link.urdf'),
                     str(share / 'examples/craig_2r.yaml'),
                     *(f'robodyn_ros.nodes.{name}:main '
                       f'{installed.package / "nodes" / name / "__init__.py"}'
                       for name in ('controller', 'simulator'))]
    assert 'Usage: robodyn' in shown
    for name in ('controller', 'simulator'):
        assert (programs / f'robodyn_{name}').is_file()
        assert (programs / name).is_file() == (programs.parts[-2:] == ('lib', 'robodyn_ros'))


def test_nodes_run_together_and_end_cleanly(install, start, tmp_path):
    """
    The simulator of pip and the controller of colcon.

    Other tests run all nodes out of a checkout, as editable installations do. Takes over 5 s:
    Python starts for each of them, and imports what is not compiled yet.
    """
    pytest.importorskip('rclpy', reason='needs ROS 2: the extra [ros], or an installation')
    one, other = install('pip'), install('colcon')
    simulator = start(one.executables / 'robodyn_simulator', '--ros-args', '-p', 'urdf:=two_link',
                      '-p', 'publish_description:=true', env=one.env, cwd=tmp_path)
    controller = start(other.executables / 'robodyn_controller', '--ros-args', '-p',
                       'autostart:=true', env=other.env, cwd=tmp_path)
    simulator.wait_for_line('simulator ready: two_link')
    controller.wait_for_line('RUNNING')
    assert controller.interrupt() == 0
    assert simulator.interrupt() == 0


@pytest.mark.skipif(seeds(0, 1) == 0, reason='installs all dependencies: only ROBODYN_THOROUGH=1')
def test_the_blocks_of_the_readme_run_from_the_wheel(copy, clean, start, tmp_path):
    """In an empty environment, outside of the repository, as they stand; not those of make."""
    source = copy()
    run(sys.executable, '-m', 'pip', 'wheel', '--no-deps', '-w', tmp_path, source, cwd=source,
        env=clean)
    (wheel,) = tmp_path.glob('*.whl')
    blocks = re.findall(r'```(bash|python)\n(.*?)```', (source / 'README.md').read_text(),
                        re.DOTALL)
    (install, view), code = (
        '\n'.join(text for of, text in blocks if of == kind and 'make ' not in text).strip()
        .split('\n') for kind in ('bash', 'python'))
    assert "'.[sim,view]'" in install and view.startswith('robodyn view panda ')
    clean = {name: value for name, value in clean.items() if not name.startswith('PYTHON')}
    run('bash', '-ec', install.replace("'.[", f"'{wheel}["), cwd=tmp_path, env=clean)
    venv = tmp_path / 'venv' / 'bin'
    run(venv / 'python', '-c', '\n'.join(code), cwd=tmp_path, env=clean)
    shown = start(venv / view.split()[0], *view.split()[1:3], cwd=tmp_path, env=clean)
    shown.wait_for_line('Ctrl-C ends it')
    assert shown.interrupt() == 130
