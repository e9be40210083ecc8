# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Buses: frames arrive as they were sent; what is no frame is counted; a lost adapter is told."""

import errno
import os
import socket
import struct

from hypothesis import given, strategies
import pytest
from robodyn_ros.driver import DriverLost
from robodyn_ros.drivers.frames import CLASSIC, ERROR, EXTENDED, FD, open_bus, REMOTE, SocketBus
from robodyn_ros.errors import ParameterError
from robodyn_ros.testing.mit_motors import SerialBridge, socket_pair

FRAMES = [(0x001, b'\xff' * 7 + b'\xfc'), (0x7FF, bytes(8)), (0x7F0, b''),
          (EXTENDED | 0x1ABCDEF0, bytes(range(8))), (0x123, b'\xaa\x55')]
WAIT = 10.0     # s, on a busy machine


def received(bus, count):
    """Return the next frames."""
    return [bus.receive(WAIT) for _ in range(count)]


@pytest.mark.parametrize('fd', [False, True])
def test_frames_of_socketcan(fd):
    ours, theirs = socket_pair(fd)
    for frame in FRAMES:
        ours.send(*frame)
    assert received(theirs, len(FRAMES)) == FRAMES and theirs.receive(0.0) is None
    theirs.send(*FRAMES[0])
    assert ours.receive(0.001) == FRAMES[0] and ours.receive(0.001) is None


def raw_pair():
    """Return a bus, and a socket whose messages it receives."""
    ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    return SocketBus(ends[0]), ends[1]


def test_what_is_no_frame_is_counted():
    """Messages of another size, lengths beyond their data, remote frames."""
    bus, raw = raw_pair()
    for message in (b'1', bytes(17), CLASSIC.pack(1, 9, 0, bytes(8)), FD.pack(1, 65, 0, bytes(64)),
                    CLASSIC.pack(REMOTE | 1, 8, 0, bytes(8)), CLASSIC.pack(2, 8, 0, b'12345678')):
        raw.send(message)
    assert bus.receive(WAIT) == (2, b'12345678')
    assert bus.errors == {'malformed frames': 4}


def test_a_controller_off_the_bus_is_noted_until_it_is_back():
    bus, raw = raw_pair()
    raw.send(CLASSIC.pack(ERROR | 0x040 | 0x020, 8, 0, bytes(8)))
    assert bus.receive(0.0) is None and bus.off
    assert bus.errors == {'bus off': 1, 'no acknowledgement': 1}
    raw.send(CLASSIC.pack(ERROR | 0x004, 8, 0, bytes(8)))
    assert bus.receive(0.0) is None and bus.off
    raw.send(CLASSIC.pack(ERROR | 0x100, 8, 0, bytes(8)))
    assert bus.receive(0.0) is None and not bus.off
    raw.send(CLASSIC.pack(ERROR | 0x040, 8, 0, bytes(8)))
    raw.send(CLASSIC.pack(1, 8, 0, bytes(8)))
    assert bus.receive(WAIT) == (1, bytes(8)) and not bus.off


def test_a_full_buffer_passes_and_a_closed_end_does_not():
    bus, raw = raw_pair()
    with pytest.raises(BlockingIOError):
        for _ in range(100_000):
            bus.send(1, bytes(8))
    assert bus.errors == {'frames not sent': 1}
    raw.recv(16)
    bus.send(1, bytes(8))
    raw.close()
    with pytest.raises(DriverLost, match='gone|closed'):
        bus.receive(0.0)
    with pytest.raises(DriverLost, match='the CAN adapter is gone'):
        bus.send(1, bytes(8))


@pytest.mark.parametrize(('number', 'lost'), [
    (errno.ENODEV, True), (errno.ENXIO, True), (errno.ENETDOWN, False), (errno.ENOBUFS, False)])
def test_which_errors_are_the_end(number, lost):
    """An interface that is down may come up again; one that is unplugged may not."""
    class Broken:
        def __init__(self, real):
            self.fileno, self.setblocking = real.fileno, real.setblocking

        def send(self, data):
            raise OSError(number, os.strerror(number))

        def recv(self, size):
            raise OSError(number, os.strerror(number))
    end, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    bus = SocketBus(Broken(end))
    for call in (lambda: bus.send(1, bytes(8)), lambda: bus.receive(0.0)):
        with pytest.raises(DriverLost if lost else OSError):
            call()


@pytest.fixture
def serial():
    """Yield our end of the adapter of Damiao, and the end of the motors."""
    pytest.importorskip('serial', reason='pyserial is not installed')
    bridge = SerialBridge()
    bus = open_bus({'interface': 'damiao_serial', 'channel': bridge.port, 'baud': 921600})
    yield bus, bridge
    bus.close()


def test_frames_of_the_serial_bridge(serial):
    bus, bridge = serial
    for frame in FRAMES:
        bus.send(*frame)
    assert received(bridge, len(FRAMES)) == FRAMES
    for frame in FRAMES:
        bridge.send(*frame)
    assert received(bus, len(FRAMES)) == FRAMES and bus.receive(0.0) is None


def test_rubbish_on_the_serial_bridge_is_skipped(serial):
    """Also such that begins like a frame, and messages of the adapter itself."""
    bus, bridge = serial

    @given(before=strategies.binary(max_size=40).filter(lambda data: b'\xaa' not in data),
           data=strategies.binary(min_size=8, max_size=8))
    def arrives(before, data):
        os.write(bridge._end, before + b'\xaa\x11' + bytes(6))
        os.write(bridge._end, struct.pack('<BBBI8sB', 0xAA, 0x02, 8, 3, bytes(8), 0x55))
        bridge.send(0x13, data)
        assert bus.receive(WAIT) == (0x13, data)
    arrives()
    assert bus.errors['bytes skipped'] and bus.errors['other messages of the adapter']


def test_an_unplugged_serial_bridge_is_lost(serial):
    bus, bridge = serial
    bridge.close()
    with pytest.raises(DriverLost, match='the serial port is gone'):
        for _ in range(100):
            bus.receive(0.01)
    with pytest.raises(DriverLost, match='the serial port is gone'):
        for _ in range(100):
            bus.send(1, bytes(8))


def test_frames_of_python_can():
    pytest.importorskip('can', reason='python-can is not installed')
    buses = [open_bus({'interface': 'virtual', 'channel': 'frames'}) for _ in range(2)]
    for frame in FRAMES:
        buses[0].send(*frame)
    assert received(buses[1], len(FRAMES)) == FRAMES and buses[1].receive(0.0) is None
    for bus in buses:
        bus.close()
    with pytest.raises(DriverLost):
        buses[0].receive(0.0)


@pytest.mark.parametrize(('bus', 'why'), [
    ({}, 'the bus has no channel'),
    ({'channel': 'can99'}, r'bus can99 \(socketcan\) cannot be opened'),
    ({'channel': '/no/where', 'interface': 'socket'}, 'cannot be opened: .* No such file'),
    ({'channel': '/no/where', 'interface': 'damiao_serial'}, 'cannot be opened|needs pyserial'),
    ({'channel': 'x', 'interface': 'damiao_serial', 'bauds': 1}, 'cannot be opened|needs py'),
    ({'channel': 'x', 'interface': 'nothing'}, 'cannot be opened|needs python-can')])
def test_buses_that_cannot_be_opened(bus, why):
    with pytest.raises(ParameterError, match=why):
        open_bus(bus)
