# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Words of the command line that hold several things."""

from collections.abc import Iterable

from ..errors import ArgumentError


def numbers(option: str, text: str) -> list[float]:
    """Return the numbers of ``1,2.5,-3``; :class:`ArgumentError` where one is none."""
    try:
        return [float(word) for word in text.split(',')] if text.strip() else []
    except ValueError:
        raise ArgumentError(f'{option} {text!r} cannot be read', name=option, value=text,
                            remedy='write numbers with commas between them: 0,-0.5,1.2') from None


def locked_joints(words: Iterable[str]) -> dict[str, float]:
    """Return the joints of ``name=position`` words, several of which may stand in one."""
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
