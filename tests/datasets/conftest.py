"""A file server on loopback that can be told to misbehave."""

import itertools
import threading
import time
from collections import defaultdict
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest


@dataclass
class Plan:
    """How one request is answered."""

    status: int = 200
    cut: int | None = None  # bytes after which the line breaks
    length: int | None = None  # the Content-Length to claim
    ignores_range: bool = False
    shift: int = 0  # bytes by which the range is missed
    tagged: bool = True
    delay: float = 0.0  # seconds before the answer
    trickle: float = 0.0  # seconds between pieces
    piece: int = 1000  # bytes of a piece
    headers: dict[str, str | None] = field(default_factory=dict)  # sent instead of the usual ones; None: left out
    endless: bool = False


class Site:
    """Files by name, the plans for the next requests, and the requests that came: ``(name, range)``."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.files: dict[str, bytes] = {}
        self.plans: dict[str, list[Plan]] = defaultdict(list)
        self.requests: list[tuple[str, str | None]] = []

    def url(self, name: str) -> str:
        return f"http://127.0.0.1:{self.port}/{name}"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        site, name = self.server.site, self.path[1:]
        asked = self.headers.get("Range")
        site.requests.append((name, asked))
        plan = site.plans[name].pop(0) if site.plans[name] else Plan()
        time.sleep(plan.delay)
        body = site.files.get(name)
        if body is None or plan.status != 200:
            self.send_error(404 if body is None else plan.status)
            return
        tag = f'"{hash(body)}"'
        start = int(asked.removeprefix("bytes=").removesuffix("-")) if asked and not plan.ignores_range else 0
        if self.headers.get("If-Range", tag) != tag:
            start = 0
        if start and start >= len(body):
            self.send_error(416)
            return
        start += plan.shift if start else 0
        self.send_response(302 if "Location" in plan.headers else 206 if start else 200)
        headers = {"ETag": tag if plan.tagged else None}
        headers["Content-Length"] = str(len(body) - start if plan.length is None else plan.length)
        headers["Content-Range"] = f"bytes {start}-{len(body) - 1}/{len(body)}" if start else None
        for header, value in (headers | plan.headers).items():
            if value is not None:
                self.send_header(header, value)
        self.end_headers()
        rest = body[start : len(body) if plan.cut is None else plan.cut]
        cuts = range(0, len(rest), plan.piece)
        pieces = [rest[i : i + plan.piece] for i in cuts] if plan.trickle else [rest]
        for piece in itertools.repeat(rest) if plan.endless else pieces:
            try:
                self.wfile.write(piece)
            except ConnectionError:  # the client was killed or gave up
                return
            time.sleep(plan.trickle)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def site():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.site = Site(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server.site
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def plan():
    return Plan


@pytest.fixture
def own_folders(monkeypatch, tmp_path_factory):
    """No folder of the user is read or written."""
    monkeypatch.setenv("GELATO_CACHE", str(tmp_path_factory.mktemp("cache")))
    monkeypatch.delenv("GELATO_DATA", raising=False)
