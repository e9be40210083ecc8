# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The one default of ``reference``, and the warning that it was another one before."""

import sys
import warnings

PACKAGE = __name__.partition('.')[0]


class _Default(str):
    """A text of its own type, so that a caller's 'aligned' is told from the default."""


#: Origin at the frame, axes of the base: Pinocchio's LOCAL_WORLD_ALIGNED.
ALIGNED = _Default('aligned')


def chosen(reference: str, before: str, of: str) -> str:
    """
    Return ``reference``; where it was left out, say that the default has changed.

    The warning, a FutureWarning shown once for each line that causes it, stays for one release.

    :param before: the default of earlier releases.
    :param of: what it is the reference of, for the text.
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
