# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Profiles for Fast DDS: others are discovered sooner, and the writer of commands wakes less often.

A new participant announces itself before it listens: its receivers are registered after the first
announcement has been sent (eProsima/Fast-DDS#980). Others answer an announcement once, on the same
machine in a fraction of a millisecond. An answer that comes too early is lost, and they are then
discovered with their next periodic announcement, up to three seconds later. That happens often,
but rarely where another thread sends the announcements, while the first one goes on and listens
(`benchmarks/discovery.py`). A flow controller in the profile of a participant has this effect.

With each sample, a reliable writer of Fast DDS restarts the timer of the time for which it ignores
negative acknowledgements. Its default is zero: the timer expires at once and wakes the thread of
events, mostly while the sample is still being sent. With a time well above the period it hardly
ever expires. A lost sample is still sent again, at the latest when that time has passed.

Readers acknowledge what they have when the writer asks for it, by default every three seconds, and
whoever waits for an acknowledgement of the last sample waits as long. Here the writer asks ten
times a second.

Fast DDS reads the profiles from a file that the environment names, before it makes the first
participant of a process.
"""

from contextlib import suppress
import hashlib
import os
from pathlib import Path
import re
from typing import NamedTuple

from rclpy.utilities import get_rmw_implementation_identifier

from ...compiler.cache_directory import cache_directory
from ...realtime.scheduling import middleware_threads

SUPPRESSION = HEARTBEAT = 100_000_000   # ns
VARIABLES = 'FASTDDS_DEFAULT_PROFILES_FILE', 'FASTRTPS_DEFAULT_PROFILES_FILE'
# In the working directory, which Fast DDS reads as well
FILES = 'DEFAULT_FASTDDS_PROFILES.xml', 'DEFAULT_FASTRTPS_PROFILES.xml'
# These choose another protocol of discovery, or may do so
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
    """What a version of Fast DDS calls things."""

    variable: str           # that names a file of profiles
    times: tuple[str, str]  # elements of SUPPRESSION and HEARTBEAT
    # A flow controller whose limit is never reached. No writer has to use it: since it is there,
    # those of discovery send from a thread that Fast DDS has in any case
    controller: str


# By the name of the library, which version 3 has changed
VERSIONS = {
    'libfastdds': Version(
        VARIABLES[0], ('nack_supression_duration', 'heartbeat_period'),
        '<flow_controller_descriptor_list><flow_controller_descriptor><name>announcements</name>'
        '</flow_controller_descriptor></flow_controller_descriptor_list>'),
    'libfastrtps': Version(
        VARIABLES[1], ('nackSupressionDuration', 'heartbeatPeriod'),
        '<throughputController><bytesPerPeriod>1000000000</bytesPerPeriod>'
        '<periodMillisecs>1000</periodMillisecs></throughputController>')}

_named: list[bool] = []     # once our file is named: whether it lets participants hear answers


def use_profiles() -> bool:
    """
    Name our profiles in the environment, for the participants that are made from now on.

    To be called before the first node of the process. Nothing happens with another middleware,
    where profiles of the user's own are named or lie in the working directory, and where Fast DDS
    has participants already: it reads profiles once.

    :returns: whether new participants hear answers to their announcements. The profile for that
        is left out where the environment may choose another protocol of discovery.
    """
    other_discovery = any(map(os.environ.get, OTHER_DISCOVERY))
    if not _named and (version := _version()):
        path = _written(version, announcements=not other_discovery)
        if (any(os.environ.get(variable) not in (None, '', path) for variable in VARIABLES)
                or any(Path(file).exists() for file in FILES) or middleware_threads()):
            return False
        os.environ[version.variable] = path
        _named.append(not other_discovery)
    return _named == [True] and not other_discovery


def _version() -> Version | None:
    """Return the version of Fast DDS that is the middleware of this process, None without one."""
    if not get_rmw_implementation_identifier().startswith('rmw_fastrtps'):  # which is loaded now
        return None
    with suppress(OSError):             # not Linux, or not readable
        if found := LIBRARY.search(Path('/proc/self/maps').read_text()):
            return VERSIONS[found[1]]
    return None


def _written(version: Version, *, announcements: bool) -> str:
    """Return the path of a file of our profiles."""
    times = ''.join(f'<{element}><sec>0</sec><nanosec>{ns}</nanosec></{element}>'
                    for element, ns in zip(version.times, (SUPPRESSION, HEARTBEAT)))
    participant = PARTICIPANT.format(version.controller) if announcements else ''
    text = PROFILES.format(participant + WRITER.format(times))
    path = cache_directory() / f'fastdds_{hashlib.sha256(text.encode()).hexdigest()[:20]}.xml'
    if not path.exists():
        part = path.with_suffix(f'.{os.getpid()}.part')
        part.write_text(text)
        part.replace(path)          # atomic: two nodes may start together
    return str(path)
