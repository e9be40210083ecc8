# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
The process in which atheris hunts: its arguments are those of libFuzzer, which ends it.

What is instrumented is the plain form. The machine code is there before that, so it is the same
as everywhere else.
"""

from random import Random
import resource
import sys
from types import FunctionType

import atheris
from fuzz.campaign import MEMORY
from fuzz.wire.judge import Judge
from fuzz.wire.streams import KINDS, mutated, seed_stream
from robodyn_ros.wire import cdr, decoders, joint_trajectory
from robodyn_ros.wire.joint_trajectory import JointTrajectoryMessage

BLIND = 0.2         # of the mutations are libFuzzer's own, which know nothing of streams


def mutate(data: bytes, longest: int, seed: int) -> bytes:
    """Return another input; of libFuzzer's choice now and then."""
    random = Random(seed)
    if random.random() < BLIND:
        return atheris.Mutate(data, longest)
    return mutated(data, random, longest)


def main() -> None:
    judge = Judge()
    for kind in KINDS:
        judge(seed_stream(Random(0), kind))
    for owner in (cdr, decoders, joint_trajectory, JointTrajectoryMessage):
        for f in list(vars(owner).values()):
            if isinstance(f, FunctionType) and f.__module__.startswith('robodyn_ros.wire'):
                atheris.instrument_func(f)
    with open('/proc/self/statm') as statm:
        now = int(statm.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + MEMORY, now + MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    atheris.Setup(sys.argv, judge, custom_mutator=mutate)
    atheris.Fuzz()


if __name__ == '__main__':
    main()
