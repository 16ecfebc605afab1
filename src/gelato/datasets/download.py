"""Downloads that are complete or absent: resumed after an interruption and checked by SHA-256."""

import hashlib
import http.client
import os
import re
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock

from gelato import PROGRAM
from gelato.errors import GelatoError, InputError

Progress = Callable[[int, int | None], None]
"""Called with the bytes of the current file downloaded so far, and its size if the server states it."""

CHUNK_BYTES = 1 << 16
TRANSIENT_CODES = {408, 425, 429, 500, 502, 503, 504}
BREAKS = (urllib.error.URLError, http.client.HTTPException, TimeoutError, ConnectionError)
MOST_BYTES = 512 << 20
SLOWEST = 1_000
"""Bytes per second below which a server counts as silent."""

_WEB = urllib.request.OpenerDirector()  # HTTP and HTTPS, also when redirected: no local files, no other protocols
for _part in (
    urllib.request.ProxyHandler,
    urllib.request.HTTPHandler,
    urllib.request.HTTPSHandler,
    urllib.request.HTTPRedirectHandler,
    urllib.request.HTTPDefaultErrorHandler,
    urllib.request.HTTPErrorProcessor,
    urllib.request.UnknownHandler,
):
    _WEB.add_handler(_part())


class TooLarge(http.client.HTTPException):
    """A server sends or announces more than a file can have."""


@dataclass(frozen=True)
class Remote:
    """A file at an address, and the name of its local copy.

    Attributes:
        sha256: hash of its bytes; ``None`` if only its parsed content is checked.
        most: bytes it has at most.
    """

    name: str
    url: str
    sha256: str | None = None
    most: int = MOST_BYTES


def fetch(
    remote: Remote,
    folder: Path,
    *,
    progress: Progress | None = None,
    timeout: float = 30.0,
    attempts: int = 4,
    pause: float = 0.5,
    otherwise: str = "try again later",
) -> Path:
    """The local copy of ``remote``; an incomplete or altered download never gets its name.

    The bytes go to ``name.part``, from which the next attempt, or the next process, resumes.

    Args:
        progress: called after every chunk.
        timeout: seconds of silence after which the connection counts as lost.
        attempts: how often to try in all.
        pause: seconds before the second attempt; doubled before each further one.
        otherwise: what the user can do if the download fails, for the error message.
    """
    target = folder / remote.name
    if _intact(target, remote):
        return target
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / ".lock"):  # released when the process ends, whatever ends it
            if not _intact(target, remote):  # another process may have been first
                transfer = _Transfer(remote, target.with_name(f"{target.name}.part"), progress, timeout)
                _download(transfer, target, attempts, pause, otherwise)
    except OSError as error:
        reason = error.strerror or error
        raise GelatoError(f"cannot write to {folder}: {reason}; set GELATO_CACHE to another folder") from error
    return target


def sha256(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _intact(path: Path, remote: Remote) -> bool:
    return path.is_file() and remote.sha256 in (None, sha256(path))


def _download(transfer: "_Transfer", target: Path, attempts: int, pause: float, otherwise: str) -> None:
    remote, part = transfer.remote, transfer.part
    continued = part.exists()
    for attempt in range(attempts):
        if attempt:
            time.sleep(pause * 2 ** (attempt - 1))
        try:
            transfer.run()
        except BREAKS as error:
            reason = _reason(error)
            if _final(error):
                raise GelatoError(f"cannot download {remote.url}: {reason}; {otherwise}") from error
            continue
        actual = sha256(part)
        if remote.sha256 in (None, actual):
            part.replace(target)
            return
        part.unlink()
        if not continued:
            raise InputError(f"{remote.url} has changed: expected sha256 {remote.sha256}, got {actual}; {otherwise}")
        continued = False  # the part kept from before may be wrong
        reason = f"expected sha256 {remote.sha256}, got {actual}"
    raise GelatoError(f"cannot download {remote.url}: {reason} ({attempts} attempts); {otherwise}")


class _Transfer:
    """One file on its way into ``part``; ``run`` resumes where the last run stopped."""

    def __init__(self, remote: Remote, part: Path, progress: Progress | None, timeout: float) -> None:
        self.remote, self.part, self.progress, self.timeout = remote, part, progress, timeout
        self.tag: str | None = None

    def run(self) -> None:
        checkable = self.tag or self.remote.sha256  # else the rest might belong to a newer file
        done = self.part.stat().st_size if checkable and self.part.exists() else 0
        headers = {"Accept-Encoding": "identity", "User-Agent": PROGRAM}
        if done:
            headers["Range"] = f"bytes={done}-"
            if self.tag:
                headers["If-Range"] = self.tag
        try:
            with _WEB.open(urllib.request.Request(self.remote.url, headers=headers), timeout=self.timeout) as reply:
                self._receive(reply, done)
        except ValueError as error:  # an address or a header that cannot be parsed
            raise http.client.HTTPException(f"the server's response is malformed: {error}") from error
        except urllib.error.HTTPError as error:
            error.close()
            if error.code != http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE or not done:
                raise
            if self.remote.sha256 is None:
                self.part.unlink()
                raise ConnectionError(f"the server has no more than {done:,} bytes, but announced more") from error
            # either all of it is here or it is another file: the checksum decides

    def _receive(self, reply: Any, done: int) -> None:
        length = str(reply.headers.get("Content-Length", ""))
        if reply.status != http.HTTPStatus.PARTIAL_CONTENT:
            done = 0  # the server sends the file from its beginning
        elif not str(reply.headers.get("Content-Range", "")).startswith(f"bytes {done}-"):
            self.part.unlink(missing_ok=True)
            raise ConnectionError("the server sent a different range than requested")
        total = done + int(length) if re.fullmatch("[0-9]{1,18}", length) else None
        self._check_size(max(done, total or 0), "announces")
        tag = reply.headers.get("ETag", "")
        self.tag = tag if tag.startswith('"') else None  # a weak tag does not guarantee equal bytes
        with self.part.open("ab" if done else "wb") as file:
            since, received = time.monotonic(), 0
            while chunk := _chunk(reply):
                done, received = done + len(chunk), received + len(chunk)
                self._check_size(done, "sends")
                file.write(chunk)
                if (waited := time.monotonic() - since) > self.timeout:
                    if received < SLOWEST * waited:
                        raise TimeoutError
                    since, received = time.monotonic(), 0
                if self.progress:
                    self.progress(done, total)
            file.flush()
            os.fsync(file.fileno())
        if total is not None and done != total:
            raise ConnectionError(f"the connection was lost after {done:,} of {total:,} bytes")

    def _check_size(self, count: int, verb: str) -> None:
        """Refuse a file that is larger than it can be; what was received of it is of no use."""
        if count > self.remote.most:
            self.part.unlink(missing_ok=True)
            raise TooLarge(f"the server {verb} {count:,} bytes; the file has at most {self.remote.most:,}")


def _chunk(reply: Any) -> bytes:
    try:
        return bytes(reply.read1(CHUNK_BYTES))
    except OSError as error:  # any of them: the connection failed, not the disk
        raise ConnectionError(_reason(error)) from error


def _final(error: BaseException) -> bool:
    """Whether trying again is useless: the server refuses, or its name cannot be resolved."""
    if isinstance(error, urllib.error.HTTPError):
        return error.code not in TRANSIENT_CODES
    return isinstance(error, TooLarge) or isinstance(getattr(error, "reason", None), socket.gaierror)


def _reason(error: BaseException) -> str:
    if isinstance(error, urllib.error.HTTPError):
        return " ".join(f"the server answered {error.code} {error.reason}".split())
    cause = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(cause, TimeoutError):
        return "the server did not answer in time"
    return getattr(cause, "strerror", None) or str(cause) or type(cause).__name__
