"""Files leave the page cache, and what stays is counted."""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from dbdyno.targets import page_cache
from dbdyno.targets.page_cache import Dropped, drop_from_page_cache, files_below, resident_bytes

SIZE = 4 * 2**20

pytestmark = pytest.mark.skipif(not Path("/proc/sys/vm").is_dir(), reason="no /proc")


@pytest.fixture
def directory() -> Iterator[Path]:
    """On a disk: files in memory have nowhere to be dropped to."""
    with tempfile.TemporaryDirectory(dir=Path(__file__).parent) as name:
        yield Path(name)


@pytest.fixture
def file(directory: Path) -> Path:
    """4 MB and one byte, just written: dirty pages."""
    path = directory / "file"
    path.write_bytes(bytes(SIZE + 1))
    return path


def test_dirty_pages_go(file: Path) -> None:
    """They are written first; the last page counts whole."""
    assert resident_bytes([file]) == SIZE + mmap.PAGESIZE

    assert drop_from_page_cache([file]) == Dropped(SIZE + mmap.PAGESIZE, 0, ("posix_fadvise",))

    assert resident_bytes([file]) == 0
    with file.open("rb") as opened:
        os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_RANDOM)  # no read-ahead
        opened.read(1)
    assert 0 < resident_bytes([file]) < SIZE


def test_what_somebody_has_mapped_stays_and_is_counted(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the machine's caches cannot be dropped, as for an ordinary user, the figure says what is left."""
    monkeypatch.setattr(page_cache, "_DROP_CACHES", file.parent / "nowhere" / "drop_caches")
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), SIZE, access=mmap.ACCESS_READ) as mapped:
        assert mapped[:].count(0) == SIZE

        assert drop_from_page_cache([file]) == Dropped(mmap.PAGESIZE, SIZE, ("posix_fadvise",))


def test_the_whole_machine_s_cache_is_the_last_resort(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked for only when something stays, and only the page cache."""
    request = file.parent / "drop_caches"
    monkeypatch.setattr(page_cache, "_DROP_CACHES", request)
    drop_from_page_cache([file])
    assert not request.exists()

    with file.open("rb") as opened, mmap.mmap(opened.fileno(), SIZE, access=mmap.ACCESS_READ) as mapped:
        assert mapped[:].count(0) == SIZE
        dropped = drop_from_page_cache([file])

    assert dropped.resident_bytes == SIZE
    assert dropped.how == ("posix_fadvise", "drop_caches")
    assert request.read_text() == "1\n"


def test_an_ordinary_user_can() -> None:
    """Their own files, with no privilege."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as theirs:
        if os.geteuid() == 0:
            os.chown(theirs, 65534, 65534)
        child = os.fork()
        if child == 0:
            os._exit(_drop_as_ordinary_user(Path(theirs, "file")))
        _, status = os.waitpid(child, 0)

    assert os.waitstatus_to_exitcode(status) == 0


def _drop_as_ordinary_user(file: Path) -> int:
    try:
        if os.geteuid() == 0:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
        file.write_bytes(bytes(SIZE))
        return 0 if drop_from_page_cache([file]) == Dropped(SIZE, 0, ("posix_fadvise",)) else 1
    except BaseException:
        return 2


def test_files_below_follows_tablespaces(directory: Path) -> None:
    """Symbolic links to directories are gone through; empty files and sockets do no harm."""
    elsewhere, base = directory / "elsewhere", directory / "base"
    for path in (elsewhere / "PG_18" / "2", base / "1"):
        path.mkdir(parents=True)
    (elsewhere / "PG_18" / "2" / "16384").write_text("x")
    (base / "1" / "empty").touch()
    os.mkfifo(base / "1" / "fifo")
    (directory / "pg_tblspc").mkdir()
    (directory / "pg_tblspc" / "16385").symlink_to(elsewhere)

    files = files_below([base, directory / "pg_tblspc"])

    assert [path.relative_to(directory).as_posix() for path in files] == [
        "base/1/empty",
        "pg_tblspc/16385/PG_18/2/16384",
    ]
    assert resident_bytes(files) == mmap.PAGESIZE
