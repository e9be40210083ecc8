# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Control laws, one a file: the effort that takes the arm from its state to its reference.

A law is a :class:`~.law.Law`: a pure function with the declaration of its gains. Those of this
package are listed in :mod:`.registry`; a custom law is named by the parameter ``mode`` as
package.module:NAME, and needs no entry. The control cycle calls them all through :mod:`.call` and
knows none by name.
"""
