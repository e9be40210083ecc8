# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
CAN frames over SocketCAN, the serial bridge of Damiao, python-can, and sockets of counterparts.

A frame is its identifier and its data. Extended identifiers carry the flag EXTENDED, as in
SocketCAN.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping
import errno
from importlib import import_module
from math import ceil
import select
import socket
import struct
import sys
from time import monotonic
from typing import Any, NoReturn

from ..driver import DriverLost
from ..errors import ParameterError
from ..extras import pip_install

Frame = tuple[int, bytes]

EXTENDED = 0x80000000
ERROR, REMOTE = 0x20000000, 0x40000000
# Classic and FD frames of SocketCAN: identifier, length, flags, two reserved bytes, data
CLASSIC, FD = struct.Struct('=IBBxx8s'), struct.Struct('=IBBxx64s')
BIT_RATE_SWITCH = 0x01
ERROR_FILTER = 2        # <linux/can/raw.h>, which not every Python knows
# Flags of the error frames of SocketCAN, <linux/can/error.h>
ERRORS = {0x001: 'transmit timeout', 0x002: 'arbitration lost', 0x004: 'controller problem',
          0x008: 'protocol violation', 0x010: 'transceiver problem', 0x020: 'no acknowledgement',
          0x040: 'bus off', 0x080: 'bus error', 0x100: 'controller restarted'}
BUS_OFF, RESTARTED = 'bus off', 'controller restarted'
# An adapter that is gone; anything else, such as a full buffer, may pass
GONE = {errno.ENODEV, errno.ENXIO, errno.EBADF, errno.EIO, errno.EPIPE, errno.ECONNRESET,
        errno.ENOTCONN, errno.ECONNREFUSED, errno.ENOENT}
FULL = {errno.ENOBUFS, errno.EAGAIN}


class Bus(ABC):
    """A CAN bus: what :func:`open_bus` returns."""

    def __init__(self) -> None:
        #: What went wrong, by name; and whether the controller is off the bus.
        self.errors, self.off = Counter[str](), False

    @abstractmethod
    def send(self, identifier: int, data: bytes) -> None:
        """
        Send a frame, without waiting.

        :raises OSError: it could not be sent, such as with a full buffer: the next one may.
        :raises DriverLost: the adapter is gone.
        """

    @abstractmethod
    def receive(self, timeout: float) -> Frame | None:
        """
        Return the next data frame, None if none comes within the timeout [s].

        :raises DriverLost: the adapter is gone.
        """

    @abstractmethod
    def close(self) -> None:
        """End the connection."""


def open_bus(bus: Mapping[str, Any]) -> Bus:
    """
    Open the bus that an arm's file describes.

    :param bus: ``channel`` and optionally ``interface``: ``socketcan`` (default),
        ``damiao_serial``, ``socket`` (of a counterpart) or one of python-can, with ``fd``,
        ``bitrate`` and ``data_bitrate``, and any further arguments of python-can.
    :raises ParameterError: it cannot be opened.
    """
    options = dict(bus)
    interface, channel = options.pop('interface', 'socketcan'), options.pop('channel', None)
    fd = bool(options.pop('fd', False))
    if channel is None:
        raise ParameterError('the bus has no channel', name='channel',
                             remedy='specify one, such as can0 or /dev/ttyACM0')
    try:
        if interface == 'socketcan':
            return SocketBus(_socketcan(channel, fd), fd)
        if interface == 'socket':
            opened = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            opened.connect(channel)
            return SocketBus(opened, fd)
        if interface == 'damiao_serial':
            return DamiaoSerial(channel, **options)
        return PythonCan(interface, channel, fd, options)
    except (OSError, ValueError, TypeError) as error:
        raise ParameterError(
            f'bus {channel} ({interface}) cannot be opened: {error}', name='channel',
            value=channel, remedy='connect it; a SocketCAN interface is started by `sudo ip link '
            f'set {channel} up type can bitrate 1000000`' if interface == 'socketcan' else
            'connect it, and correct its channel and options') from error


def _socketcan(channel: str, fd: bool) -> socket.socket:
    if not hasattr(socket, 'AF_CAN'):
        raise OSError(f'{sys.platform} has no SocketCAN: give the interface of python-can')
    opened = socket.socket(socket.AF_CAN, socket.SOCK_RAW, socket.CAN_RAW)
    if fd:
        opened.setsockopt(socket.SOL_CAN_RAW, socket.CAN_RAW_FD_FRAMES, 1)
    opened.setsockopt(socket.SOL_CAN_RAW, ERROR_FILTER, sum(ERRORS))
    opened.bind((channel,))
    return opened


def _imported(name: str, package: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise ParameterError(f'this bus needs {package}', name='interface', value=name,
                             remedy=f'run `{pip_install(package)}`') from error


def _raise(error: OSError, what: str) -> NoReturn:
    """Raise the error of a bus: DriverLost where the adapter is gone."""
    if error.errno in GONE:
        raise DriverLost(f'the CAN adapter is gone ({what}: {error.strerror})') from error
    raise error


class SocketBus(Bus):
    """
    Frames of SocketCAN over a socket.

    :param opened: of AF_CAN, or one end of a pair that keeps messages apart.
    :param fd: whether frames are sent as CAN FD with a higher data rate.
    """

    def __init__(self, opened: socket.socket, fd: bool = False):
        super().__init__()
        opened.setblocking(False)
        self._socket, self._fd = opened, fd
        self._poll = select.poll()
        self._poll.register(opened, select.POLLIN)

    def send(self, identifier: int, data: bytes) -> None:
        """See :class:`Bus`."""
        try:
            self._socket.send(
                FD.pack(identifier, len(data), BIT_RATE_SWITCH, data) if self._fd
                else CLASSIC.pack(identifier, len(data), 0, data))
        except OSError as error:
            self.errors['frames not sent'] += 1
            _raise(error, 'send')

    def receive(self, timeout: float) -> Frame | None:
        """See :class:`Bus`."""
        end = monotonic() + timeout
        while True:
            try:
                raw = self._socket.recv(FD.size)
            except BlockingIOError:
                left = end - monotonic()
                if timeout <= 0.0 or left <= 0.0 or not self._poll.poll(ceil(1e3 * left)):
                    return None
                continue
            except OSError as error:
                self.errors['failed reads'] += 1
                _raise(error, 'receive')
            if not raw:
                raise DriverLost('the other end of the socket is closed')
            if len(raw) not in (CLASSIC.size, FD.size):
                self.errors['malformed frames'] += 1
                continue
            identifier, length, _, data = (CLASSIC if len(raw) == CLASSIC.size else FD).unpack(raw)
            if identifier & ERROR:
                self._note(identifier)
            elif length > len(data):
                self.errors['malformed frames'] += 1
            elif not identifier & REMOTE:
                self.off = False
                return identifier, data[:length]

    def close(self) -> None:
        """See :class:`Bus`."""
        self._socket.close()

    def _note(self, identifier: int) -> None:
        for flag, name in ERRORS.items():
            if identifier & flag:
                self.errors[name] += 1
                self.off = name == BUS_OFF or (self.off and name != RESTARTED)


class DamiaoSerial(Bus):
    """
    The USB-CAN adapter of Damiao: 30 bytes to send a classic frame, 16 bytes received.

    :param channel: serial port; ``baud``: its rate.
    """

    HEAD, TAIL, RECEIVED = 0xAA, 0x55, 0x11
    SEND = struct.Struct('<4sIIBIBBBB8sB')
    TAKE = struct.Struct('<BBBI8sB')

    def __init__(self, channel: str, baud: int = 921600):
        super().__init__()
        self._port = _imported('serial', 'pyserial').Serial(
            channel, baud, timeout=0, write_timeout=0, exclusive=True)
        self._bytes = bytearray()

    def send(self, identifier: int, data: bytes) -> None:
        """See :class:`Bus`."""
        message = self.SEND.pack(b'\x55\xaa\x1e\x03', 1, 10, bool(identifier & EXTENDED),
                                 identifier & ~EXTENDED, 0, len(data), 0, 0, data, 0)
        try:
            sent = self._port.write(message)
        except OSError as error:            # of which SerialException is one, without a number
            self.errors['frames not sent'] += 1
            if error.errno in FULL:
                raise
            raise DriverLost(f'the serial port is gone ({error})') from error
        if sent is not None and sent < len(message):    # the rest would be taken for a new frame
            self.errors['frames not sent'] += 1
            raise DriverLost('the serial port took a part of a frame only')

    def receive(self, timeout: float) -> Frame | None:
        """See :class:`Bus`."""
        end = monotonic() + timeout
        while True:
            if (frame := self._next()) is not None:
                return frame
            try:
                self._port.timeout = max(0.0, end - monotonic())
                got = self._port.read(max(1, self._port.in_waiting))
            except (OSError, TypeError) as error:   # pyserial: TypeError of a port just closed
                raise DriverLost(f'the serial port is gone ({error})') from error
            self._bytes += got
            if not got:
                return None

    def close(self) -> None:
        """See :class:`Bus`."""
        self._port.close()

    def _next(self) -> Frame | None:
        while True:
            if (begin := self._bytes.find(self.HEAD)) < 0:
                self.errors['bytes skipped'] += len(self._bytes)
                self._bytes.clear()
                return None
            self.errors['bytes skipped'] += begin
            del self._bytes[:begin]
            if len(self._bytes) < self.TAKE.size:
                return None
            _, kind, flags, identifier, data, tail = self.TAKE.unpack_from(self._bytes)
            if tail != self.TAIL:           # not the beginning of a frame: look for the next one
                del self._bytes[0]
                self.errors['bytes skipped'] += 1
                continue
            del self._bytes[:self.TAKE.size]
            length = flags & 0x3F
            if kind != self.RECEIVED or flags & 0x80:
                self.errors['other messages of the adapter'] += 1
            elif length > 8:
                self.errors['malformed frames'] += 1
            else:
                return identifier | (EXTENDED if flags & 0x40 else 0), data[:length]


class PythonCan(Bus):
    """
    A bus of python-can.

    :param interface, channel: as of ``can.Bus``, ``options``: its other arguments.
    """

    def __init__(self, interface: str, channel: str, fd: bool, options: Mapping[str, Any]):
        super().__init__()
        self._can, self._fd = _imported('can', 'python-can'), fd
        try:
            self._bus = self._can.Bus(channel, interface, fd=fd, **options)
        except self._can.CanError as error:
            raise OSError(str(error)) from error

    def send(self, identifier: int, data: bytes) -> None:
        """See :class:`Bus`."""
        try:
            self._bus.send(self._can.Message(
                arbitration_id=identifier & ~EXTENDED, is_extended_id=bool(identifier & EXTENDED),
                data=data, is_fd=self._fd, bitrate_switch=self._fd))
        except self._can.CanOperationError as error:
            self.errors['frames not sent'] += 1
            if error.error_code in GONE:
                raise DriverLost(f'the CAN adapter is gone ({error})') from error
            raise OSError(error.error_code, str(error)) from error
        except OSError as error:
            self.errors['frames not sent'] += 1
            _raise(error, 'send')

    def receive(self, timeout: float) -> Frame | None:
        """See :class:`Bus`."""
        end = monotonic() + timeout
        while True:
            try:
                message = self._bus.recv(max(0.0, end - monotonic()))
            except (self._can.CanOperationError, OSError) as error:
                raise DriverLost(f'the CAN adapter is gone ({error})') from error
            if message is None:
                return None
            if message.is_error_frame:
                self.errors['bus error'] += 1
                self.off = bool(message.arbitration_id & 0x040)
            elif not message.is_remote_frame:
                self.off = False
                return (message.arbitration_id | (EXTENDED if message.is_extended_id else 0),
                        bytes(message.data))

    def close(self) -> None:
        """See :class:`Bus`."""
        self._bus.shutdown()
