# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Profiles for Fast DDS: faster discovery, and fewer wake-ups of the writer of commands.

A new participant sends its first announcement before its receivers are registered
(eProsima/Fast-DDS#980). Others answer an announcement once, on the same machine in a fraction of a
millisecond. An earlier answer is lost, and they are discovered with their next periodic
announcement, up to three seconds later. This is rare if another thread sends the announcements
(`benchmarks/discovery.py`), which a flow controller in the profile of a participant causes.

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
import hashlib
import os
from pathlib import Path
import re
from typing import NamedTuple

from rclpy.utilities import get_rmw_implementation_identifier

from ...compiler.cache_directory import cached_file
from ...realtime.scheduling import middleware_threads

NACK_SUPPRESSION = HEARTBEAT_PERIOD = 100_000_000   # [ns]
VARIABLES = 'FASTDDS_DEFAULT_PROFILES_FILE', 'FASTRTPS_DEFAULT_PROFILES_FILE'
# Fast DDS reads these files in the working directory as well
FILES = 'DEFAULT_FASTDDS_PROFILES.xml', 'DEFAULT_FASTRTPS_PROFILES.xml'
# These variables may select another discovery protocol
OTHER_DISCOVERY = ('ROS_DISCOVERY_SERVER', 'ROS_SUPER_CLIENT', 'ROS2_EASY_MODE',
                   'FASTDDS_ENVIRONMENT_FILE')
LIBRARY = re.compile(r'/(libfastdds|libfastrtps)[-\w]*\.so[.\d]*$', re.MULTILINE)
PROFILES = """<?xml version="1.0" encoding="UTF-8"?>
<dds xmlns="http://www.eprosima.com"><profiles>{}</profiles></dds>"""
PARTICIPANT = ('<participant profile_name="robodyn_ros" is_default_profile="true"><rtps>{}</rtps>'
               '</participant>')
WRITER = ('<data_writer profile_name="robodyn_ros" is_default_profile="true"><times>{}</times>'
          '</data_writer>')


class Version(NamedTuple):
    """Names used by a version of Fast DDS."""

    variable: str           # names the file of profiles
    times: tuple[str, str]  # elements of NACK_SUPPRESSION and HEARTBEAT_PERIOD
    # A flow controller whose limit is never reached. No writer has to use it: its presence makes
    # the discovery writers send from another thread
    controller: str


# By library name, which changed in version 3
VERSIONS = {
    'libfastdds': Version(
        VARIABLES[0], ('nack_supression_duration', 'heartbeat_period'),
        '<flow_controller_descriptor_list><flow_controller_descriptor><name>announcements</name>'
        '</flow_controller_descriptor></flow_controller_descriptor_list>'),
    'libfastrtps': Version(
        VARIABLES[1], ('nackSupressionDuration', 'heartbeatPeriod'),
        '<throughputController><bytesPerPeriod>1000000000</bytesPerPeriod>'
        '<periodMillisecs>1000</periodMillisecs></throughputController>')}

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
    if not _named and (version := _version()):
        try:
            path = _written(version, announcements=not other_discovery)
        except OSError:         # a full disk
            return False
        if (any(os.environ.get(variable) not in (None, '', path) for variable in VARIABLES)
                or any(Path(file).exists() for file in FILES) or middleware_threads()):
            return False
        os.environ[version.variable] = path
        _named.append(not other_discovery)
    return _named == [True] and not other_discovery


def _version() -> Version | None:
    """Return the Fast DDS version used by this process, None with another middleware."""
    if not get_rmw_implementation_identifier().startswith('rmw_fastrtps'):  # which is loaded now
        return None
    with suppress(OSError):             # not Linux, or not readable
        if found := LIBRARY.search(Path('/proc/self/maps').read_text()):
            return VERSIONS[found[1]]
    return None


def _written(version: Version, *, announcements: bool) -> str:
    """Return the path of the profile file."""
    times = ''.join(f'<{element}><sec>0</sec><nanosec>{ns}</nanosec></{element}>'
                    for element, ns in zip(version.times, (NACK_SUPPRESSION, HEARTBEAT_PERIOD)))
    participant = PARTICIPANT.format(version.controller) if announcements else ''
    text = PROFILES.format(participant + WRITER.format(times))
    return str(cached_file(f'fastdds_{hashlib.sha256(text.encode()).hexdigest()[:20]}.xml', text))
