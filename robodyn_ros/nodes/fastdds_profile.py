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
who waits until its last sample has been heard waits as long. Here it asks ten times a second.
"""

from collections.abc import Callable
from contextlib import suppress
import ctypes
from html import escape  # xml.sax.saxutils would import urllib and ssl, for 0.1 s
import os
from pathlib import Path
import re
from typing import Any, NamedTuple

SUPPRESSION = HEARTBEAT = 100_000_000   # ns
LIBRARY = re.compile(r'/\S*/(libfastdds|libfastrtps)[-\w]*\.so[.\d]*$', re.MULTILINE)
# Profiles of the user's own, which decide alone
VARIABLES = 'FASTDDS_DEFAULT_PROFILES_FILE', 'FASTRTPS_DEFAULT_PROFILES_FILE'
FILES = 'DEFAULT_FASTDDS_PROFILES.xml', 'DEFAULT_FASTRTPS_PROFILES.xml'
# These choose another protocol of discovery, or may do so
OTHER_DISCOVERY = ('ROS_DISCOVERY_SERVER', 'ROS_SUPER_CLIENT', 'ROS2_EASY_MODE',
                   'FASTDDS_ENVIRONMENT_FILE')
NAMESPACE = '_ZN8eprosima7fastdds3dds'
FACTORY = f'{NAMESPACE}24DomainParticipantFactory'
INSTANCE, LOAD = f'{FACTORY}12get_instanceEv', f'{FACTORY}24load_XML_profiles_stringEPKcm'
LOAD_FILES, DEFAULT = f'{FACTORY}13load_profilesEv', f'{NAMESPACE}23PARTICIPANT_QOS_DEFAULTE'
SET_DEFAULT = f'{FACTORY}27set_default_participant_qosERKNS1_20DomainParticipantQosE'
# Since version 3, which has renamed the library, elements of XML are in lower case
ELEMENTS = {'libfastdds': ('nack_supression_duration', 'heartbeat_period'),
            'libfastrtps': ('nackSupressionDuration', 'heartbeatPeriod')}
PROFILES = """<?xml version="1.0" encoding="UTF-8"?>
<dds xmlns="http://www.eprosima.com"><profiles>{}</profiles></dds>"""
WRITER = '<data_writer profile_name="{name}"><times>{times}</times></data_writer>'
PARTICIPANT = ('<participant profile_name="robodyn_ros" is_default_profile="true"><rtps>{}</rtps>'
               '</participant>')
# A flow controller whose limit is never reached. No writer has to use it: since it is there, those
# of discovery send from a thread that Fast DDS has in any case
CONTROLLER = {'libfastdds': '<flow_controller_descriptor_list><flow_controller_descriptor>'
                            '<name>announcements</name>'
                            '</flow_controller_descriptor></flow_controller_descriptor_list>',
              'libfastrtps': '<throughputController><bytesPerPeriod>1000000000</bytesPerPeriod>'
                             '<periodMillisecs>1000</periodMillisecs></throughputController>'}

# Topics, and ANNOUNCEMENTS; a second profile of one name would be an error
_loaded: set[str] = set()
ANNOUNCEMENTS = ''                      # no topic has this name
_path: list[str] = []                   # of the library, once it is loaded


def hear_answers() -> bool:
    """
    Have the participants that are created from now on hear answers to their announcements.

    To be called after ``rclpy.init``, which loads Fast DDS, and before the first node of its
    context is made. Nothing happens where :func:`suppress_timer` does nothing, and where the
    environment may choose another protocol of discovery.

    :returns: whether new participants have the profile.
    """
    if any(map(os.environ.get, OTHER_DISCOVERY)) or (factory := _factory()) is None:
        return False
    # Files of profiles are read once, by default with the first participant: not after this one
    factory.call(LOAD_FILES)
    # The defaults of participants are made of profiles once, likewise: again, with this one
    return (_load(ANNOUNCEMENTS, lambda library: PARTICIPANT.format(CONTROLLER[library]))
            and factory.call(SET_DEFAULT, factory.address(DEFAULT)) == 0)


def suppress_timer(topic: str) -> bool:
    """
    Give the writers of a topic that are created from now on a time to ignore acknowledgements.

    Nothing happens where the middleware is not Fast DDS, lacks the function, or reads profiles of
    the user's own.

    :param topic: its resolved name, by which the rmw looks for a profile.
    :returns: whether the profile is in force.
    """
    def profile(library: str) -> str:
        times = ''.join(f'<{element}><sec>0</sec><nanosec>{ns}</nanosec></{element}>'
                        for element, ns in zip(ELEMENTS[library], (SUPPRESSION, HEARTBEAT)))
        return WRITER.format(name=escape(topic), times=times)
    return _load(topic, profile)


def _load(name: str, profile: Callable[[str], str]) -> bool:
    """Load the profile that ``profile`` returns for the name of the library."""
    if name in _loaded:
        return True
    if (factory := _factory()) is None:
        return False
    text = PROFILES.format(profile(factory.library)).encode()
    if factory.call(LOAD, text, ctypes.c_size_t(len(text))) != 0:
        return False
    _loaded.add(name)
    return True


class _Factory(NamedTuple):
    """The factory of participants of Fast DDS, by its C++ symbols."""

    functions: ctypes.PyDLL
    library: str                # its name

    def call(self, symbol: str, *arguments: Any) -> int:
        """Call a method of the factory; return its code, 0 for success, if it has one."""
        instance, method = self.functions[INSTANCE], self.functions[symbol]
        instance.restype, method.restype = ctypes.c_void_p, ctypes.c_int32
        return method(ctypes.c_void_p(instance()), *arguments)

    def address(self, symbol: str) -> ctypes.c_void_p:
        """Return the address of a constant."""
        return ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(self.functions, symbol)))


def _factory() -> _Factory | None:
    """Return the factory; None where the user's own profiles decide, or it lacks a function."""
    library = loaded_library()
    if library is None or any(map(os.environ.get, VARIABLES)) or any(
            Path(file).exists() for file in FILES):
        return None
    # PyDLL, which keeps the GIL: Fast DDS (2.14 to 3.x) has no lock on its table of profiles, and
    # another node of this process may look a writer up in it, which rclpy does under the GIL
    functions = ctypes.PyDLL(library.group())
    if not all(hasattr(functions, name) for name in (INSTANCE, LOAD, LOAD_FILES, SET_DEFAULT,
                                                     DEFAULT)):
        return None
    return _Factory(functions, library[1])


def loaded_library() -> re.Match[str] | None:
    """Return the path of Fast DDS, and its name, if it is loaded in this process."""
    if not _path:
        with suppress(OSError):         # not Linux, or not readable
            if found := LIBRARY.search(Path('/proc/self/maps').read_text()):
                _path.append(found.group())
    return LIBRARY.match(_path[0]) if _path else None
