"""A session of ours on a server; and why a connection could not be made, as one line that says what to do.

libpq reports these failures as texts only, with no SQLSTATE; the texts matched here are libpq's own and the server's
English ones. A failure with none of them is passed on in the server's words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import psycopg

from dbdyno.errors import DynoError
from dbdyno.targets.binaries import OLDEST_MAJOR
from dbdyno.targets.endpoint import Endpoint
from dbdyno.targets.target import Connection

CONNECT_LIMIT_S = 10

# code, what the text holds, what to do. The first that fits counts.
_CAUSES: tuple[tuple[str, tuple[str, ...], str], ...] = (
    (
        "wrong_password",
        ("password authentication failed", "no password supplied"),
        "check the user and the password (URL, PGPASSWORD, ~/.pgpass)",
    ),
    ("unknown_database", ('database "', '" does not exist'), "name an existing database"),
    ("unknown_user", ('role "', '" does not exist'), "name an existing user"),
    (
        "not_a_server",
        ("invalid response to SSL negotiation", "expected authentication request"),
        "what answers there is no PostgreSQL server; check host and port",
    ),
    ("not_admitted", ("no pg_hba.conf entry",), "use another sslmode or user, or add an entry to pg_hba.conf"),
    (
        "tls_failed",
        ("SSL", "certificate", "TLS"),
        "check sslmode and sslrootcert against what the server offers",
    ),
    (
        "unreachable",
        (
            *("Connection refused", "No such file or directory", "timeout expired", "timed out", "No route to host"),
            *("Network is unreachable", "resolve host", "Name or service not known", "closed the connection"),
            *("Permission denied", "Temporary failure in name resolution", "connection timeout"),
        ),
        "check host and port, and that the server runs",
    ),
)
_ALL_NEEDED = ("unknown_database", "unknown_user")


def _as_it_is(session: Connection) -> None:
    """Nothing to prepare."""


def connect(
    endpoint: Endpoint,
    application_name: str,
    settings: Mapping[str, str],
    prepare: Callable[[Connection], None] = _as_it_is,
) -> Connection:
    """A session in autocommit with `settings` of its own. Raises `DynoError`, exit code 2, where there can be none.

    Args:
        endpoint: where.
        application_name: what others see in pg_stat_activity.
        settings: set for the session, by name.
        prepare: called before anything is set; it may refuse the session by raising `DynoError`.
    """
    arguments = endpoint.connect_arguments() | {"application_name": application_name}
    try:
        session = psycopg.connect(**arguments, autocommit=True, connect_timeout=CONNECT_LIMIT_S)
    except psycopg.OperationalError as error:
        raise connection_failure(endpoint, error) from None  # its frames hold the arguments
    try:
        prepare(session)
        for name, value in settings.items():
            session.execute("SELECT pg_catalog.set_config(%s, %s, false)", [name, value])
    except psycopg.Error as error:
        session.close()
        raise connection_failure(endpoint, error) from None
    except BaseException:
        session.close()
        raise
    return session


def check_version(session: Connection, endpoint: Endpoint) -> None:
    """Refuse a server older than the oldest supported. Raises `DynoError`."""
    if session.info.server_version < OLDEST_MAJOR * 10000:
        found = session.info.parameter_status("server_version")
        raise DynoError(
            "unsupported_version",
            f"target {endpoint.display()}: PostgreSQL {found}; {OLDEST_MAJOR} is the oldest that is supported",
        )


def check_direct(session: Connection, endpoint: Endpoint) -> None:
    """Refuse a pooler before anything is set: what we set for the session would be the next client's.

    A pooler makes up the pid that it tells its clients; the backend knows its own.
    """
    answer = session.execute("SELECT pg_catalog.pg_backend_pid()")
    if answer.description is None or answer.fetchone() != (session.info.backend_pid,):
        raise DynoError(
            "pooler",
            f"target {endpoint.display()}: answers as a connection pooler does; name PostgreSQL's own host and port",
        )


def connection_failure(endpoint: Endpoint, error: psycopg.Error) -> DynoError:
    """The `DynoError` for a failed connection to `endpoint`; exit code 2, no password."""
    text = str(error)
    lines = [line.strip() for line in text.splitlines() if line.strip() and "Is the server running" not in line]
    code, fix, line = _cause(lines or ["no reason given"])
    return DynoError(code, f"target {endpoint.display()}: {_sentence(line)}; {fix}")


def _cause(lines: Sequence[str]) -> tuple[str, str, str]:
    """Code, fix and the last line that says so: libpq reports an address, or a try without TLS, a line each."""
    for code, needles, fix in _CAUSES:
        fits = all if code in _ALL_NEEDED else any
        for line in reversed(lines):
            if fits(needle in line for needle in needles):
                return code, fix, line
    return "connection_failed", "see the server's log", lines[-1]


def _sentence(line: str) -> str:
    """A line of libpq's report without the address that the message names already."""
    for before_cause in ("FATAL:  ", "ERROR:  ", " failed: "):
        _, found, cause = line.rpartition(before_cause)
        if found:
            return cause
    return line.removeprefix("connection failed: ")
