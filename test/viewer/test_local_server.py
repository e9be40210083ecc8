# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`viewer.local_server`: which requests are answered, and that no other reaches the page."""

from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
import socket
from threading import Thread
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from robodyn_ros.errors import DemoError
from thorough import seeds
from viewer.browser import browsing, PROGRAM, wait_for

viser = pytest.importorskip('viser', reason='needs pip install viser')

FOREIGN = 1000          # connections of pages of other sites
FROM_BROWSER = seeds(10, FOREIGN)   # Chromium delays those after the tenth that fails
# A page that opens connections and sends a message on each as soon as it may, 10 at a time
ATTACK = """
<script>
let opened = 0, ended = 0, number = %d, message = new Uint8Array(%s);
function attack() {
  const one = new WebSocket('ws://127.0.0.1:%d', 'viser-v%s');
  one.onopen = () => { opened++; one.send(message); };
  one.onclose = () => { if (++ended + 10 <= number) attack(); };
}
for (let i = 0; i < 10; i++) attack();
</script>
"""


@pytest.fixture
def server():
    """Yield a server with a button, and a list of what is read of messages that press it."""
    from robodyn_ros.viewer.local_server import LocalServer

    one = LocalServer(18070, 'a page')
    one.pressed = []
    one.press = one.gui.add_button('drive')._impl.uuid
    one._websock_server.register_handler(viser._messages.GuiUpdateMessage,
                                         lambda _, message: one.pressed.append(message))
    yield one
    one.stop()


def message_of(server):
    """Return the message that presses the button."""
    import msgspec

    return msgspec.msgpack.encode({'type': 'GuiUpdateMessage', 'uuid': server.press,
                                   'updates': {'value': True}})


def connection(server, **headers):
    """Return a connection, with headers of a page of this server unless others are given."""
    from websockets.sync.client import connect

    here = f'127.0.0.1:{server.get_port()}'
    key = server.address.partition('key=')[2]
    headers = {'Host': here, 'Origin': f'http://{here}',
               'Cookie': f'key_{server.get_port()}={key}', **headers}
    host = headers.pop('Host')
    return connect(f'ws://{host}', sock=socket.create_connection(
        ('127.0.0.1', server.get_port())), origin=headers.pop('Origin'), max_size=None,
        additional_headers=headers, subprotocols=[f'viser-v{viser.__version__}'])


def test_its_own_page_is_obeyed(server):
    with connection(server) as own:
        own.send(message_of(server))
        assert wait_for(lambda: server.pressed)


@pytest.mark.parametrize('wrong', [
    {'Origin': 'https://example.com'}, {'Origin': 'http://127.0.0.1:9000'}, {'Origin': 'null'},
    {'Origin': 'http://127.0.0.1.example.com'}, {'Origin': None},
    {'Host': 'example.com:18070', 'Origin': 'http://example.com:18070'},
    {'Cookie': ''}, {'Cookie': 'key_18070=guessed'}, {'Cookie': 'key_1="a b'}],
    ids=lambda wrong: ' '.join(f'{k}={v}' for k, v in wrong.items()))
def test_others_are_refused_before_the_handshake(server, wrong):
    from websockets.exceptions import InvalidStatus

    with pytest.raises(InvalidStatus) as refused, connection(server, **wrong):
        pass
    assert refused.value.response.status_code == 403


def test_the_page_itself_needs_the_key(server):
    address, _, key = server.address.partition('/?')
    with pytest.raises(HTTPError, match='403'):
        urlopen(f'{address}/')
    with urlopen(server.address) as answer:
        assert b'<html' in answer.read()
        assert answer.headers['Set-Cookie'].startswith(f'key_{server.get_port()}={key[4:]}; Http')


def test_messages_sent_with_a_refused_handshake_are_not_read(server):
    """All in one packet, so that they are buffered before anything could be closed."""
    from websockets.frames import Frame, Opcode

    frame = Frame(Opcode.BINARY, message_of(server)).serialize(mask=True)
    request = (f'GET / HTTP/1.1\r\nHost: 127.0.0.1:{server.get_port()}\r\n'
               'Origin: http://example.com\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n'
               'Sec-WebSocket-Key: x3JJHMbDL1EzLkh9GBhXDw==\r\nSec-WebSocket-Version: 13\r\n'
               f'Sec-WebSocket-Protocol: viser-v{viser.__version__}\r\n\r\n').encode()
    for _ in range(FOREIGN):
        with socket.create_connection(('127.0.0.1', server.get_port())) as raw:
            raw.sendall(request + 3 * frame)
            assert raw.recv(100).startswith(b'HTTP/1.1 403')
    assert not server.pressed


def test_no_page_can_ask_for_a_public_address(server, monkeypatch):
    import msgspec

    tunnels = []
    monkeypatch.setattr(viser._viser, 'ViserTunnel', lambda *_: tunnels.append(1))
    with connection(server) as own:
        own.send(msgspec.msgpack.encode({'type': 'ShareUrlRequest'}))
        own.send(message_of(server))
        assert wait_for(lambda: server.pressed) and not tunnels


def test_a_viser_that_cannot_be_guarded_is_refused(monkeypatch):
    from robodyn_ros.viewer import local_server

    @contextmanager
    def no_guard(_):
        yield []

    monkeypatch.setattr(local_server, '_guarded', no_guard)
    with pytest.raises(DemoError, match='viser==1.1.1'):
        local_server.LocalServer(18070, 'a page')


def test_a_page_of_another_site_in_a_browser_is_not_obeyed(server, browser, tmp_path):
    (tmp_path / 'index.html').write_text(ATTACK % (
        FROM_BROWSER, list(message_of(server)), server.get_port(), viser.__version__))
    with ThreadingHTTPServer(('127.0.0.1', 0), partial(
            SimpleHTTPRequestHandler, directory=tmp_path)) as foreign:
        Thread(target=foreign.serve_forever, daemon=True).start()
        with browser.tab(f'http://127.0.0.1:{foreign.server_port}/') as tab:
            assert wait_for(lambda: tab.run(f'opened || ended === {FROM_BROWSER}'))
            assert tab.run('opened') == 0 and not server.pressed
        with browser.tab(server.address) as tab:            # its own page is served
            tab.click('drive', lambda: server.pressed)
        foreign.shutdown()


SHEET = '[style*="cursor: pointer"][style*="height: 3.5em"]'
DRIVE = """[...document.querySelectorAll('button')].some(
  one => one.innerText === 'drive' && one.getBoundingClientRect().height > 0)"""


def press(tab, key, code):
    for kind in 'keyDown', 'keyUp':
        tab.call('Input.dispatchKeyEvent', type=kind, key=key, code=key,
                 windowsVirtualKeyCode=code, text='\r' * (key == 'Enter'))


@pytest.mark.slow
@pytest.mark.skipif(PROGRAM is None, reason='needs Chromium')
def test_stop_is_there_while_the_panel_is_folded_and_the_keyboard_reaches_it(server):
    """In a narrow window, of which the panel takes the whole width when it is opened."""
    stops, taken = [], [True]
    server.stop_pressed = lambda: stops.append(1) or taken[0]
    # In a fresh Chromium: after a tab of another test, keys do not reach the page
    with browsing() as own, own.tab('about:blank') as tab:
        tab.resize(390, 800)
        tab.call('Page.navigate', url=server.address)
        wait_for(lambda: tab.run(f"document.querySelector('{SHEET}') !== null"))
        wait_for(lambda: not tab.run(DRIVE))
        press(tab, 'Tab', 9)
        assert tab.run('document.activeElement.id') == 'stop'
        press(tab, 'Enter', 13)
        wait_for(lambda: stops)
        assert 'NOT STOPPED' not in tab.text()
        taken[0] = False                    # nobody takes the requests of the page
        press(tab, 'Enter', 13)
        wait_for(lambda: 'NOT STOPPED' in tab.text())
        tab.run(f"document.querySelector('{SHEET}').click()")
        wait_for(lambda: tab.run(DRIVE))
        assert tab.run('document.documentElement.scrollWidth') <= 390
        sheet = """document.querySelector('[style*="max-height: 60%"]')"""
        assert tab.run(f'{sheet}.clientWidth') > 380


def test_only_the_page_stops(server):
    stops = []
    server.stop_pressed = lambda: stops.append(1) or True
    address, _, key = server.address.partition('/?key=')
    for header, status in (({}, 403), ({'Sec-Fetch-Site': 'same-site'}, 403),
                           ({'Sec-Fetch-Site': 'same-origin'}, 200)):
        with suppress(HTTPError) if status == 403 else nullcontext():
            urlopen(Request(f'{address}/stop', headers={
                'Cookie': f'key_{server.get_port()}={key}', **header}))
        assert bool(stops) == (status == 200)
