# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The `robodyn` command."""

import os
import signal
import sys
import time

SIGINT_DEBOUNCE = 0.5    # [s]: `timeout` and launch send two

_interrupted = -SIGINT_DEBOUNCE


def main() -> int:
    """Run the command line; return its exit code, 130 after Ctrl-C, however often."""
    # Shells start background jobs with SIGINT ignored, and what we start would inherit that
    signal.signal(signal.SIGINT, _interrupt)
    # Matrices of these commands are small: threads of BLAS would wait for one another, and for
    # twice the processor time
    os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')
    # Not at the top: Ctrl-C while these load shall end without a traceback too
    try:
        from .app import app
        app()
    except KeyboardInterrupt:
        return 130
    except SystemExit as end:
        # Typer leaves this way; a text instead of a number would be an error message
        return end.code if isinstance(end.code, int) else int(bool(end.code))
    except OSError as error:
        if error.filename is not None:
            raise
        # Of a write: to a full disk, or to a pipe whose reader has ended
        print(f'robodyn: the output cannot be written ({error.strerror}): direct it to another '
              'file', file=sys.stderr)
        sys.stdout = open(os.devnull, 'w')      # what is left is not written at the end again
        return 1
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)    # the exit code is decided
    return 0


def _interrupt(*_: object) -> None:
    """Raise KeyboardInterrupt, but not again while the first one ends the command."""
    global _interrupted
    before, _interrupted = _interrupted, time.monotonic()
    if _interrupted > before + SIGINT_DEBOUNCE:
        raise KeyboardInterrupt
