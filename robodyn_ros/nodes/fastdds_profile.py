# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Profile for Fast DDS of the writer of commands: fewer wake-ups, and an end that is heard of soon.

With each sample, a reliable writer of Fast DDS restarts the timer of the time for which it ignores
negative acknowledgements. Its default is zero: the timer expires at once and wakes the thread of
events, mostly while the sample is still being sent. With a time well above the period it hardly
ever expires. A lost sample is still sent again, at the latest when that time has passed.

Readers acknowledge what they have when the writer asks for it, by default every three seconds, and
who waits until its last sample has been heard waits as long. Here it asks ten times a second.
"""

import ctypes
from html import escape  # xml.sax.saxutils would import urllib and ssl, for 0.1 s
import os
from pathlib import Path
import re

SUPPRESSION = HEARTBEAT = 100_000_000   # ns
LIBRARY = re.compile(r'/\S*/(libfastdds|libfastrtps)[-\w]*\.so[.\d]*$', re.MULTILINE)
# Profiles of the user's own, which decide alone
VARIABLES = 'FASTDDS_DEFAULT_PROFILES_FILE', 'FASTRTPS_DEFAULT_PROFILES_FILE'
FILES = 'DEFAULT_FASTDDS_PROFILES.xml', 'DEFAULT_FASTRTPS_PROFILES.xml'
FACTORY = '_ZN8eprosima7fastdds3dds24DomainParticipantFactory'
INSTANCE, LOAD = f'{FACTORY}12get_instanceEv', f'{FACTORY}24load_XML_profiles_stringEPKcm'
# Since version 3, which has renamed the library, elements of XML are in lower case
ELEMENTS = {'libfastdds': ('nack_supression_duration', 'heartbeat_period'),
            'libfastrtps': ('nackSupressionDuration', 'heartbeatPeriod')}
PROFILE = """<?xml version="1.0" encoding="UTF-8"?>
<dds xmlns="http://www.eprosima.com"><profiles>
<data_writer profile_name="{name}">
<times>{times}</times>
</data_writer></profiles></dds>"""

_loaded: set[str] = set()               # topics; a second profile of one name would be an error


def suppress_timer(topic: str) -> bool:
    """
    Give the writers of a topic that are created from now on a time to ignore acknowledgements.

    Nothing happens where the middleware is not Fast DDS, lacks the function, or reads profiles of
    the user's own.

    :param topic: its resolved name, by which the rmw looks for a profile.
    :returns: whether the profile is in force.
    """
    if topic in _loaded:
        return True
    library = loaded_library()
    if library is None or any(os.environ.get(name) for name in VARIABLES) or any(
            Path(name).exists() for name in FILES):
        return False
    # PyDLL, which keeps the GIL: Fast DDS (2.14 to 3.x) has no lock on its table of profiles, and
    # another node of this process may look a writer up in it, which rclpy does under the GIL
    functions = ctypes.PyDLL(library.group())
    if not (hasattr(functions, INSTANCE) and hasattr(functions, LOAD)):
        return False
    instance, load = functions[INSTANCE], functions[LOAD]
    instance.restype, instance.argtypes = ctypes.c_void_p, ()
    load.restype, load.argtypes = ctypes.c_int32, (ctypes.c_void_p, ctypes.c_char_p,
                                                   ctypes.c_size_t)
    times = ''.join(f'<{element}><sec>0</sec><nanosec>{ns}</nanosec></{element}>'
                    for element, ns in zip(ELEMENTS[library[1]], (SUPPRESSION, HEARTBEAT)))
    text = PROFILE.format(name=escape(topic), times=times).encode()
    if load(instance(), text, len(text)) != 0:
        return False
    _loaded.add(topic)
    return True


def loaded_library() -> re.Match[str] | None:
    """Return the path of Fast DDS, and its name, if it is loaded in this process."""
    try:
        return LIBRARY.search(Path('/proc/self/maps').read_text())
    except OSError:                     # not Linux, or not readable
        return None
