# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Profiles for Fast DDS: faster discovery, and fewer wake-ups of the writer of commands.

A new participant sends its first announcement before its receivers are registered
(eProsima/Fast-DDS#980). Others answer an announcement once, on the same machine in a fraction of a
millisecond. An earlier answer is lost, and they are discovered with their next periodic
announcement, up to three seconds later. This is rare if another thread sends the announcements
(`benchmarks/discovery.py`), which a flow controller in the profile of a participant causes: one
whose limit is never reached, and that no writer has to use.

With each sample, a reliable writer of Fast DDS restarts a timer, during which it ignores negative
acknowledgements. By default it expires at once and wakes the event thread, mostly while the sample
is still being sent. With a duration well above the period it hardly ever expires. Lost samples are
resent, at the latest when it expires.

Readers acknowledge samples on request of the writer, by default every three seconds. Here the
writer requests acknowledgements ten times a second.

Fast DDS reads the profiles from a file named in the environment, before it creates the first
participant of a process.
"""

from contextlib import suppress
import os
from pathlib import Path
import re

from rclpy.utilities import get_rmw_implementation_identifier

from ...realtime.scheduling import middleware_threads

VARIABLES = 'FASTDDS_DEFAULT_PROFILES_FILE', 'FASTRTPS_DEFAULT_PROFILES_FILE'
# Fast DDS reads these files in the working directory as well
FILES = 'DEFAULT_FASTDDS_PROFILES.xml', 'DEFAULT_FASTRTPS_PROFILES.xml'
# These variables may select another discovery protocol
OTHER_DISCOVERY = ('ROS_DISCOVERY_SERVER', 'ROS_SUPER_CLIENT', 'ROS2_EASY_MODE',
                   'FASTDDS_ENVIRONMENT_FILE')
LIBRARY = re.compile(r'/lib(fastdds|fastrtps)[-\w]*\.so[.\d]*$', re.MULTILINE)
# Environment variable that names the profiles, by the library, which changed in version 3
NAMED_BY = dict(zip(('fastdds', 'fastrtps'), VARIABLES))

_named: list[bool] = []     # once the file is named: whether it speeds up discovery


def use_profiles() -> bool:
    """
    Name the profiles of this package in the environment, for participants created later.

    Call it before the first node of the process. It does nothing with another middleware, if the
    user has profiles in the environment or working directory, or if Fast DDS has participants
    already: it reads profiles once.

    :returns: whether the discovery profile is active. It is left out if the environment may select
        another discovery protocol.
    """
    other_discovery = any(map(os.environ.get, OTHER_DISCOVERY))
    if not _named and (library := _library()):
        suffix = '_without_discovery' if other_discovery else ''
        path = str(Path(__file__).with_name(f'{library}{suffix}.xml'))
        if (any(os.environ.get(variable) not in (None, '', path) for variable in VARIABLES)
                or any(Path(file).exists() for file in FILES) or middleware_threads()):
            return False
        os.environ[NAMED_BY[library]] = path
        _named.append(not other_discovery)
    return _named == [True] and not other_discovery


def _library() -> str:
    """Return the Fast DDS library used by this process, '' with another middleware."""
    if not get_rmw_implementation_identifier().startswith('rmw_fastrtps'):  # which is loaded now
        return ''
    with suppress(OSError):             # not Linux, or not readable
        if found := LIBRARY.search(Path('/proc/self/maps').read_text()):
            return found[1]
    return ''
