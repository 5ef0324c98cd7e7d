"""Our sessions on the server whose columns are counted: they read, they are limited, they say whom they belong to."""

from __future__ import annotations

from dbdyno.targets import connecting
from dbdyno.targets.endpoint import Endpoint
from dbdyno.targets.target import Connection

APPLICATION_NAME = "dbdyno ndv"
# In statements that take long, behind their first word: pg_stat_statements keeps it there, and drops it before.
MARK = "/* dbdyno ndv */"

# Catalogues are read in a moment, and a lock that is not free is not waited for. A scan has limits of its own.
_SETTINGS = {
    "default_transaction_read_only": "on",
    "statement_timeout": "30s",
    "lock_timeout": "1s",
    "idle_in_transaction_session_timeout": "60s",
    "jit": "off",
}


def connect(endpoint: Endpoint) -> Connection:
    """A read-only session in autocommit, with the user's own search_path. Raises `DynoError`, exit code 2."""

    def prepare(session: Connection) -> None:
        connecting.check_version(session, endpoint)
        connecting.check_direct(session, endpoint)

    return connecting.connect(endpoint, APPLICATION_NAME, _SETTINGS, prepare)
