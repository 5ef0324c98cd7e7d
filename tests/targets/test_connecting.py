"""Every way in which a connection fails is one line with its own code."""

from __future__ import annotations

import psycopg
import pytest

from dbdyno.targets.connecting import connection_failure
from dbdyno.targets.endpoint import Endpoint
from dbdyno.targets.secret import Secret

ENDPOINT = Endpoint("h", 5432, "u", "d", password=Secret("hunter2x"))
AT = 'connection failed: connection to server at "1.2.3.4", port 5432 failed: '


@pytest.mark.parametrize(
    ("text", "code", "cause"),
    [
        (
            AT + 'FATAL:  password authentication failed for user "u"',
            "wrong_password",
            "password authentication failed",
        ),
        (AT + "fe_sendauth: no password supplied", "wrong_password", "fe_sendauth: no password supplied"),
        (AT + 'FATAL:  database "d" does not exist', "unknown_database", 'database "d" does not exist'),
        (AT + 'FATAL:  role "u" does not exist', "unknown_user", 'role "u" does not exist'),
        (AT + 'FATAL:  no pg_hba.conf entry for host "1", SSL off', "not_admitted", "no pg_hba.conf entry"),
        (AT + "server does not support SSL, but SSL was required", "tls_failed", "server does not support SSL"),
        (
            f'{AT}FATAL:  password authentication failed for user "u"\n{AT}FATAL:  no pg_hba.conf entry, no encryption',
            "wrong_password",
            'd: password authentication failed for user "u"; check the user and the password',
        ),
        (
            AT + "received invalid response to SSL negotiation: H",
            "not_a_server",
            "negotiation: H; what answers there is no",
        ),
        (AT + "expected authentication request from server, but received J", "not_a_server", "but received J; what"),
        (AT + "SSL error: certificate verify failed", "tls_failed", "certificate verify failed"),
        (AT + "Connection refused\n\tIs the server running on that host?", "unreachable", "Connection refused"),
        ("failed to resolve host 'h': [Errno -2] Name or service not known", "unreachable", "failed to resolve"),
        ("connection timeout expired", "unreachable", "connection timeout expired"),
        (AT + "FATAL:  sorry, too many clients already", "connection_failed", "sorry, too many clients already"),
        (AT + "FATAL:  le mot de passe est faux", "connection_failed", "le mot de passe est faux"),
        ("", "connection_failed", "no reason given"),
    ],
)
def test_failure(text: str, code: str, cause: str) -> None:
    """The code is stable; the line names the target and the cause, and ends with a fix."""
    error = connection_failure(ENDPOINT, psycopg.OperationalError(text))
    assert (error.code, error.exit_code) == (code, 2)
    assert error.message.startswith("target postgres://u@h:5432/d: ")
    assert cause in error.message
    assert "; " in error.message
    assert "\n" not in error.message
    assert "hunter2x" not in error.message
