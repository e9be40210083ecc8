# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Exceptions of the package: each names the offending thing, its value and the remedy.

Files, optional packages and modules of the user are opened by functions that raise them.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any
from unicodedata import normalize

from .extras import install_ros, pip_install

MAX_PRINTED = 1_000     # characters of a text in a message
MAX_REASON = 300        # characters of what a parser says of a file


def printable(text: str) -> str:
    r"""
    Return the text as one line without control characters.

    Line breaks, escape codes and directional marks become \n, \x1b, \u202e, as in ``repr``; text
    of more than ``MAX_PRINTED`` characters is truncated.
    """
    shown = ''.join(c if c.isprintable() else repr(c)[1:-1] for c in text[:MAX_PRINTED + 1])
    return shown if len(shown) <= MAX_PRINTED else shown[:MAX_PRINTED] + ' ...'


def appearance(text: str) -> str:
    """Return a normal form that is the same for texts that look alike."""
    # Truncated first: normalization takes time quadratic in the length of a run of accents
    return ''.join(c for c in normalize('NFKC', text[:MAX_PRINTED]) if c.isprintable()).strip()


class Placeholder(str):
    """Placeholder in a proposed value, to be filled in by the caller."""

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True)
class Argument:
    """
    An argument that a remedy proposes, as data: each interface writes it in its own syntax.

    ``str`` writes it as in a call: ``units={'position': 'deg'}``.

    :param name: of the parameter of the Python function.
    :param value: proposed for it; parts that the caller has to fill in are :class:`Placeholder`.
    """

    name: str
    value: object

    def __str__(self) -> str:
        return f'{self.name}={self.value!r}'


# A sentence, or parts of one with the proposed arguments between them
Remedy = str | tuple[str | Argument, ...]


def remedy_parts(remedy: Remedy) -> tuple[str | Argument, ...]:
    """Return a remedy as a tuple of texts and arguments."""
    return (remedy,) if isinstance(remedy, str) else remedy


def remedy_text(remedy: Remedy, write: Callable[[Argument], str] = str) -> str:
    """
    Return a remedy as a sentence.

    :param write: returns an argument in the syntax of an interface; the default is Python's.
    """
    return ''.join(part if isinstance(part, str) else write(part) for part in remedy_parts(remedy))


def _unpickled(kind: type[BaseException], args: tuple[object, ...]) -> BaseException:
    return kind.__new__(kind, *args)


class RobodynError(Exception):
    """
    Base class of the package's errors.

    The message is one printable line, for any characters in the texts.

    :param problem: what is wrong.
    :param name: the offending link, joint, parameter or argument.
    :param remedy: what would be right, in one sentence; arguments that it proposes are
        :class:`Argument`. The attribute ``remedy`` has them in the syntax of Python.
    :param value: what was found; None where there is nothing to show.
    """

    def __init__(self, problem: str, *, name: str, remedy: Remedy, value: object = None):
        self.name, self.value, self.remedy = name, value, remedy_text(remedy)
        self._problem, self._remedy = problem, remedy
        super().__init__(self.render())

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle without the constructor, whose names another process would not have."""
        return _unpickled, (type(self), self.args), self.__dict__

    def render(self, write: Callable[[Argument], str] = str) -> str:
        """Return the message; ``write`` returns a proposed argument as text, see remedy_text."""
        return f'{printable(self._problem)}: {printable(remedy_text(self._remedy, write))}'

    def begin_with(self, context: str) -> None:
        """Prefix the message with its subject, for instance one of several files."""
        self._problem = f'{context}: {self._problem}'
        self.args = (self.render(),)


class UrdfError(RobodynError):
    """The URDF text cannot be read as a robot that this package supports."""


class DhFileError(RobodynError):
    """A file of Denavit-Hartenberg rows cannot be read as a robot."""


class DerivationError(RobodynError):
    """Equations of motion in closed form are refused, or would be of no use."""


class InertiaError(RobodynError):
    """Masses and inertias of the moving bodies do not make a robot that can be simulated."""


class ArgumentError(RobodynError, ValueError):
    """An array argument has the wrong shape or a value that is not finite."""


def close_names(name: str, choices: Iterable[str]) -> list[str]:
    """Return up to three choices that a person may have meant: similar ones, or longer ones."""
    by_key = {choice.casefold(): choice for choice in choices}
    key = name.casefold()
    similar = get_close_matches(key, by_key, n=3)
    longer = [choice for choice in by_key
              if len(key) > 2 and key in choice and choice not in similar]
    return [by_key[found] for found in (*similar, *longer)][:3]


class UnknownNameError(RobodynError, LookupError):
    """A joint, link or frame name that the model does not have; ``choices`` are those it has."""

    def __init__(self, kind: str, name: str, choices: Iterable[str]):
        self.choices = tuple(choices)
        alike = [c for c in self.choices if appearance(c) == appearance(str(name))]
        show = ascii if alike else repr         # é may be one character or two
        close = alike or close_names(str(name), self.choices)
        remedy = (f'did you mean {" or ".join(map(show, close))}?' if close
                  else f'choose one of {", ".join(self.choices) or "none: there is no " + kind}')
        super().__init__(f'no {kind} {show(name)}', name=str(name), value=name, remedy=remedy)


class SingularityError(RobodynError):
    """A task cannot be done at this pose: the robot cannot move in one of its directions."""


class ParameterError(RobodynError):
    """A parameter of a node, or a set of them, cannot be used."""


class TrajectoryError(RobodynError):
    """A reference trajectory is refused; the controller goes on holding its last valid pose."""


class TrajectoryJointsError(TrajectoryError):
    """The joints that a trajectory names are not those of the robot, or not each once."""


class TrajectoryOverError(TrajectoryError):
    """A trajectory should have started so long ago that all of it is over."""


class TrajectoryLateError(TrajectoryError):
    """A trajectory has been planned too long after its start."""


class SimulationError(RobodynError):
    """The physics engine cannot load or step this robot."""


class ArmingError(SimulationError):
    """The controller refuses to arm the simulated arm."""


class DemoError(RobodynError):
    """The demo cannot go on: something is missing, a node has ended, or an answer stays away."""


class RecordingError(RobodynError):
    """A recording cannot be read or has an unexpected format."""


class IdentificationError(RobodynError):
    """A recording does not determine the requested quantities."""


class RosError(RobodynError):
    """ROS is not installed, or a publisher, subscriber or service is missing or silent."""


class DriverError(RobodynError):
    """Motors, or the arm that they hold, are not as a driver needs them."""


class DataPathError(RobodynError):
    """The requested data path is unavailable or failed."""


def check_new(paths: Iterable[Path], name: str, remedy: Remedy) -> None:
    """Raise :class:`ArgumentError`, of the argument ``name``, if one of these files exists."""
    if there := [str(path) for path in paths if path.exists()]:
        raise ArgumentError(f'{", ".join(there)} exists', name=name, value=there, remedy=remedy)


@contextmanager
def reading(path: Path, error: type[RobodynError], name: str, remedy: Remedy) -> Iterator[None]:
    """
    Read a file in the body of the ``with`` statement; its own errors pass through.

    :raises RobodynError: of the class ``error`` and the argument ``name``, with whatever the
        parser of the file raises: damaged files find more of its exceptions than it documents.
    """
    try:
        yield
    except RobodynError:
        raise
    except Exception as found:
        why = getattr(found, 'strerror', None) or f'{type(found).__name__}: {found}'[:MAX_REASON]
        raise error(f'{path} cannot be read ({why.strip()})', name=name, value=str(path),
                    remedy=remedy) from found


@contextmanager
def writing(path: Path, name: str, remedy: str = 'choose another path') -> Iterator[None]:
    """
    Write a file, or a folder, in the body of the ``with`` statement.

    :raises ArgumentError: of the argument ``name``: the file cannot be written.
    """
    try:
        yield
    except OSError as error:
        raise ArgumentError(f'{path} cannot be written ({error.strerror or error})', name=name,
                            value=str(path), remedy=remedy) from error


def require_modules(command: str, modules: Iterable[str], error: type[RobodynError]) -> None:
    """
    Raise an error where a module is not installed; its remedy is the command that installs it.

    :param command: that requires the modules, for the message.
    :param error: class of the error.
    """
    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        remedies = [install_ros()] if 'rclpy' in missing else []
        if others := [name for name in missing if name != 'rclpy']:
            remedies.append(f'run `{pip_install(*others)}`')
        raise error(f'{command} needs {", ".join(missing)}', name=missing[0], value=missing,
                    remedy='; '.join(remedies))


def refused(parameter: str, reference: str, problem: str, remedy: str) -> ParameterError:
    """Return the error of a parameter whose reference cannot be used."""
    return ParameterError(f'parameter {parameter} = {reference!r} is refused: {problem}',
                          name=parameter, value=reference, remedy=remedy)


def load_object(parameter: str, reference: str, kind: str) -> tuple[ModuleType, Any]:
    """
    Return the module of a reference ``package.module:NAME``, and its object, None without one.

    :param parameter: that has the reference, and ``kind`` of object, e.g. 'class': for errors.
    :raises ParameterError: it is no reference, or the module cannot be imported.
    """
    place, _, name = reference.partition(':')
    if not place or not name.isidentifier():
        raise refused(parameter, reference, f'it names no {kind}', 'write package.module:NAME')
    try:
        module = import_module(place)
    # Any error of the user's module on import, which may call sys.exit
    except (Exception, SystemExit) as error:
        raise refused(parameter, reference, f'module {place} cannot be imported '
                      f'({type(error).__name__}: {error})', 'correct it; install its package, or '
                      'add its folder to PYTHONPATH') from error
    return module, getattr(module, name, None)
