"""A guarded server's session: it reads, each question has a limit, and it can be woken from another thread."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Mapping
from types import TracebackType

import psycopg

from dbdyno.calibration.guard import GuardFailed
from dbdyno.errors import DynoError
from dbdyno.targets.connecting import connect
from dbdyno.targets.defaults import resolve

APPLICATION_NAME = "dbdyno guard"
USUAL_STATEMENT = "SELECT 1"
_SETTINGS = {
    "default_transaction_read_only": "on",
    "statement_timeout": "2s",
    "lock_timeout": "2s",
    "jit": "off",
}


class GuardSession:
    """One session, which asks one statement again and again. Use as a context manager; `DynoError` where none can be.

    Args:
        url: a postgres:// URL; it may hold a password, which is in no text of this class.
        statement: what is asked; prepared, so it can be no more than one.
    """

    def __init__(self, url: str, statement: str, environment: Mapping[str, str] = os.environ) -> None:
        self.statement = statement
        try:
            self._endpoint = resolve(url, environment)
            self._session = connect(self._endpoint, APPLICATION_NAME, _SETTINGS)
        except DynoError as error:
            raise DynoError(error.code, _of_the_flag(error.message)) from None
        # A copy: closing the session elsewhere must not let another file take the number.
        self._socket = socket.socket(fileno=os.dup(self._session.fileno()))

    @property
    def name(self) -> str:
        """The URL without its password."""
        return self._endpoint.display()

    def ask(self) -> None:
        """Raises `GuardFailed`."""
        try:
            self._session.execute(self.statement.encode(), prepare=True)
        except psycopg.Error as error:
            lines = str(error).strip().splitlines() or [type(error).__name__]
            raise GuardFailed(lines[0]) from None

    def wake(self) -> None:
        """The connection is of no use afterwards."""
        with contextlib.suppress(OSError):  # it is gone already
            self._socket.shutdown(socket.SHUT_RDWR)

    def __enter__(self) -> GuardSession:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.wake()
        self._socket.close()
        self._session.close()


def _of_the_flag(message: str) -> str:
    """Messages about a target's URL begin with that word; here it is another flag's."""
    named, target, rest = message.partition("target")
    return f"--guard{rest}" if target and not named else f"--guard: {message}"
