# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Text from outside, as it may be shown to a person: a URDF can hold any character, and many."""

from unicodedata import normalize

MOST = 1_000        # characters of one text that anybody would read


def printable(text: str) -> str:
    r"""
    Return the text as one line that terminals and logs show, and do not obey.

    Line breaks, escape codes, and marks that turn the direction of writing become \n, \x1b,
    \u202e, as in ``repr``; what is very long is cut.
    """
    shown = ''.join(c if c.isprintable() else repr(c)[1:-1] for c in text[:MOST + 1])
    return shown if len(shown) <= MOST else shown[:MOST] + ' ...'


def appearance(text: str) -> str:
    """Return what texts that look alike have in common, however they are encoded."""
    # Cut first: long runs of accents take time quadratic in their number to be put in order
    return ''.join(c for c in normalize('NFKC', text[:MOST]) if c.isprintable()).strip()
