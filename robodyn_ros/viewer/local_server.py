# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""
viser server for same-origin browsers on this machine that hold the key of the run.

Any web page may open a WebSocket to 127.0.0.1; only the header Origin identifies the page
(RFC 6455, 10.2). Requests are therefore checked before the WebSocket handshake, so that no message
of a refused connection is ever read.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from importlib.resources import files
from secrets import compare_digest, token_urlsafe
from typing import Any
from urllib.parse import parse_qs, urlsplit

import viser
import websockets.asyncio.server
from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request, Response

from ..errors import DemoError
from ..extras import pip_install

ADDRESS = '127.0.0.1'
LOOPBACK = 'localhost', ADDRESS
KEY = 'key'             # name in the query of the address, and of the cookie

Judge = Callable[[ServerConnection, Request], Response | None]

STOP = '/stop'          # address that :attr:`LocalServer.stop_pressed` answers


class LocalServer(viser.ViserServer):
    """
    Server of one page, reachable from this machine with the key in :attr:`address` only.

    :param port: TCP port; the next free one is taken where it is in use.
    :param label: title of the page.
    :raises DemoError: this version of viser starts its server in a way that cannot be guarded.
    """

    def __init__(self, port: int, label: str):
        self._key = token_urlsafe()
        #: Called by the button STOP of the page: whether the arm will be stopped; None: no button.
        self.stop_pressed: Callable[[], bool] | None = None
        with _guarded(self._judge) as guarded:
            super().__init__(host=ADDRESS, port=port, label=label, verbose=False)
        if not guarded:
            self.stop()
            raise DemoError('requests of browsers cannot be checked', name='viser',
                            value=viser.__version__, remedy=f'run `{pip_install("viser==1.1.1")}`')

    @property
    def address(self) -> str:
        """Address of the page, with the key of this run."""
        return f'http://{ADDRESS}:{self.get_port()}/?{KEY}={self._key}'

    def request_share_url(self, verbose: bool = True) -> None:
        """Open no tunnel to the internet, although any page of viser can ask for one."""

    def _refusal(self, request: Request) -> str | None:
        """
        Return why a request is refused, or None.

        The host is checked as well, since a foreign name may resolve to 127.0.0.1 (DNS rebinding).
        """
        host, origin = request.headers.get('Host', ''), request.headers.get('Origin')
        if urlsplit(f'//{host}').hostname not in LOOPBACK:
            return f'this server is not {host}'
        if origin != f'http://{host}' and (origin is not None or 'Upgrade' in request.headers):
            return 'this page is of another site'
        return None if self._has_key(request) else 'open the address that the program has printed'

    def _has_key(self, request: Request) -> bool:
        try:
            cookie = SimpleCookie(request.headers.get('Cookie', '')).get(self._cookie)
        except CookieError:
            cookie = None
        return _sent_key(request, self._key) or (
            cookie is not None and compare_digest(cookie.value.encode(), self._key.encode()))

    @property
    def _cookie(self) -> str:
        """Name of the cookie; browsers keep one store for all ports of a host."""
        return f'{KEY}_{self.get_port()}'

    def _judge(self, otherwise: Judge | None) -> Judge:
        """Return what answers a request before its handshake: a refusal, or as ``otherwise``."""

        def judge(connection: ServerConnection, request: Request) -> Response | None:
            if reason := self._refusal(request):
                return connection.respond(HTTPStatus.FORBIDDEN, reason + '\n')
            path = urlsplit(request.path).path
            if path == STOP and self.stop_pressed is not None:
                if request.headers.get('Sec-Fetch-Site') != 'same-origin':
                    return connection.respond(HTTPStatus.FORBIDDEN, 'not from this page\n')
                return connection.respond(HTTPStatus.OK, 'stop\n') if self.stop_pressed() else (
                    connection.respond(HTTPStatus.SERVICE_UNAVAILABLE, 'the program hangs\n'))
            if path == '/':         # is changed below
                request.headers.pop('Accept-Encoding', None)
            response = otherwise(connection, request) if otherwise is not None else None
            if response is not None and path == '/':
                added = files(__package__).joinpath('templates', 'page.html').read_bytes()
                if self.stop_pressed is not None:
                    added = added.replace(b' hidden>', b'>')
                response.body = response.body.replace(b'<body>', b'<body>' + added, 1)
                del response.headers['Content-Length']      # else there would be two
                response.headers['Content-Length'] = str(len(response.body))
            if response is not None and _sent_key(request, self._key):
                response.headers['Set-Cookie'] = (
                    f'{self._cookie}={self._key}; HttpOnly; SameSite=Strict; Path=/')
            return response
        return judge


def _sent_key(request: Request, key: str) -> bool:
    """Return whether the query of the address has the key."""
    sent = parse_qs(urlsplit(request.path).query).get(KEY, [''])
    return compare_digest(sent[0].encode(), key.encode())


@contextmanager
def _guarded(judge: Callable[[Judge | None], Judge]) -> Iterator[list[Any]]:
    """
    Let ``judge`` wrap the request handler of WebSocket servers started within the block.

    viser has no parameter for a request handler of ours. Yield a list of what was wrapped: it
    stays empty where viser no longer starts its server by this function of websockets.
    """
    serve = websockets.asyncio.server.serve
    wrapped: list[Any] = []

    def guarded_serve(*args: Any, process_request: Judge | None = None, **options: Any) -> Any:
        wrapped.append(process_request)
        return serve(*args, process_request=judge(process_request), **options)

    websockets.asyncio.server.serve = guarded_serve         # type: ignore[assignment, misc]
    try:
        yield wrapped
    finally:
        websockets.asyncio.server.serve = serve             # type: ignore[misc]
