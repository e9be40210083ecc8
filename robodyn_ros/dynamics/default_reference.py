# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Default of the argument ``reference``, with a warning that it has changed."""

import sys
import warnings

PACKAGE = __name__.partition('.')[0]


class _Default(str):
    """String type that distinguishes the default from an explicit 'aligned'."""


#: Origin of the frame, axes of the base: Pinocchio's LOCAL_WORLD_ALIGNED.
ALIGNED = _Default('aligned')


def chosen(reference: str, before: str, of: str) -> str:
    """
    Return ``reference``, with a FutureWarning if it is the default.

    The warning is shown once for each line that causes it, and stays for one release.

    :param before: default of earlier releases.
    :param of: method or argument, for the message.
    """
    if reference is not ALIGNED:
        return reference
    warnings.warn(f"the default reference of {of} is now 'aligned' (origin at the frame, axes of "
                  f"the base), it was {before!r}: pass reference='aligned' or "
                  f'reference={before!r}', FutureWarning, stacklevel=_caller())
    return str(reference)


def _caller() -> int:
    """Return the ``stacklevel`` at which :func:`chosen` warns of a line outside this package."""
    frame, level = sys._getframe(2), 2
    while frame.f_back and frame.f_globals.get('__name__', '').partition('.')[0] == PACKAGE:
        frame, level = frame.f_back, level + 1
    return level
