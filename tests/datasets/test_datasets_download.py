"""Downloads are whole and unaltered, or not there."""

import hashlib
import socket
import subprocess
import sys
import threading
import time

import pytest

from gelato.datasets.download import Remote, fetch
from gelato.errors import GelatoError, InputError

BODY = bytes(range(256)) * 1000
NAME = "body.bin"


def remote(site, body=BODY):
    return Remote(NAME, site.url(NAME), hashlib.sha256(body).hexdigest())


def unpinned(site):
    return Remote(NAME, site.url(NAME))


def left(folder):
    return {path.name for path in folder.iterdir()} - {".lock"}


@pytest.fixture
def site(site):
    site.files[NAME] = BODY
    return site


def test_a_download_has_the_bytes_of_the_server(site, tmp_path):
    steps = []
    path = fetch(remote(site), tmp_path / "new" / "folder", progress=lambda done, total: steps.append((done, total)))
    assert path.read_bytes() == BODY
    assert left(path.parent) == {NAME}
    assert steps[-1] == (len(BODY), len(BODY))
    assert steps == sorted(set(steps)) and len(steps) > 1


def test_a_file_that_is_here_is_not_downloaded_again(site, tmp_path):
    fetch(remote(site), tmp_path)
    fetch(remote(site), tmp_path)
    assert site.requests == [(NAME, None)]


def test_a_file_that_was_damaged_here_is_downloaded_again(site, tmp_path):
    fetch(remote(site), tmp_path).write_bytes(BODY[:-1])
    assert fetch(remote(site), tmp_path).read_bytes() == BODY
    assert len(site.requests) == 2


@pytest.mark.parametrize("pinned", [remote, unpinned])
def test_a_broken_line_is_taken_up_where_it_broke(site, plan, tmp_path, pinned):
    site.plans[NAME] = [plan(cut=70_000), plan(cut=200_000)]
    assert fetch(pinned(site), tmp_path, pause=0).read_bytes() == BODY
    assert site.requests == [(NAME, None), (NAME, "bytes=70000-"), (NAME, "bytes=200000-")]


def test_a_line_that_always_breaks_is_given_up_and_its_bytes_kept_for_the_next_time(site, plan, tmp_path):
    site.plans[NAME] = [plan(cut=cut) for cut in (10_000, 20_000)]
    with pytest.raises(
        GelatoError, match=r"the connection was lost after 20,000 of 256,000 bytes \(2 attempts\); ask a friend"
    ):
        fetch(remote(site), tmp_path, pause=0, attempts=2, otherwise="ask a friend")
    assert left(tmp_path) == {f"{NAME}.part"}
    fetch(remote(site), tmp_path)
    assert site.requests[-1] == (NAME, "bytes=20000-")


def test_a_server_that_ignores_the_range_does_not_make_a_file_with_two_beginnings(site, plan, tmp_path):
    site.plans[NAME] = [plan(cut=70_000), plan(ignores_range=True)]
    assert fetch(remote(site), tmp_path, pause=0).read_bytes() == BODY


def test_a_file_that_changes_between_two_attempts_is_downloaded_from_its_beginning(site, plan, tmp_path):
    new = BODY[::-1]
    site.plans[NAME] = [plan(cut=70_000)]
    site.files[NAME] = BODY

    def change(done, total):
        site.files[NAME] = new

    assert fetch(unpinned(site), tmp_path, pause=0, progress=change).read_bytes() == new


def test_without_checksum_and_tag_a_broken_download_starts_again(site, plan, tmp_path):
    site.plans[NAME] = [plan(cut=70_000, tagged=False)]
    assert fetch(unpinned(site), tmp_path, pause=0).read_bytes() == BODY
    assert site.requests == [(NAME, None), (NAME, None)]


@pytest.mark.parametrize("pinned", [remote, unpinned])
def test_a_wrong_range_is_not_taken_for_the_right_one(site, plan, tmp_path, pinned):
    site.plans[NAME] = [plan(cut=70_000), plan(shift=1_000)]
    assert fetch(pinned(site), tmp_path, pause=0).read_bytes() == BODY
    assert site.requests == [(NAME, None), (NAME, "bytes=70000-"), (NAME, None)]


def test_a_half_of_another_file_is_thrown_away(site, tmp_path):
    (tmp_path / f"{NAME}.part").write_bytes(b"?" * 5_000)
    assert fetch(remote(site), tmp_path, pause=0).read_bytes() == BODY
    assert site.requests == [(NAME, "bytes=5000-"), (NAME, None)]


def test_without_a_checksum_the_half_of_an_earlier_process_is_not_trusted(site, tmp_path):
    (tmp_path / f"{NAME}.part").write_bytes(b"?" * 5_000)
    assert fetch(unpinned(site), tmp_path).read_bytes() == BODY
    assert site.requests == [(NAME, None)]


def test_a_whole_part_is_only_checked(site, tmp_path):
    (tmp_path / f"{NAME}.part").write_bytes(BODY)
    assert fetch(remote(site), tmp_path).read_bytes() == BODY
    assert left(tmp_path) == {NAME}


@pytest.mark.parametrize(
    "served", [BODY[:-1] + b"!", b"<html>please log in</html>", b""], ids=["one byte", "login page", "nothing"]
)
def test_altered_bytes_are_refused_and_not_kept(site, tmp_path, served):
    site.files[NAME] = served
    with pytest.raises(InputError, match=f"{site.url(NAME)} has changed: expected sha256 .*, got .*"):
        fetch(remote(site), tmp_path)
    assert left(tmp_path) == set()


def test_a_length_below_the_true_one_is_refused(site, plan, tmp_path):
    site.plans[NAME] = [plan(length=1_000, cut=1_000)]
    with pytest.raises(InputError, match="has changed"):
        fetch(remote(site), tmp_path)
    assert left(tmp_path) == set()


def test_a_length_above_the_true_one_is_refused_unless_the_checksum_says_that_all_is_here(site, plan, tmp_path):
    site.plans[NAME] = [plan(length=len(BODY) + 1) for _ in range(9)]
    with pytest.raises(GelatoError, match=r"announced more|the connection was lost after 256,000 of 256,001 bytes"):
        fetch(unpinned(site), tmp_path, pause=0)
    assert NAME not in left(tmp_path)
    assert fetch(remote(site), tmp_path, pause=0).read_bytes() == BODY


def test_a_missing_file_is_told_at_once_with_its_address_and_the_repair(site, tmp_path):
    gone = Remote("gone", site.url("gone"), "0" * 64)
    with pytest.raises(GelatoError, match=f"cannot download {site.url('gone')}: .* 404 Not Found; set GELATO_DATA"):
        fetch(gone, tmp_path, otherwise="set GELATO_DATA")
    assert len(site.requests) == 1
    assert left(tmp_path) == set()


def test_a_busy_server_is_asked_again(site, plan, tmp_path):
    site.plans[NAME] = [plan(status=503), plan(status=429)]
    assert fetch(remote(site), tmp_path, pause=0).read_bytes() == BODY


def test_a_silent_server_is_given_up(site, plan, tmp_path):
    site.plans[NAME] = [plan(delay=0.6), plan(delay=0.6)]
    with pytest.raises(GelatoError, match=r"did not answer in time \(2 attempts\)"):
        fetch(remote(site), tmp_path, timeout=0.1, attempts=2, pause=0)
    assert left(tmp_path) == set()


def test_a_slow_server_is_waited_for(site, plan, tmp_path):
    site.plans[NAME] = [plan(delay=0.2)]
    assert fetch(remote(site), tmp_path, timeout=10, attempts=1).read_bytes() == BODY


def test_the_pauses_between_attempts_double(site, plan, tmp_path, monkeypatch):
    pauses = []
    monkeypatch.setattr("gelato.datasets.download.time.sleep", lambda seconds: pauses.append(seconds))
    site.files.pop(NAME)
    closed = Remote(NAME, f"http://127.0.0.1:{free_port()}/{NAME}", "0" * 64)
    with pytest.raises(GelatoError, match=r"cannot download .*refused.* \(4 attempts\)"):
        fetch(closed, tmp_path, pause=1)
    assert pauses == [1, 2, 4]


def test_without_a_network_the_error_comes_at_once(tmp_path, monkeypatch):
    asked = []

    def offline(*address, **_):
        asked.append(address)
        raise socket.gaierror(-3, "Temporary failure in name resolution")

    monkeypatch.setattr(socket, "getaddrinfo", offline)
    with pytest.raises(GelatoError, match=r"cannot download http://example\.invalid/x: .*name resolution; try again"):
        fetch(Remote("x", "http://example.invalid/x", "0" * 64), tmp_path)
    assert len(asked) == 1


def test_a_folder_that_cannot_be_made_is_named(site, tmp_path):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(GelatoError, match=r"cannot write to .*file.cache: .*; set GELATO_CACHE"):
        fetch(remote(site), tmp_path / "file" / "cache")


def test_a_killed_process_leaves_a_part_that_the_next_one_continues(site, plan, tmp_path):
    site.plans[NAME] = [plan(trickle=0.02)]
    it = remote(site)
    program = (
        "import pathlib; from gelato.datasets.download import Remote, fetch; "
        f"fetch(Remote({it.name!r}, {it.url!r}, {it.sha256!r}), pathlib.Path({str(tmp_path)!r}))"
    )
    process = subprocess.Popen([sys.executable, "-c", program])
    part = tmp_path / f"{NAME}.part"
    deadline = time.monotonic() + 15
    while (not part.exists() or not part.stat().st_size) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.kill()
    process.wait()
    assert left(tmp_path) == {part.name}
    half = part.stat().st_size
    assert 0 < half < len(BODY)
    assert fetch(it, tmp_path).read_bytes() == BODY  # the lock of the dead process does not hold
    assert site.requests == [(NAME, None), (NAME, f"bytes={half}-")]


def test_two_at_once_download_the_file_once(site, plan, tmp_path):
    site.plans[NAME] = [plan(delay=0.2), plan(delay=0.2)]
    got = []
    threads = [threading.Thread(target=lambda: got.append(fetch(remote(site), tmp_path))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [path.read_bytes() for path in got] == [BODY, BODY]
    assert site.requests == [(NAME, None)]


@pytest.mark.parametrize("length", [None, "999999999999", "9" * 30])
def test_a_download_that_does_not_end_is_given_up_and_not_kept(site, plan, tmp_path, length):
    site.plans[NAME] = [plan(endless=True, headers={"Content-Length": length})]
    bounded = Remote(NAME, site.url(NAME), "0" * 64, most=1_000_000)
    with pytest.raises(GelatoError, match=r"the server (sends|announces) .* bytes; the file has at most 1,000,000"):
        fetch(bounded, tmp_path, pause=0)
    assert left(tmp_path) == set()
    assert len(site.requests) == 1


def test_a_server_that_drips_is_given_up(site, plan, tmp_path):
    site.plans[NAME] = [plan(trickle=0.02, piece=1)]
    with pytest.raises(GelatoError, match=r"did not answer in time \(1 attempts\)"):
        fetch(remote(site), tmp_path, timeout=0.3, attempts=1)


@pytest.mark.parametrize("length", [None, "", "-5", "abc", "1e3", "²", "9" * 5000, "0x10"])
def test_an_odd_length_is_not_believed(site, plan, tmp_path, length):
    site.plans[NAME] = [plan(headers={"Content-Length": length})] * 4
    assert fetch(remote(site), tmp_path, pause=0).read_bytes() == BODY


@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Range": None},
        {"Content-Range": "bytes */*"},
        {"Content-Range": "words 1-2/3"},
        {"Content-Range": "bytes 70000-x/y"},
    ],
    ids=str,
)
def test_an_odd_range_never_gives_other_bytes(site, plan, tmp_path, headers):
    site.plans[NAME] = [plan(cut=70_000), plan(headers=headers)]
    assert fetch(remote(site), tmp_path, pause=0).read_bytes() == BODY


@pytest.mark.parametrize(
    "place", ["file:///etc/passwd", "ftp://127.0.0.1:9/x", "http://[::1", "data:,x", "gopher://x", "http://"], ids=str
)
def test_a_redirection_leads_nowhere_but_to_the_web(site, plan, tmp_path, place):
    site.plans[NAME] = [plan(headers={"Location": place})] * 9
    with pytest.raises(GelatoError, match=f"cannot download {site.url(NAME)}: ") as refused:
        fetch(remote(site), tmp_path, pause=0)
    assert "\n" not in str(refused.value)
    assert left(tmp_path) <= {f"{NAME}.part"}


def test_a_redirection_in_a_circle_ends(site, plan, tmp_path):
    site.plans[NAME] = [plan(headers={"Location": site.url(NAME)})] * 50
    with pytest.raises(GelatoError, match="cannot download"):
        fetch(remote(site), tmp_path, pause=0)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
