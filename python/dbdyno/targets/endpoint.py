"""Where a server listens and who we are there; the password rides along and is never shown."""

from __future__ import annotations

import dataclasses
from typing import Any
from urllib.parse import quote, urlencode

from dbdyno.targets.secret import Secret

SSL_MODES = ("disable", "prefer", "require", "verify-ca", "verify-full")


@dataclasses.dataclass(frozen=True, slots=True)
class Endpoint:
    """One server, one user, one database. `host` is a name, an address, or the directory of a Unix socket."""

    host: str
    port: int
    user: str
    dbname: str
    sslmode: str = "prefer"
    sslrootcert: str | None = None
    password: Secret | None = dataclasses.field(default=None, repr=False, compare=False)

    @property
    def is_socket(self) -> bool:
        """Whether `host` is the directory of a Unix socket."""
        return self.host.startswith("/")

    def display(self) -> str:
        """The URL without its password: for messages, reports and logs."""
        user, database = quote(self.user, safe=""), quote(self.dbname, safe="")
        if self.is_socket:
            query = urlencode({"host": self.host, "port": self.port}, safe="/")
            return f"postgres://{user}@/{database}?{query}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"postgres://{user}@{host}:{self.port}/{database}"

    def __str__(self) -> str:
        return self.display()

    def engine_target(self, application_name: str, connect_timeout_ns: int) -> dict[str, Any]:
        """The `target` of the engine's specs (docs/architecture.md): without the password, which goes beside it."""
        return {
            "host": self.host,
            "port": self.port,
            "user": self.user,
            "dbname": self.dbname,
            "sslmode": self.sslmode,
            "sslrootcert": self.sslrootcert,
            "application_name": application_name,
            "connect_timeout_ns": connect_timeout_ns,
        }

    def connect_arguments(self) -> dict[str, Any]:
        """Keyword arguments for `psycopg.connect`, with the password revealed: pass them on, keep them nowhere.

        Every key that an environment variable could fill is given, so that what was parsed is what is used.
        """
        return {
            "host": self.host,
            "port": self.port,
            "user": self.user,
            "dbname": self.dbname,
            "password": self.password.reveal() if self.password else "",
            "sslmode": "disable" if self.is_socket else self.sslmode,
            "sslrootcert": self.sslrootcert or "",
            "gssencmode": "disable",
            "target_session_attrs": "any",
            "options": "",
            "passfile": "/dev/null/none",  # ours was read already; libpq says nothing of a file that is absent
            "client_encoding": "UTF8",
            "application_name": "dbdyno",
        }
