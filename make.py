#!/usr/bin/env python3
# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Run the demo or the tests on a machine that has nothing but Linux x86_64 and a Python 3.10-3.13.

  demo [ROBOT] [SCENE]
                  two nodes over ROS 2: an arm falls, floats, is driven; ROBOT is panda (default),
                  ur5, two_link, ... or the path of a URDF file. With SCENE contact it is pushed,
                  guided by hand, and hits a post. --view shows it in the browser
  test [ARG ...]  lint, then all tests; pytest gets the arguments
  quick [ARG ...] lint, then the tests without processes, ROS or long computations: under a minute
                  once caches are warm; pytest gets the arguments
  coverage [ARG ...]
                  share of each module that the tests without processes and ROS run; with
                  arguments, those that pytest selects. Machine code counts as not run
  lint            ruff, codespell, import-linter, mypy
  fuzz [WHAT ...] `urdf [N]`: N mutated URDFs (10,000); `wire`: hostile messages for the decoders
                  until coverage stops growing, 10 minutes at most; both if not said
  adversary [ARG ...]
                  random combinations of faults for ten minutes; --help for more
  bench [ARG ...] the dynamics beside Pinocchio, MuJoCo and NumPy, then the loop beside rclpy nodes
                  (`bench dynamics`, `bench loop`: one of them; `bench many_arms`, `bench
                  live_view`), --help for more; results in build/bench/, with --docs in docs/, too
  soak [ARG ...]  two nodes for ten minutes on a loaded machine: no effort may be missing; results
                  in build/soak/; --minutes 1 for a first look
  docs            the pages of docs/ as a site, build/site/index.html; a broken link is an error
  clean           remove all that the others, colcon and Python's tools have written here
  help            this text

What they need is installed into .venv beside this file, once, and again when it has changed.
DISTRO=jazzy in the environment takes that ROS 2 instead of kilted, in .venv-jazzy.
Nothing outside of this folder is touched but caches in ~/.cache, and no ROS installation is used:
one that is sourced in this shell is left out, so that what runs is the same everywhere. To use
your ROS installation, build this package in its workspace with colcon.
"""

import contextlib
import glob
import hashlib
import os
import platform
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.abspath(__file__))
DISTRO = os.environ.get('DISTRO') or 'kilted'
VENV = os.path.join(ROOT, '.venv' if DISTRO == 'kilted' else '.venv-' + DISTRO)
BUILD = os.path.join(ROOT, 'build')
STAMP = os.path.join(VENV, 'robodyn_ros.stamp')
LOG = os.path.join(BUILD, 'pip.log')
ROS = {'kilted': 'ros', 'jazzy': 'ros-jazzy'}       # the extra of each distribution of ROS 2
PYTHONS = 'python3.13', 'python3.12', 'python3.11', 'python3.10', 'python3', 'python'
BENCHMARKS = ['dynamics', 'loop']                   # and those that run only if named:
NAMED_BENCHMARKS = {'many_arms': [], 'live_view': ['view']}     # with further extras
# Targets that are one program: the extras that it needs, and its command line
PROGRAMS = {'fuzz': (['sim', 'test'], [os.path.join('test', 'fuzz')]),
            'adversary': (['sim', 'test'], [os.path.join('test', 'adversary')]),
            'soak': (['sim'], ['-m', 'benchmarks.soak']),
            'docs': (['docs'], ['-m', 'mkdocs', 'build', '--strict'])}
# The last one takes half a minute the first time: `test` runs it beside the tests
LINTERS = [['ruff', 'check', '.'], ['codespell'], ['lint-imports'], ['mypy']]
# What the markers in pyproject.toml say of the tests
SIDE_BY_SIDE = ['--dist', 'loadgroup']
# More processes of pytest than cores: tests of processes wait for longer than they compute. None
# is replaced that crashes: pytest-xdist 3.8 then waits for ever (its issues 1323, 1327)
TESTS = [['-n', '5', '--max-worker-restart', '0', *SIDE_BY_SIDE, '-m', 'not alone', 'test'],
         ['-m', 'alone', 'test']]
# What has failed there, once more and alone: tests of processes fail where others take their time
AGAIN = ['-v', '-n', '1', *SIDE_BY_SIDE, '--last-failed', '--last-failed-no-failures', 'none',
         '-x', '-m', 'not alone', 'test']
FAILED, CRASHED = 1, 3              # exit codes of pytest: failed tests, a process that crashed
# Threads of NumPy in two pytest processes would wait for each other's. What pytest has rewritten
# for its assertions is kept even where bytecode is not wanted: it takes a third of the collection
TESTING = {'OPENBLAS_NUM_THREADS': '1', 'PYTHONDONTWRITEBYTECODE': ''}
QUICK = ['-n', '2', *SIDE_BY_SIDE, '-m', 'not (alone or process or ros or slow)']
# Coverage slows Python down: not of tests in real time
MEASURED = [*QUICK[:-1], 'not (alone or process or ros)', 'test']

# Asks a Python what it is: a name on PATH may be a pyenv shim without a Python behind it.
PROBE = """
import struct, sys
sys.exit(not (sys.implementation.name == 'cpython' and struct.calcsize('P') == 8
              and (3, 10) <= sys.version_info[:2] <= (3, 13)
              and getattr(sys, '_is_gil_enabled', lambda: True)()))
"""

# Set by another installation of ROS or of Python: ours would load its packages or settings. Those
# kept say who may hear our nodes and where logs go.
FOREIGN = ('_ROS_WHEELS_', 'AMENT_', 'CMAKE_PREFIX_PATH', 'COLCON_', 'FASTDDS_', 'FASTRTPS_',
           'PIP_PREFIX', 'PIP_ROOT', 'PIP_TARGET', 'PIP_USER', 'PYTHON', 'RMW_', 'ROS_',
           'VIRTUAL_ENV')
KEPT = ('PYTHONDONTWRITEBYTECODE', 'PYTHONUNBUFFERED', 'ROS_AUTOMATIC_DISCOVERY_RANGE',
        'ROS_DOMAIN_ID', 'ROS_HOME', 'ROS_LOG_DIR')


def clean_environment():
    """Return the environment for our own Python, whatever was sourced or activated here."""
    env = {k: v for k, v in os.environ.items() if k in KEPT or not k.startswith(FOREIGN)}
    if 'AMENT_PREFIX_PATH' in os.environ or '_ROS_WHEELS_BOOTSTRAP_COMPLETE' in os.environ:
        env.pop('LD_LIBRARY_PATH', None)        # full of another ROS's libraries
    if not env.get('HOME'):
        env.pop('HOME', None)                   # empty would mean /
    if not os.path.isabs(os.path.expanduser('~')):
        env['HOME'] = os.path.join(BUILD, 'home')       # a user that /etc/passwd does not know
        os.makedirs(env['HOME'], exist_ok=True)
    return env


def say(text):
    """Print a line about what is going on, apart from what the programs themselves print."""
    print(text, file=sys.stderr, flush=True)


def runs(env, *command):
    """Return whether a command exists and succeeds, without a word of its own."""
    null = subprocess.DEVNULL
    try:
        return subprocess.call(command, env=env, stdin=null, stdout=null, stderr=null) == 0
    except OSError:
        return False


def check_machine():
    """Stop with one line where no wheels of ROS 2 exist."""
    machine = '{} {}'.format(platform.system(), platform.machine())
    if DISTRO not in ROS:
        sys.exit('DISTRO={} is none of {}'.format(DISTRO, ', '.join(ROS)))
    if machine != 'Linux x86_64':
        sys.exit('This needs Linux on x86_64, which the ROS 2 packages on PyPI are made for; '
                 'here is {}. The library itself (pip install .) runs anywhere.'.format(machine))


def pythons(env):
    """Yield the Pythons of this machine that are in the range, the running one first."""
    folders = os.environ.get('PATH', os.defpath).split(os.pathsep)
    found = [os.path.join(folder, name) for name in PYTHONS for folder in folders if folder]
    for python in [sys.executable] + found:
        if python and runs(env, python, '-c', PROBE):
            yield python


def make_venv(env):
    """Make .venv with the first Python that can, or stop with one line."""
    usable = list(pythons(env))
    if not usable:
        sys.exit('No Python 3.10-3.13 (CPython, 64 bit) found; this is {}. Install one, e.g. '
                 '`sudo apt install python3 python3-venv`, and run this again.'
                 .format(platform.python_version()))
    say('Making {} ...'.format(os.path.basename(VENV)))
    for python in usable:
        if (runs(env, python, '-m', 'venv', '--clear', VENV)
                or runs(env, python, '-m', 'virtualenv', '--clear', VENV)
                or runs(env, 'virtualenv', '--clear', '--python', python, VENV)):
            return
    shutil.rmtree(VENV, ignore_errors=True)
    sys.exit('{} cannot make a virtual environment here (no venv module, or the disk is full): '
             '`sudo apt install python3-venv`, and run this again.'.format(usable[0]))


def fingerprint():
    """Return what decides whether .venv is up to date, apart from the extras in it."""
    digest = hashlib.sha256(ROOT.encode())      # a copied .venv still points to its old place
    for name in ('setup.py', 'setup.cfg', 'package.xml', 'pyproject.toml',
                 os.path.join('robodyn_ros', 'extras.py')):
        with open(os.path.join(ROOT, name), 'rb') as file:
            digest.update(file.read())
    return digest.hexdigest()


def read_stamp():
    """Return the extras that .venv has, none where it is not up to date."""
    try:
        with open(STAMP) as file:
            digest, *extras = file.read().split()
    except (OSError, ValueError):
        return set()
    return set(extras) if digest == fingerprint() else set()


def why(log):
    """Return one sentence on why pip failed, out of what it printed."""
    if 'No space left on device' in log:
        return 'the disk is full'
    if any(sign in log for sign in ('NewConnectionError', 'NameResolutionError', 'ProxyError',
                                    'ConnectTimeout', 'Max retries exceeded')):
        return 'the package index cannot be reached: is there a network?'
    errors = [line.strip() for line in log.splitlines() if line.strip().startswith('ERROR:')]
    return errors[0][len('ERROR:'):].strip() if errors else 'pip gave no reason'


def install(python, extras, env):
    """Install this package, editable, with its extras into .venv, or stop with one line."""
    what = 'ROS 2 {}, MuJoCo{}'.format(
        DISTRO.capitalize(), ' and the tools for testing' if 'test' in extras else '')
    say('Installing {} into {}: once, a minute or two ...'.format(what, os.path.basename(VENV)))
    # The pip of Python 3.10 does not find, in minutes, which versions go together; a new one does
    begin = time.time()
    pip(python, env, what, '--upgrade', 'pip')
    pip(python, env, what, '--editable', '.[{}]'.format(','.join(sorted(extras))))
    say('Installed {} in {:.0f} s.'.format(what, time.time() - begin))


def pip(python, env, what, *arguments):
    """Run `pip install`, or stop with one line."""
    # Python compiles what it imports, and keeps that: a small part of what is installed, and to
    # compile all of it takes longer than to install it
    later = [] if env.get('PYTHONDONTWRITEBYTECODE') else ['--no-compile']
    command = [python, '-m', 'pip', 'install', '--disable-pip-version-check', '--no-input',
               '--progress-bar', 'off', *later, *arguments]
    # A signal that comes between the start of pip and its mention here would leave it behind
    signals = {signal.SIGINT, signal.SIGTERM}

    def let_signals_end_it():
        for number in signals:
            signal.signal(number, signal.SIG_DFL)       # and not a handler of ours
        signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    with open(LOG, 'wb') as log:
        running = subprocess.Popen(
            command, cwd=ROOT, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            preexec_fn=let_signals_end_it)
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)
        running.wait()
    except SystemExit:              # SIGTERM has reached us alone
        running.terminate()
        raise
    finally:
        if running.poll() is None:  # Ctrl-C in a terminal has reached it too: it is cleaning up
            try:
                running.wait(10)
            except subprocess.TimeoutExpired:
                running.terminate()
    if running.returncode:
        with open(LOG, errors='replace') as file:
            sys.exit('Could not install {}: {} (details: {})'.format(what, why(file.read()), LOG))


def prepare(wanted):
    """Bring .venv up to date with the extras wanted; return the environment and its Python."""
    check_machine()
    # Not at the top: other systems have no such module, and are to be told so in plain words.
    import fcntl

    env = clean_environment()
    python = os.path.join(VENV, 'bin', 'python')
    os.makedirs(BUILD, exist_ok=True)
    with open(os.path.join(BUILD, 'lock'), 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)        # demo and test may be started side by side
        sound = runs(env, python, '-c', PROBE) and runs(env, python, '-m', 'pip', '--version')
        present = read_stamp() if sound else set()
        if not wanted <= present:
            if not sound:
                make_venv(env)
            if os.path.exists(STAMP):
                os.remove(STAMP)    # until the new one is there, .venv counts as unfinished
            install(python, wanted | present, env)
            with open(STAMP, 'w') as file:
                file.write(' '.join([fingerprint()] + sorted(wanted | present)))
    return env, python


def become(env, *command):
    """Replace this process by the command: its signals and its exit code are ours."""
    os.chdir(ROOT)
    os.execve(command[0], command, env)


def call(env, *command):
    """Run the command, and return what this process should exit with."""
    return exit_code(subprocess.call(command, cwd=ROOT, env=env))


def exit_code(code):
    """Return the code of a shell for one of subprocess: 128 and the signal that ended it."""
    return code if code >= 0 else 128 - code


def demo(arguments):
    """Run the main job."""
    viewed = [one for one in arguments if one == '--view']
    arguments = [one for one in arguments if one != '--view']
    if len(arguments) > 2:
        sys.exit('demo takes one robot and one scene, not {}'.format(' '.join(arguments)))
    robot, scene = (given or usual for given, usual in
                    zip(arguments + [''] * (2 - len(arguments)), ('panda', 'motion')))
    robot = os.path.abspath(robot) if os.path.isfile(robot) else robot
    env, python = prepare({ROS.get(DISTRO), 'sim', *(['view'] if viewed else [])})
    become(env, os.path.join(os.path.dirname(python), 'robodyn'), 'demo', robot,
           '--scene', scene, *viewed[:1])


def lint(arguments, linters=LINTERS):
    """Run the checks that need no running; return environment and Python for more."""
    if arguments:
        sys.exit('lint takes no arguments')
    env, python = prepare({ROS.get(DISTRO), 'sim', 'identify', 'derive', 'view', 'test'})
    # Once: many a process of the tests imports the package anew
    call(env, python, '-m', 'compileall', '-q', 'robodyn_ros', 'test')
    for tool, *options in linters:
        say('$ ' + ' '.join([tool] + options))
        failed = call(env, os.path.join(os.path.dirname(python), tool), *options)
        if failed:
            sys.exit(failed)
    return env, python


@contextlib.contextmanager
def beside(env, python, tool):
    """Run a linter meanwhile; give the function that waits, prints and returns the exit code."""
    with tempfile.TemporaryFile('w+') as output:
        say('$ {}: beside the tests, its result comes after them'.format(tool))
        running = subprocess.Popen([os.path.join(os.path.dirname(python), tool)], cwd=ROOT,
                                   env=env, stdin=subprocess.DEVNULL, stdout=output, stderr=output)

        def result():
            running.wait()
            output.seek(0)
            say('$ {}\n{}'.format(tool, output.read().rstrip()))
            return exit_code(running.returncode)
        try:
            yield result
        finally:
            running.terminate()
            running.wait()


def test(arguments):
    """Run lint, then everything that says whether this works; exit if any of it has failed."""
    *quick_ones, (slow_one,) = LINTERS
    env, python = lint([], LINTERS if arguments else quick_ones)

    def pytest(selected):
        say('$ pytest ' + shlex.join(selected))
        return call({**env, **TESTING}, python, '-m', 'pytest', *selected)
    if arguments:
        sys.exit(pytest(arguments))
    beside_others, alone = TESTS
    with beside(env, python, slow_one) as result:
        failed = pytest(beside_others)
        if failed == CRASHED:
            say('A process of pytest has crashed, see above: all of its tests once more.')
            failed = pytest(beside_others)
        wrong = result()
    if failed == FAILED:
        failed = pytest(AGAIN)
        if not failed:
            say('What has failed beside other tests, named above, passes alone: look for a race.')
    failed = pytest(alone) or failed
    if wrong:
        say('{} has failed, see above.'.format(slow_one))
    sys.exit(failed or wrong)


def quick(arguments):
    """Run what a developer wants to know between two changes."""
    env, python = lint([])
    become({**env, **TESTING}, python, '-m', 'pytest', '-q', *QUICK, *(arguments or ['test']))


def coverage(arguments):
    """Print which share of each module the tests run; exit as they do."""
    env, python = lint([], [])
    env = {**env, **TESTING, 'COVERAGE_FILE': os.path.join(BUILD, 'coverage')}
    call(env, python, '-m', 'coverage', 'erase')
    failed = call(env, python, '-m', 'coverage', 'run', '-m', 'pytest', '-q',
                  *(arguments or MEASURED))
    call(env, python, '-m', 'coverage', 'combine', '--quiet')
    sys.exit(call(env, python, '-m', 'coverage', 'report') or failed)


def bench(arguments):
    """Run what says how fast the dynamics and the loop are."""
    if arguments and arguments[0] in [*BENCHMARKS, *NAMED_BENCHMARKS]:
        names, arguments = arguments[:1], arguments[1:]
    else:                           # what only the first one understands is meant for it
        names = BENCHMARKS if set(arguments) <= {'--quick', '--docs'} else BENCHMARKS[:1]
    env, python = prepare({ROS.get(DISTRO), 'sim', 'test', 'bench',
                           *NAMED_BENCHMARKS.get(names[0], [])})
    for name in names[:-1]:
        failed = call(env, python, '-m', 'benchmarks.' + name, *arguments)
        if failed:
            sys.exit(failed)
    become(env, python, '-m', 'benchmarks.' + names[-1], *arguments)


def clean(arguments):
    """Remove what can be made again."""
    if arguments:
        sys.exit('clean takes no arguments')
    for pattern in ('.venv*', 'build', 'install', 'log', 'dist', '*.egg-info', '.*_cache',
                    '.hypothesis', '__pycache__', '[a-z]*/**/__pycache__'):
        for path in glob.glob(os.path.join(glob.escape(ROOT), pattern), recursive=True):
            shutil.rmtree(path)


def main(arguments):
    """Run the target that the command line names."""
    targets = {'demo': demo, 'test': test, 'quick': quick, 'lint': lint, 'coverage': coverage,
               'bench': bench, 'clean': clean}
    name = arguments[0] if arguments else 'help'
    if name in ('help', '-h', '--help'):
        print(__doc__.strip())
    elif name in targets:
        targets[name](arguments[1:])
    elif name in PROGRAMS:
        extras, command = PROGRAMS[name]
        env, python = prepare({ROS.get(DISTRO), *extras})
        become(env, python, *command, *arguments[1:])
    else:
        sys.exit('{!r} is none of {}, help'.format(name, ', '.join([*targets, *PROGRAMS])))


if __name__ == '__main__':
    # Shells start background jobs with SIGINT ignored, and what we start would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        main(sys.argv[1:])
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)    # a second one would be the exit code
        say('\nInterrupted.')
        sys.exit(130)
