# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
Pages of other web sites are not served.

A browser lets every page that it shows open a WebSocket to 127.0.0.1, and only names the page in
the header Origin (RFC 6455, 10.2). Whoever comes from another site is disconnected before its
first message is read; otherwise any web site could drive the arm.
"""

from typing import Any
from urllib.parse import urlsplit

import viser

from ..errors import DemoError
from ..extras import pip_install

LOOPBACK = 'localhost', '127.0.0.1', '::1'
REFUSED = 1008          # WebSocket close code: policy violation


def is_local(origin: str | None) -> bool:
    """Return whether an Origin names a page of this machine; None, of no browser, does not."""
    try:
        return origin is not None and urlsplit(origin).hostname in LOOPBACK
    except ValueError:
        return False


def refuse_other_sites(server: viser.ViserServer) -> None:
    """
    Disconnect browsers that show a page of another site.

    :raises DemoError: this version of viser does not let connections be judged.
    """
    sockets = getattr(server, '_websock_server', None)
    connections = getattr(sockets, '_live_connections', None)
    if sockets is None or connections is None:
        raise DemoError('it is not known where browsers come from', name='viser',
                        value=viser.__version__, remedy=f'run `{pip_install("viser==1.1.1")}`')

    async def judge(client: Any) -> None:
        connection = connections.get(client.client_id)
        if connection is None or not is_local(connection.request.headers.get('Origin')):
            if connection is not None:
                await connection.close(REFUSED, 'this page is of another site')

    sockets.on_client_connect(judge)
