"""From a URL to an endpoint, filled in as libpq does: the URL, then its service, then PG* variables, then defaults.

The documentation that this follows: "Connection Service File", "Environment Variables" and "Password File" in the
libpq chapter of PostgreSQL's manual.
"""

from __future__ import annotations

import configparser
import getpass
import stat
from collections.abc import Mapping
from pathlib import Path

from dbdyno.errors import DynoError
from dbdyno.targets.endpoint import Endpoint
from dbdyno.targets.secret import Secret
from dbdyno.targets.url import UrlParts, accepted, check_values, parse_url

DEFAULT_PORT = "5432"

_VARIABLES = {
    "host": "PGHOST",
    "port": "PGPORT",
    "user": "PGUSER",
    "dbname": "PGDATABASE",
    "sslmode": "PGSSLMODE",
    "sslrootcert": "PGSSLROOTCERT",
    "service": "PGSERVICE",
    "passfile": "PGPASSFILE",
}
# Where PostgreSQL's own build and Debian's packages put the socket.
_SOCKET_DIRECTORIES = (Path("/var/run/postgresql"), Path("/tmp"))


def resolve(url: str, environment: Mapping[str, str]) -> Endpoint:
    """The endpoint that `url` means here. Raises `DynoError("bad_target")`."""
    parts = parse_url(url)
    service, service_password = _service(parts, environment)
    given = service | parts.values
    variables = {key: environment[name] for key, name in _VARIABLES.items() if environment.get(name)}
    unset = {key: value for key, value in variables.items() if key not in given}
    check_values(unset, "target, from a PG* variable")
    values = unset | given
    port = values.get("port", DEFAULT_PORT)
    host = values.get("host") or _default_host(port)
    user = values.get("user") or getpass.getuser()
    dbname = values.get("dbname") or user
    sslmode = values.get("sslmode", "prefer")
    password = parts.password or service_password or _password(environment, values, (host, port, dbname, user))
    root = None if host.startswith("/") else _root_certificate(sslmode, values.get("sslrootcert"), environment)
    return Endpoint(host, int(port), user, dbname, sslmode, root, password)


def _default_host(port: str) -> str:
    for directory in _SOCKET_DIRECTORIES:
        if (directory / f".s.PGSQL.{port}").exists():
            return str(directory)
    return "localhost"


def _home(environment: Mapping[str, str]) -> Path:
    return Path(environment.get("HOME") or "/")


def _service(parts: UrlParts, environment: Mapping[str, str]) -> tuple[dict[str, str], Secret | None]:
    name = parts.values.get("service") or environment.get("PGSERVICE")
    if not name:
        return {}, None
    for path in _service_files(environment):
        reader = configparser.RawConfigParser(
            delimiters=("=",), comment_prefixes=("#",), default_section="", interpolation=None, strict=False
        )
        try:
            reader.read_string(path.read_text())
        except OSError:
            continue
        except (configparser.Error, UnicodeDecodeError) as error:
            raise DynoError("bad_target", f"service file {path}: not readable as [NAME] and key=value lines") from error
        if reader.has_section(name):
            return _service_values(dict(reader.items(name)), name, path)
    raise DynoError("bad_target", f"service {name!r}: in none of the service files; add it to ~/.pg_service.conf")


def _service_files(environment: Mapping[str, str]) -> list[Path]:
    own = environment.get("PGSERVICEFILE")
    files = [Path(own) if own else _home(environment) / ".pg_service.conf"]
    if system := environment.get("PGSYSCONFDIR"):
        files.append(Path(system) / "pg_service.conf")
    return files


def _service_values(found: dict[str, str], name: str, path: Path) -> tuple[dict[str, str], Secret | None]:
    origin = f"service {name!r} in {path}"
    values = accepted(found, origin)
    password = values.pop("password", None)
    check_values(values, origin)
    return values, Secret(password) if password else None


def _password(
    environment: Mapping[str, str], values: Mapping[str, str], wanted: tuple[str, str, str, str]
) -> Secret | None:
    if given := environment.get("PGPASSWORD"):
        return Secret(given)
    path = Path(values.get("passfile") or _home(environment) / ".pgpass")
    try:
        lines = path.read_text().splitlines()
        mode = path.stat().st_mode
    except (OSError, UnicodeDecodeError):
        return None
    found = password_of(lines, wanted)
    if found is not None and mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise DynoError(
            "bad_target", f"password file {path}: mode {stat.S_IMODE(mode):04o} lets others in; chmod 600 {path}"
        )
    return found


def password_of(lines: list[str], wanted: tuple[str, str, str, str]) -> Secret | None:
    """The password of the first line `host:port:database:user:password` that fits; `*` fits all, `\\` escapes."""
    host, port, dbname, user = wanted
    hosts = (host, "localhost") if Path(host) in _SOCKET_DIRECTORIES else (host,)
    for line in lines:
        fields = _fields(line)
        if line.startswith("#") or len(fields) < 5:
            continue
        fits = fields[0] in ("*", *hosts)
        if fits and all(field in ("*", value) for field, value in zip(fields[1:4], (port, dbname, user), strict=True)):
            return Secret(fields[4])
    return None


def _fields(line: str) -> list[str]:
    fields, current, escaped = [], "", False
    for character in line:
        if escaped or character not in "\\:":
            current, escaped = current + character, False
        elif character == "\\":
            escaped = True
        else:
            fields.append(current)
            current = ""
    return [*fields, current]


def _root_certificate(sslmode: str, given: str | None, environment: Mapping[str, str]) -> str | None:
    """The file of trusted roots. Like libpq, one in ~/.postgresql is used when it is there."""
    if given == "system" or sslmode in ("disable", "prefer"):
        return given
    path = Path(given) if given else _home(environment) / ".postgresql" / "root.crt"
    if path.is_file():
        return str(path)
    if given or sslmode != "require":
        raise DynoError(
            "bad_target", f"sslrootcert {path}: no such file; name the CA's certificate, or give sslrootcert=system"
        )
    return None
