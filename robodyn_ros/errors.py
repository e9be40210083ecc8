# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Every error this package raises on purpose: what is wrong, with which thing, and what to do."""

from collections.abc import Iterable
from difflib import get_close_matches

from .text import appearance, printable


class RobodynError(Exception):
    """
    Base class of the package's errors.

    ``name`` is the offending link, joint, parameter or argument, ``value`` what was found there
    (None where there is nothing to show) and ``remedy`` says in a sentence what would be right.
    The message is one printable line, whatever characters they have.
    """

    def __init__(self, problem: str, *, name: str, remedy: str, value: object = None):
        super().__init__(f'{printable(problem)}: {printable(remedy)}')
        self.name, self.value, self.remedy = name, value, remedy


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


class SimulationError(RobodynError):
    """The physics engine cannot load or step this robot."""


class DemoError(RobodynError):
    """The demo cannot go on: something is missing, a node has ended, or an answer stays away."""


class RecordingError(RobodynError):
    """A recording cannot be read, or is not what it is said to be."""


class IdentificationError(RobodynError):
    """A recording does not say what is asked of it, or no answer can be found."""


class RosError(RobodynError):
    """ROS is not installed, or nobody is there who should publish, listen or answer."""


class DataPathError(RobodynError):
    """The data path that was asked for cannot be had, or has failed."""
