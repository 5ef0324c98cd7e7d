"""The text of a target URL, taken apart: connection keys and their values, and nothing filled in yet.

```
postgres://user:password@host:port/dbname?key=value&key=value
postgresql://%2Frun%2Fpostgresql/dbname          the directory of a Unix socket
postgres:///dbname?host=/run/postgresql          the same
```

A URL may hold a password in places where none belongs (an unencoded `/` or `@` moves it into the host or the port), so
no message here repeats a part of the URL that could be one.
"""

from __future__ import annotations

import dataclasses
import re
from urllib.parse import unquote

from dbdyno.errors import DynoError
from dbdyno.targets.endpoint import SSL_MODES
from dbdyno.targets.secret import Secret

SCHEMES = ("postgres", "postgresql")

_KEYS = ("host", "port", "user", "password", "dbname", "sslmode", "sslrootcert", "service", "passfile")
# Keys that change nothing here: dbdyno names itself, and has its own limits.
_IGNORED = ("application_name", "fallback_application_name", "connect_timeout", "client_encoding", "keepalives")
# Keys whose harmless values are what happens anyway.
_HARMLESS = {
    "gssencmode": ("disable", "prefer"),
    "channel_binding": ("disable", "prefer"),
    "target_session_attrs": ("any",),
    "sslcompression": ("0",),
}
_SHAPE = "postgres://USER:PASSWORD@HOST:PORT/DATABASE"


@dataclasses.dataclass(frozen=True, slots=True)
class UrlParts:
    """Connection keys as the URL gives them; a key that it leaves out is absent."""

    values: dict[str, str]
    password: Secret | None = dataclasses.field(default=None, repr=False)


def parse_url(url: str) -> UrlParts:
    """Take `url` apart. Raises `DynoError("bad_target")` on the first thing that is wrong."""
    scheme, separator, rest = url.partition("://")
    if not separator:
        raise _bad(f"not a URL; write {_SHAPE}")
    if scheme not in SCHEMES:
        shown = scheme if re.fullmatch(r"[a-z][a-z0-9+.-]{0,20}", scheme) else "its scheme"
        raise _bad(f"{shown}:// is not supported; write {_SHAPE}")
    credentials, place = _split_credentials(rest)
    server, _, query = place.partition("?")
    if "@" in server:
        raise _bad("user or password: an unencoded '@' or '/'; write them as %40 and %2F")
    server, _, dbname = server.partition("/")
    values = _credentials(credentials) | _server(server)
    if dbname:
        values["dbname"] = _decoded(dbname, "dbname")
    check_values(values, "target")
    values |= accepted(_query(query), "target")
    check_values(values, "target")
    password = values.pop("password", None)
    return UrlParts(values, Secret(password) if password else None)


def _split_credentials(rest: str) -> tuple[str, str]:
    """What stands before the first '@', if that comes before the first '/', and what stands after."""
    if "@" not in rest.partition("/")[0]:
        return "", rest
    credentials, _, place = rest.partition("@")
    if "?" in credentials:  # libpq takes it, but then half a password could pass for a host name
        raise _bad("user or password: an unencoded '?'; write it as %3F")
    return credentials, place


def _credentials(credentials: str) -> dict[str, str]:
    user, colon, password = credentials.partition(":")
    values = {"user": _decoded(user, "user")} if user else {}
    if colon:
        values["password"] = _decoded(password, "password")
    return values


def _server(server: str) -> dict[str, str]:
    if server.startswith("["):
        host, bracket, rest = server[1:].partition("]")
        if not bracket or (rest and not rest.startswith(":")):
            raise _bad("host: an IPv6 address stands in brackets, e.g. [::1]:5432")
        port = rest[1:]
    else:
        host, _, port = server.partition(":")
        if ":" in port and re.fullmatch(r"[0-9a-fA-F:.]+", server):
            raise _bad(f"host {server}: an IPv6 address stands in brackets, e.g. [::1]:5432")
    return {key: _decoded(value, key) for key, value in (("host", host), ("port", port)) if value}


def _query(query: str) -> dict[str, str]:
    values = {}
    for part in query.split("&") if query else []:
        key, equals, value = part.partition("=")
        if not equals:
            raise _bad("a part after the '?' has no '='; write key=value, with '&' in a value as %26")
        name = _decoded(key, "a key after the '?'")
        values[name] = _decoded(value, name if name in _KEYS else "a value after the '?'")
    return values


def accepted(values: dict[str, str], origin: str) -> dict[str, str]:
    """The keys that matter here; one that asks for something that is not done is refused by name."""
    found = {}
    for name, value in values.items():
        if name in _KEYS:
            found[name] = value
        elif name == "ssl" and value == "true":
            found["sslmode"] = "require"
        elif name in _HARMLESS and value not in _HARMLESS[name]:
            raise _bad(f"{name}: only {' or '.join(_HARMLESS[name])} is supported; leave it out", origin)
        elif name not in _HARMLESS and name not in _IGNORED:
            shown = name if re.fullmatch(r"[a-z_]{1,30}", name) else "a key"
            raise _bad(f"{shown}: not a key that dbdyno knows; it knows {', '.join(_KEYS)}", origin)
    return found


def _decoded(text: str, key: str) -> str:
    if re.search(r"%(?![0-9a-fA-F]{2})|%00", text):
        raise _bad(f"{key}: a '%' that begins no %XX code; write the '%' itself as %25")
    try:
        return unquote(text, errors="strict")
    except UnicodeDecodeError as error:
        raise _bad(f"{key}: its %XX codes are not UTF-8; encode it again") from error


def check_values(values: dict[str, str], origin: str) -> None:
    """Raise unless port, host and sslmode are usable; `origin` says where they were read."""
    if "port" in values:
        _check_port(values["port"], origin)
    if "," in values.get("host", ""):
        raise _bad("host: a list of hosts; name the one server to measure", origin)
    mode = values.get("sslmode")
    if mode is not None and mode not in SSL_MODES:
        shown = repr(mode) if re.fullmatch(r"[a-z-]{1,20}", mode) else "an unknown mode"
        raise _bad(f"sslmode: {shown}; use one of {', '.join(SSL_MODES)}", origin)


def _check_port(text: str, origin: str) -> None:
    if not re.fullmatch(r"[0-9]{1,5}", text, re.ASCII):
        raise _bad(f"port: not a port number (not shown: it could be a password); write {_SHAPE}", origin)
    if not 1 <= int(text) <= 65535:
        raise _bad(f"port {text}: outside 1 to 65535", origin)


def _bad(message: str, origin: str = "target") -> DynoError:
    return DynoError("bad_target", f"{origin}: {message}")
