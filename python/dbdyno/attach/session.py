"""The one control connection: it reads, it is limited, it cannot be led astray, and it says whom it belongs to."""

from __future__ import annotations

import psycopg
from psycopg.types.string import TextLoader

from dbdyno.errors import DynoError
from dbdyno.targets.binaries import OLDEST_MAJOR
from dbdyno.targets.connecting import CONNECT_LIMIT_S, connection_failure
from dbdyno.targets.endpoint import Endpoint
from dbdyno.targets.target import Connection

# Sessions of this name are ours: they are in no figure.
APPLICATION_NAME = "dbdyno profile"

# Stands in our statements, so that they can be told apart in pg_stat_statements and in the server's log.
MARK = "/* dbdyno profile */"

# A profiler must not hold up the server that it looks at. Names mean the system's own only: a superuser's session must
# not call a function that somebody has put into `public`. Nor may a look take the time to compile itself.
_SETTINGS = {
    "default_transaction_read_only": "on",
    "statement_timeout": "5s",
    "lock_timeout": "1s",
    "idle_in_transaction_session_timeout": "30s",
    "search_path": "pg_catalog",
    "jit": "off",
}


class _LenientText(TextLoader):
    """A query text of another database is in that database's encoding: what does not fit ours is replaced."""

    def load(self, data: bytes | bytearray | memoryview) -> str:
        return bytes(data).decode(errors="replace")


def connect(endpoint: Endpoint) -> Connection:
    """A read-only session in autocommit. Raises `DynoError`, exit code 2, where there can be none."""
    arguments = endpoint.connect_arguments() | {"application_name": APPLICATION_NAME}
    try:
        session = psycopg.connect(**arguments, autocommit=True, connect_timeout=CONNECT_LIMIT_S)
    except psycopg.OperationalError as error:
        raise connection_failure(endpoint, error) from None  # its frames hold the arguments
    try:
        _check_version(session, endpoint)
        _check_direct(session, endpoint)
        for name in ("text", "varchar", "name"):
            session.adapters.register_loader(name, _LenientText)
        for name, value in _SETTINGS.items():
            session.execute("SELECT pg_catalog.set_config(%s, %s, false)", [name, value])
    except psycopg.Error as error:
        session.close()
        raise connection_failure(endpoint, error) from None
    except BaseException:
        session.close()
        raise
    return session


def _check_direct(session: Connection, endpoint: Endpoint) -> None:
    """Refuse a pooler before anything is set: our read-only session would be the next client's.

    A pooler makes up the pid that it tells its clients; the backend knows its own.
    """
    answer = session.execute("SELECT pg_catalog.pg_backend_pid()")
    if answer.description is None or answer.fetchone() != (session.info.backend_pid,):
        raise DynoError(
            "pooler",
            f"target {endpoint.display()}: answers as a connection pooler does; name PostgreSQL's own host and port",
        )


def _check_version(session: Connection, endpoint: Endpoint) -> None:
    if session.info.server_version < OLDEST_MAJOR * 10000:
        found = session.info.parameter_status("server_version")
        raise DynoError(
            "unsupported_version",
            f"target {endpoint.display()}: PostgreSQL {found}; {OLDEST_MAJOR} is the oldest that is supported",
        )
