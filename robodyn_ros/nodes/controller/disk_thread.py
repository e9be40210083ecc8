# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Writing of files beside a control loop, which a hanging disk delays for a bounded time only."""

from collections.abc import Callable
import threading

from rclpy.impl.rcutils_logger import RcutilsLogger

DISK_TIMEOUT = 2.0    # [s] that anything waits for a disk


class DiskThread:
    """
    Thread that writes files one after the other; for use by one thread.

    :param what: is written, for the log.
    """

    def __init__(self, what: str, log: RcutilsLogger):
        self._what, self._log = what, log
        self._thread: threading.Thread | None = None

    @property
    def busy(self) -> bool:
        """Whether a file is being written."""
        return self._thread is not None and self._thread.is_alive()

    def begin(self, write: Callable[[], None]) -> None:
        """Call ``write`` in the thread, after what is being written."""
        before = self._thread

        def run() -> None:
            if before is not None:
                before.join()
            write()
        # A daemon: what hangs does not keep the process from ending
        self._thread = threading.Thread(target=run, name=self._what, daemon=True)
        self._thread.start()

    def join(self) -> None:
        """Wait until everything is written, for DISK_TIMEOUT at most."""
        if self._thread is not None:
            self._thread.join(DISK_TIMEOUT)
            if self.busy:
                self._log.error(f'the {self._what} has not been written within '
                                f'{DISK_TIMEOUT:g} s and is given up: the disk is full, slow or '
                                'gone')
            self._thread = None
