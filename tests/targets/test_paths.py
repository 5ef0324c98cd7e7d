"""Where things lie, and who can reach them."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from dbdyno.errors import DynoError
from dbdyno.targets.account import Account, server_account
from dbdyno.targets.cache import cached, exclusive
from dbdyno.targets.leftovers import remove_leftovers
from dbdyno.targets.paths import cache_directory, data_parent, make_instance

OURS = Account(os.geteuid(), os.getegid(), changes=False)
STRANGER = Account(12345, 12345, changes=True)


def test_server_is_never_root() -> None:
    """As root the server gets another account; as anybody else it is that user."""
    account = server_account()
    assert account.uid != 0
    assert account.gid != 0
    assert account.changes == (os.geteuid() == 0)
    assert account.process_arguments().keys() == ({"user", "group", "extra_groups"} if account.changes else set())


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"DBDYNO_CACHE_DIR": "{tmp}/a", "XDG_CACHE_HOME": "{tmp}/b"}, "{tmp}/a"),
        ({"XDG_CACHE_HOME": "{tmp}/b"}, "{tmp}/b/dbdyno"),
        ({"XDG_CACHE_HOME": "relative"}, "{tmp}/.cache/dbdyno"),
        ({}, "{tmp}/.cache/dbdyno"),
    ],
)
def test_cache_of_a_user(
    environment: dict[str, str], expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DBDYNO_CACHE_DIR goes first, then the XDG directory if it is absolute, then ~/.cache."""
    monkeypatch.setenv("HOME", str(tmp_path))
    filled = {name: value.format(tmp=tmp_path) for name, value in environment.items()}
    chosen = cache_directory(filled, OURS)
    assert chosen == Path(expected.format(tmp=tmp_path))
    assert chosen.is_dir()


def test_cache_that_the_server_cannot_enter(tmp_path: Path) -> None:
    """A cache below a closed directory is refused; the directory and the fix are named."""
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    with pytest.raises(DynoError, match=r"uid 12345, which the server runs under, cannot enter .*DBDYNO_CACHE_DIR"):
        cache_directory({"DBDYNO_CACHE_DIR": str(closed / "cache")}, STRANGER)


def test_cache_that_cannot_be_made(tmp_path: Path) -> None:
    """A file where the cache should be is refused in one line."""
    (tmp_path / "file").write_text("")
    with pytest.raises(DynoError, match=r"cache directory .*/file/cache: Not a directory; set DBDYNO_CACHE_DIR"):
        cache_directory({"DBDYNO_CACHE_DIR": str(tmp_path / "file" / "cache")}, OURS)


@pytest.fixture
def open_directory() -> Iterator[Path]:
    """A directory that everybody can enter, which pytest's own are not."""
    with tempfile.TemporaryDirectory(dir="/tmp") as directory:
        Path(directory).chmod(0o755)
        yield Path(directory)


def test_first_closed_directory(open_directory: Path) -> None:
    """The outermost closed directory is named, by the mode that counts for the account."""
    outer, inner = open_directory / "outer", open_directory / "outer" / "inner"
    inner.mkdir(parents=True)
    inner.chmod(0o750)
    assert STRANGER.first_closed_directory(inner) == inner
    assert STRANGER.first_closed_directory(inner / "file-to-be") == inner
    assert Account(12345, inner.stat().st_gid, changes=True).first_closed_directory(inner) is None
    assert Account(inner.stat().st_uid, 12345, changes=True).first_closed_directory(inner) is None
    outer.chmod(0o700)
    assert STRANGER.first_closed_directory(inner) == outer
    assert OURS.first_closed_directory(inner) is None


def test_data_dir(tmp_path: Path) -> None:
    """A missing directory is refused rather than made on the wrong disk; without the flag it is in the cache."""
    with pytest.raises(DynoError, match=r"--data-dir .*/missing: no such directory; make it first"):
        data_parent(tmp_path / "missing", tmp_path, OURS)
    assert data_parent(None, tmp_path, OURS) == tmp_path / "data"
    assert data_parent(tmp_path, tmp_path / "cache", OURS) == tmp_path.resolve()
    tmp_path.chmod(0o700)
    with pytest.raises(DynoError, match=r"--data-dir .*: uid 12345, which the server runs under, cannot enter"):
        data_parent(tmp_path, tmp_path, STRANGER)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_data_dir_that_is_not_ours(tmp_path: Path) -> None:
    """A directory that we cannot write to is refused by name."""
    tmp_path.chmod(0o500)
    with pytest.raises(DynoError, match=r"--data-dir .*: not writable"):
        data_parent(tmp_path, tmp_path, OURS)


def test_instance_of_the_living_is_kept(tmp_path: Path) -> None:
    """A left-over is an instance whose lock nobody holds, and nothing else in the directory is touched."""
    living = make_instance(tmp_path, OURS)
    dead = make_instance(tmp_path, OURS)
    dead.release()
    (tmp_path / "dbdyno-notes").mkdir()
    (tmp_path / "precious").mkdir()
    (tmp_path / "dbdyno-link").symlink_to(tmp_path / "precious")
    assert living.directory.stat().st_mode & 0o777 == 0o700
    assert remove_leftovers(tmp_path) == [dead.directory]
    expected = {living.directory, *(tmp_path / name for name in ("dbdyno-notes", "precious", "dbdyno-link"))}
    assert set(tmp_path.iterdir()) == expected
    living.release()
    assert remove_leftovers(tmp_path) == [living.directory]


def test_stale_pid_file_harms_nobody(tmp_path: Path) -> None:
    """A pid file that names a process working elsewhere, here ourselves, ends nothing; a bad one is no error."""
    for contents in (f"{os.getpid()}\n/x\n0\n5432\n../socket\n\n  1 2\n", "nonsense", "-1\n", ""):
        instance = make_instance(tmp_path, OURS)
        instance.cluster.mkdir()
        (instance.cluster / "postmaster.pid").write_text(contents)
        instance.release()
        assert remove_leftovers(tmp_path) == [instance.directory]


def test_cached_is_complete_or_absent(tmp_path: Path) -> None:
    """A build that fails leaves nothing, one that was killed is swept, one that succeeded is not repeated."""
    wanted = tmp_path / "things" / "one"
    builds: list[Path] = []

    def fail(draft: Path) -> None:
        (draft / "half").write_text("")
        raise KeyError

    def build(draft: Path) -> None:
        builds.append(draft)
        (draft / "whole").write_text("")

    with pytest.raises(KeyError):
        cached(wanted, fail)
    assert [path.name for path in wanted.parent.iterdir()] == [".dbdyno-lock"]
    (wanted.parent / ".draft-killed").mkdir()
    assert cached(wanted, build) == wanted
    assert cached(wanted, build) == wanted
    assert len(builds) == 1
    assert sorted(path.name for path in wanted.parent.iterdir()) == [".dbdyno-lock", "one"]


def test_exclusive(tmp_path: Path) -> None:
    """The lock is held inside and free behind."""
    with exclusive(tmp_path), (tmp_path / ".dbdyno-lock").open() as other, pytest.raises(BlockingIOError):
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    with (tmp_path / ".dbdyno-lock").open() as other:
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
