# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
The control loop as one compiled function: state bytes in, one cycle, effort bytes out, no Python.

It calls librcl's public C API (rcl/subscription.h, rcl/publisher.h), so while it runs nothing that
other Python threads do can hold it up. Nothing in it allocates, logs or takes a lock of ours. What
it relies on is tried by :func:`.probe.probe` before it is trusted; without this package, or where
the trial fails, the same loop runs in Python and gives the same efforts.
"""
