"""A proxy before a real server that changes, cuts, delays or drops its answers as a test says."""

import contextlib
import http.client
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

LONGEST_ANSWER_S = 120.0


@dataclass(frozen=True)
class Answer:
    """What goes to the client: `sent` bytes of the body (None: all), after a delay; `dropped` closes the connection without a word."""

    status: int
    kind: str
    body: bytes
    delay_s: float = 0.0
    sent: int | None = None
    dropped: bool = False


Change = Callable[[str, Answer], Answer]


@dataclass
class Proxy:
    """Its address, and what it does to the answer of each path."""

    url: str
    change: Change


@contextlib.contextmanager
def proxy(upstream: str) -> Iterator[Proxy]:
    """A proxy on a free port; `change` may be set while it runs."""
    target = urlsplit(upstream)
    made = Proxy("", untouched)

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            connection = http.client.HTTPConnection(str(target.hostname), target.port, timeout=LONGEST_ANSWER_S)
            headers = {name: value for name, value in self.headers.items() if name.lower() not in ("host", "connection")}
            connection.request(self.command, self.path, body, headers)
            found = connection.getresponse()
            answer = made.change(self.path, Answer(found.status, found.getheader("content-type") or "", found.read()))
            connection.close()
            with contextlib.suppress(OSError):  # a client that did not wait
                self._send(answer)

        def _send(self, answer: Answer) -> None:
            time.sleep(answer.delay_s)
            self.close_connection = True
            if answer.dropped:
                return
            self.send_response(answer.status)
            self.send_header("content-type", answer.kind)
            self.send_header("content-length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body[: answer.sent])

        do_GET = do_POST = _answer  # noqa: N815 (http.server's names)

        def log_message(self, *_arguments: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.02), daemon=True)
    thread.start()
    made.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def untouched(_path: str, answer: Answer) -> Answer:
    return answer


def of(route: str, change: Callable[[Answer], Answer], times: int = 1_000_000) -> Change:
    """Changes the first so many answers to a route."""
    left = [times]

    def apply(path: str, answer: Answer) -> Answer:
        if not path.endswith(f"/{route}") or left[0] == 0:
            return answer
        left[0] -= 1
        return change(answer)

    return apply


def status(code: int, text: str = '{"detail": "it broke"}', kind: str = "application/json") -> Callable[[Answer], Answer]:
    """Another status with a body of its own."""
    return lambda answer: replace(answer, status=code, body=text.encode(), kind=kind)


def dropped(answer: Answer) -> Answer:
    return replace(answer, dropped=True)


def cut(answer: Answer) -> Answer:
    return replace(answer, sent=len(answer.body) // 2)


def late(seconds: float) -> Callable[[Answer], Answer]:
    return lambda answer: replace(answer, delay_s=seconds)
