# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Arguments of the command line: parsing of composite values, and how errors propose them."""

from collections.abc import Iterable
import re
import shlex

from ..errors import Argument, ArgumentError

# Options whose names differ from those of the library's parameters
OPTIONS = {'joint_names': 'joints', 'pose': 'at', 'ranges': 'range', 'topic': 'states',
           'velocity': 'velocity-limit'}
SEPARATORS = {'ranges': ':'}


def as_option(argument: Argument) -> str:
    """
    Return an argument that an error proposes in the syntax of the command line.

    ``units={'effort': {'joint2': '-N·m'}}`` becomes ``--units effort.joint2=-N·m``.
    """
    option = '--' + OPTIONS.get(argument.name, argument.name).replace('_', '-')
    if argument.value is True:
        return option
    return ' '.join(f'{option} {_quoted(word)}' for word in _words(argument))


def _words(argument: Argument) -> list[str]:
    value = argument.value
    if isinstance(value, dict):
        pairs = [(f'{key}.{joint}', of_joint) for key, each in value.items()
                 if isinstance(each, dict) for joint, of_joint in each.items()]
        pairs += [(key, each) for key, each in value.items() if not isinstance(each, dict)]
        return [f'{key}={_text(each, SEPARATORS.get(argument.name, ","))}' for key, each in pairs]
    if argument.name == 'accept' and isinstance(value, tuple):      # the option is repeated
        return [str(kind) for kind in value]
    return [_text(value, ',')]


def _text(value: object, separator: str) -> str:
    return separator.join(map(str, value)) if isinstance(value, tuple | list) else str(value)


def _quoted(word: str) -> str:
    """Return a word as a shell takes it; letters such as · need no quotes."""
    return word if re.fullmatch(r'[\w.,:=/·°*-]+', word) else shlex.quote(word)


def numbers(option: str, text: str) -> list[float]:
    """
    Return the numbers in ``1,2.5,-3``.

    :param option: for errors.
    :raises ArgumentError: a word is not a number.
    """
    try:
        return [float(word) for word in text.split(',')] if text.strip() else []
    except ValueError:
        raise ArgumentError(f'{option} {text!r} cannot be read', name=option, value=text,
                            remedy='write numbers with commas between them: 0,-0.5,1.2') from None


def locked_joints(words: Iterable[str]) -> dict[str, float]:
    """
    Return positions by joint from ``name=position`` words; a word may contain several.

    :raises ArgumentError: a joint has no position.
    """
    locked: dict[str, float] = {}
    for word in ','.join(words).split(','):
        if not word.strip():
            continue
        name, _, value = word.partition('=')
        try:
            locked[name.strip()] = float(value)
        except ValueError:
            raise ArgumentError(f'--locked {word!r} has no position', name='--locked', value=word,
                                remedy='write a joint and its position [rad | m], '
                                       'finger_joint=0.02; `robodyn inspect ROBOT` lists the '
                                       'joints') from None
    return locked
