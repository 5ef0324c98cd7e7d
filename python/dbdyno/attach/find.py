"""From a place to a server that can be looked at: its postmaster where it is on this host, a connection where we may.

```
postgres:// URL  --connect--> session --its backend's parent--> postmaster, where it is here
PID, directory   --/proc, postmaster.pid--> postmaster --its own sockets, --as-url--> session, where one is admitted
```

A local server without a session is watched by its memory alone: waits by name, no query texts.
We never change our uid to be let in; what a session would add is said in one line instead.
"""

from __future__ import annotations

import dataclasses
import getpass
import os
import pwd
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dbdyno.attach.listener import listener_of, socket_path, usual_sockets
from dbdyno.attach.pid_file import PidFile, postmaster_at, read_pid_file
from dbdyno.attach.place import DirectoryPlace, Place, ProcessPlace, UrlPlace
from dbdyno.attach.processes import data_directory_of, look_up, postmaster_of
from dbdyno.attach.session import connect
from dbdyno.errors import DynoError
from dbdyno.targets.defaults import resolve
from dbdyno.targets.endpoint import Endpoint
from dbdyno.targets.same_host import find_postmaster
from dbdyno.targets.target import Connection

# The database that initdb makes for administrators' sessions.
_MAINTENANCE_DATABASE = "postgres"
_SHOWN_REFUSALS = 2


@dataclasses.dataclass(frozen=True, slots=True)
class FoundServer:
    """A server to profile.

    Attributes:
        kind: `url`, `pid` or `data_directory`: how it was named.
        name: what the profile's directory is called after; no secret.
        shown: how messages and reports name it; no secret.
        postmaster_pid: in our /proc; None for a server elsewhere.
        endpoint: where `session` leads; None without one.
        session: our control connection, closed by `open_server`.
        note: why there is no session and what one would add; else None.
    """

    kind: str
    name: str
    shown: str
    postmaster_pid: int | None
    endpoint: Endpoint | None
    session: Connection | None
    note: str | None = None

    def document(self) -> dict[str, Any]:
        """The `target` of a profile's record."""
        return {
            "kind": self.kind,
            "name": self.shown,
            "endpoint": self.endpoint.display() if self.endpoint else None,
            "postmaster_pid": self.postmaster_pid,
            "same_host": self.postmaster_pid is not None,
            "note": self.note,
        }


@contextmanager
def open_server(place: Place, as_url: str | None, environment: Mapping[str, str]) -> Iterator[FoundServer]:
    """The server at `place`; `as_url` says whom to connect as where a process or a directory was named.

    Raises:
        DynoError: there is no such server, or we are not let in; exit code 2.
    """
    if isinstance(place, UrlPlace):
        if as_url is not None:
            raise DynoError("flag_conflict", "--as-url: is for a TARGET that is a process or a directory; leave it out")
        found = _by_url(resolve(place.url, environment))
    else:
        found = _local(place, as_url, environment)
    try:
        yield found
    finally:
        if found.session is not None:
            found.session.close()


def _by_url(endpoint: Endpoint) -> FoundServer:
    session = connect(endpoint)
    host = "local" if endpoint.is_socket else endpoint.host
    name = file_name(f"{endpoint.dbname}-{host}")
    return FoundServer("url", name, endpoint.display(), find_postmaster(session), endpoint, session)


def _local(place: ProcessPlace | DirectoryPlace, as_url: str | None, environment: Mapping[str, str]) -> FoundServer:
    if isinstance(place, ProcessPlace):
        postmaster_pid = postmaster_of(place.pid)
        kind, name, shown = "pid", f"postgres-{postmaster_pid}", f"process {postmaster_pid}"
    else:
        postmaster_pid = postmaster_at(place.directory)
        kind, name = "data_directory", file_name(place.directory.resolve().name)
        shown = str(place.directory)
    endpoint, session, note = None, None, None
    if as_url is not None:
        endpoint, session = _as_url(as_url, postmaster_pid, environment)
    else:
        endpoint, session, note = _let_in(postmaster_pid, environment)
    return FoundServer(kind, name, shown, postmaster_pid, endpoint, session, note)


def _as_url(url: str, postmaster_pid: int, environment: Mapping[str, str]) -> tuple[Endpoint, Connection]:
    endpoint = resolve(url, environment)
    session = connect(endpoint)
    there = find_postmaster(session)
    if there != postmaster_pid:
        session.close()
        server = f"the server of process {there}" if there else "a server on another host"
        raise DynoError(
            "another_server",
            f"--as-url {endpoint.display()}: is {server}, TARGET that of process {postmaster_pid}; name one server",
        )
    return endpoint, session


def _let_in(
    postmaster_pid: int, environment: Mapping[str, str]
) -> tuple[Endpoint | None, Connection | None, str | None]:
    """The first session that this server admits us to, or the reasons why it admits none."""
    refusals: list[str] = []
    for endpoint in _endpoints(postmaster_pid, environment):
        try:
            session = connect(endpoint)
        except DynoError as error:
            if error.code == "unsupported_version":
                raise
            cause = error.message.removeprefix(f"target {endpoint.display()}: ").rpartition("; ")[0]
            refusals.append(f"as {endpoint.user}: {cause}")
            continue
        if endpoint.is_socket or find_postmaster(session) == postmaster_pid:
            return endpoint, session, None
        session.close()
    why = "; ".join(dict.fromkeys(refusals[:_SHOWN_REFUSALS])) or "its socket was not found"
    return None, None, _without_session(why)


def _without_session(why: str) -> str:
    return (
        f"no connection: {why}. Profiled by the server's memory alone: waits have their names, queries their ids; "
        "texts, users, who blocks whom and the server's counters need one: "
        "--as-url postgres://USER@/DATABASE, or PGUSER, PGDATABASE and PGPASSWORD"
    )


def _endpoints(postmaster_pid: int, environment: Mapping[str, str]) -> Iterator[Endpoint]:
    """Where and as whom to try: the server's own addresses, and on each the names that could be ours there."""
    for host, port in _addresses(postmaster_pid, named="PGUSER" in environment):
        for user in _users(postmaster_pid, environment):
            asked = {**environment, "PGHOST": host, "PGPORT": str(port), "PGUSER": user}
            asked.setdefault("PGDATABASE", _MAINTENANCE_DATABASE)
            asked.pop("PGSERVICE", None)
            yield resolve("postgres://", asked)


def _addresses(postmaster_pid: int, *, named: bool) -> Iterator[tuple[str, int]]:
    """The sockets at which this very postmaster listens, then its TCP port; who answers there is looked at later.

    Over TCP names are not guessed where a socket has refused them: each refusal is a line in the server's log.
    """
    data_directory = data_directory_of(postmaster_pid)
    written = read_pid_file(data_directory) if data_directory else None
    if written is not None and written.port is not None:
        directory = _own_socket_directory(written, postmaster_pid)
        if directory is not None:
            yield str(directory), written.port
        if written.listen_address and (named or directory is None):
            address = written.listen_address
            yield "localhost" if address in ("*", "0.0.0.0", "::") else address, written.port
        return
    for directory, port in usual_sockets():
        if listener_of(socket_path(directory, port)) == postmaster_pid:
            yield str(directory), port


def _own_socket_directory(written: PidFile, postmaster_pid: int) -> Path | None:
    """The socket's directory as this host reaches it: in a container by way of the postmaster's own root."""
    if written.socket_directory is None or written.port is None:
        return None
    directory = Path(os.path.normpath(written.socket_directory))
    inside = Path(f"/proc/{postmaster_pid}/root")
    for candidate in (directory, inside / directory.relative_to("/")):
        if listener_of(socket_path(candidate, written.port)) == postmaster_pid:
            return candidate
    return None


def _users(postmaster_pid: int, environment: Mapping[str, str]) -> list[str]:
    """The roles to try: PGUSER; else ours and, for root, the account's (peer authentication refuses us as that)."""
    if user := environment.get("PGUSER"):
        return [user]
    users = [getpass.getuser()]
    process = look_up(postmaster_pid)
    if os.geteuid() == 0 and process is not None:
        try:
            users.append(pwd.getpwuid(process.user_id).pw_name)
        except KeyError:  # an account of a container only
            users.append(_MAINTENANCE_DATABASE)
    return list(dict.fromkeys(users))


def file_name(text: str) -> str:
    """A part of a file's name: letters, digits, dots and dashes."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-.")[:60] or "server"
