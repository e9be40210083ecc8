# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Addresses of the compiled control laws, which the control cycle calls."""

from . import compile_laws as law_code
from .compile import begin_others, law_address, load_all_parts, OPTIONAL, others_are_cached, plain
from ..laws.law import Law
from ..laws.registry import BUILT_IN
from ...compiler import second_process


class LawAddresses:
    """
    Addresses of laws: of one at once, of our others when the mode is switched to them.

    What this machine has not compiled yet is compiled by a second process, with low priority, so
    that no loop in Python waits for a compilation.

    :param first: the law to begin with.
    :raises ParameterError: it does not compile.
    """

    def __init__(self, first: Law):
        self._known = {first: law_address(first)}

    def prepare(self) -> None:
        """Load our laws and the optional parts of the cycle, or begin to compile them."""
        if plain():
            self._known |= {law: law_address(law) for law in BUILT_IN}
            return
        missing = [law for law in BUILT_IN if not law_code.law_is_cached(law)]
        begun = not others_are_cached() and begin_others()
        if not begun:
            load_all_parts()
        for law in BUILT_IN:
            if law not in missing or not begun:
                self._known[law] = law_address(law)

    def __getitem__(self, law: Law) -> int:
        if law not in self._known:
            second_process.wait(OPTIONAL, lambda: law_code.law_is_cached(law))
            self._known[law] = law_address(law)
        return self._known[law]
