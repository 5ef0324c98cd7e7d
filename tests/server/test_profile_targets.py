"""TARGET of every kind leads to the same server, as root and as others; nobody's uid is ever changed."""

from __future__ import annotations

import dataclasses
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from as_user import as_user

from dbdyno.attach.find import FoundServer, open_server
from dbdyno.attach.listener import listener_of, socket_path
from dbdyno.attach.place import parse_place
from dbdyno.attach.processes import data_directory_of, may_read_memory
from dbdyno.commands.app import run
from dbdyno.errors import DynoError
from dbdyno.targets.account import server_account
from dbdyno.targets.embedded import EmbeddedServer

pytestmark = pytest.mark.server

AS_ROLE: Mapping[str, str] = {"PGUSER": "dbdyno", "HOME": "/nonexistent"}
NO_ROLE: Mapping[str, str] = {"HOME": "/nonexistent"}
STRANGER = 54321

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="becomes somebody else, which needs root")


@dataclasses.dataclass(frozen=True)
class Seen:
    """A found server without its connection."""

    kind: str
    postmaster_pid: int | None
    user: str | None
    read_only: str | None
    note: str | None


def seen(found: FoundServer) -> Seen:
    """What of it can be told to another process."""
    user = read_only = None
    if found.session is not None:
        row = found.session.execute("SELECT current_user::text, current_setting('transaction_read_only')").fetchone()
        assert row is not None
        user, read_only = row
    return Seen(found.kind, found.postmaster_pid, user, read_only, found.note)


def opened(target: str, environment: Mapping[str, str], as_url: str | None = None) -> Seen:
    """The server at `target`, or the refusal as a note."""
    try:
        with open_server(parse_place(target), as_url, environment) as found:
            return seen(found)
    except DynoError as error:
        return Seen(f"refused, exit code {error.exit_code}", None, None, None, error.message)


@pytest.fixture(scope="module")
def other(cache: Path) -> Iterator[EmbeddedServer]:
    """Another server of this host."""
    with EmbeddedServer() as started:
        yield started


def pid_of(server: EmbeddedServer, backend_type: str) -> int:
    """The pid of a process of this kind."""
    with server.connect() as session:
        row = session.execute("SELECT pid FROM pg_stat_activity WHERE backend_type = %s", [backend_type]).fetchone()
    assert row is not None
    return int(row[0])


def cluster(server: EmbeddedServer) -> str:
    """Its PGDATA."""
    return str(server.data_directory / "cluster")


def test_every_kind_of_target_leads_to_the_postmaster(server: EmbeddedServer) -> None:
    """A URL, the postmaster, a session, background processes, the data directory: one server, read-only."""
    with server.connect() as session:
        targets = {
            server.endpoint.display(): "url",
            str(server.postmaster_pid): "pid",
            str(session.info.backend_pid): "pid",
            str(pid_of(server, "walwriter")): "pid",
            str(pid_of(server, "autovacuum launcher")): "pid",
            cluster(server): "data_directory",
            f"{cluster(server)}/../cluster": "data_directory",
        }
        for target, kind in targets.items():
            assert opened(target, AS_ROLE) == Seen(kind, server.postmaster_pid, "dbdyno", "on", None), target


def test_a_server_that_admits_nobody_is_still_found(server: EmbeddedServer) -> None:
    """The line says who was tried and what would help; and it is one line."""
    found = opened(str(server.postmaster_pid), NO_ROLE)

    assert (found.postmaster_pid, found.user) == (server.postmaster_pid, None)
    assert found.note is not None
    assert 'role "' in found.note
    assert "--as-url postgres://USER@/DATABASE, or PGUSER, PGDATABASE and PGPASSWORD" in found.note
    assert "\n" not in found.note


def test_as_url_says_whom_to_connect_as(server: EmbeddedServer, other: EmbeddedServer) -> None:
    """It must be the same server, and is of no use beside a URL."""
    pid = str(server.postmaster_pid)

    assert opened(pid, NO_ROLE, server.endpoint.display()).user == "dbdyno"
    refused = opened(pid, NO_ROLE, other.endpoint.display())
    assert refused.note is not None
    assert f"is the server of process {other.postmaster_pid}, TARGET that of process {pid}" in refused.note
    assert refused.kind == "refused, exit code 2"
    conflict = opened(server.endpoint.display(), NO_ROLE, server.endpoint.display())
    assert conflict.note == "--as-url: is for a TARGET that is a process or a directory; leave it out"


def test_a_wrong_role_by_url_is_refused(server: EmbeddedServer) -> None:
    """A URL names a user; another one is not tried."""
    url = server.endpoint.display().replace("dbdyno@", "nosuchrole@")

    assert opened(url, AS_ROLE).note == f'target {url}: role "nosuchrole" does not exist; name an existing user'


def test_who_listens_is_known_before_a_word_is_said(server: EmbeddedServer) -> None:
    """The kernel tells the pid of the socket's owner."""
    path = socket_path(Path(server.endpoint.host), server.endpoint.port)

    assert listener_of(path) == server.postmaster_pid
    assert listener_of(path.with_name("none")) is None


def test_a_stopped_server_is_told_so(cache: Path, tmp_path: Path) -> None:
    """Its directory is there, its postmaster.pid names a process that is no more."""
    with EmbeddedServer() as stopped:
        left = tmp_path / "cluster"
        left.mkdir()
        for name in ("PG_VERSION", "postmaster.pid"):
            shutil.copyfile(stopped.data_directory / "cluster" / name, left / name)
        pid = stopped.postmaster_pid
        assert opened(str(left), AS_ROLE).note is not None  # the process lives, but works elsewhere

    assert opened(str(left), AS_ROLE).note == (
        f"TARGET {left}: postmaster.pid names process {pid}, which is no PostgreSQL server here; start the server"
    )
    assert opened(str(pid), AS_ROLE).note == (
        f"TARGET {pid}: no such process; name the postmaster or one of its backends"
    )


@needs_root
def test_the_servers_own_account_comes_in_by_its_name(server: EmbeddedServer) -> None:
    """Like an administrator on a packaged server; root is let in where a role of the account's name may."""
    account = server_account()
    server.execute("CREATE ROLE nobody LOGIN")
    try:
        for target in (str(server.postmaster_pid), cluster(server)):
            found = as_user(account.uid, lambda target=target: opened(target, NO_ROLE))  # type: ignore[misc]
            assert (found.postmaster_pid, found.user, found.read_only) == (server.postmaster_pid, "nobody", "on")
            assert opened(target, NO_ROLE).user == "nobody"
    finally:
        server.execute("DROP ROLE nobody")


@needs_root
def test_a_stranger_sees_processes_and_not_directories(server: EmbeddedServer) -> None:
    """A PID still leads to the postmaster; a directory that is closed says so."""
    found = as_user(STRANGER, lambda: opened(str(pid_of_any_child(server.postmaster_pid)), AS_ROLE))
    assert found.postmaster_pid == server.postmaster_pid
    assert found.note is not None
    assert found.note.startswith("no connection: its socket was not found.")
    assert as_user(STRANGER, lambda: data_directory_of(server.postmaster_pid)) is None

    may = [
        as_user(user_id, lambda: may_read_memory(server.postmaster_pid)) for user_id in (STRANGER, server_account().uid)
    ]
    assert may == [False, True]

    refused = as_user(STRANGER, lambda: opened(cluster(server), AS_ROLE))
    assert refused.note == (
        f"TARGET {cluster(server)}: permission denied; run as its owner or as root, or name the URL or PID"
    )


def test_without_rights_one_line_says_what_to_do(
    server: EmbeddedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Neither memory nor a connection: nothing is promised first, nothing is left behind."""
    monkeypatch.setattr("dbdyno.commands.profiling.may_read_memory", lambda pid: False)
    monkeypatch.setenv("PGUSER", "nobody_of_this_name")
    pid = server.postmaster_pid

    assert run(["profile", str(pid), "--seconds", "1", "--out", str(tmp_path / "p")]) == 2
    assert capfd.readouterr() == (
        "",
        f"dbdyno: process {pid}: we may not read its memory, and know nobody to connect as; run as the server's "
        "account or as root, or give --as-url postgres://USER@/DATABASE\n",
    )
    assert not (tmp_path / "p").exists()


def pid_of_any_child(postmaster_pid: int) -> int:
    """A server process below it, from /proc."""
    return int(Path(f"/proc/{postmaster_pid}/task/{postmaster_pid}/children").read_text().split()[0])
