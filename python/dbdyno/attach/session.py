"""The one control connection: it reads, it is limited, it cannot be led astray, and it says whom it belongs to."""

from __future__ import annotations

from psycopg.types.string import TextLoader

from dbdyno.targets import connecting
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

    def prepare(session: Connection) -> None:
        connecting.check_version(session, endpoint)
        connecting.check_direct(session, endpoint)
        for name in ("text", "varchar", "name"):
            session.adapters.register_loader(name, _LenientText)

    return connecting.connect(endpoint, APPLICATION_NAME, _SETTINGS, prepare)
