# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Sanitization of text from files before it is printed or compared."""

from unicodedata import normalize

MAX_PRINTED = 1_000     # characters of a text in a message


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
