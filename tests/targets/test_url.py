"""A target's URL becomes an endpoint as libpq would read it, or one line that never shows a password."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbdyno.errors import DynoError
from dbdyno.targets.defaults import password_of, resolve
from dbdyno.targets.endpoint import Endpoint
from dbdyno.targets.secret import Secret

CANARY = "hunter2x"


def resolved(url: str, **environment: str) -> Endpoint:
    return resolve(url, {"HOME": "/nonexistent", "PGUSER": "me", **environment})


GOOD = [
    # url, host, port, user, dbname, sslmode, password
    ("postgres://u@h/d", "h", 5432, "u", "d", "prefer", None),
    ("postgresql://u@h/d", "h", 5432, "u", "d", "prefer", None),
    ("postgres://u:p@h:6543/d", "h", 6543, "u", "d", "prefer", "p"),
    ("postgres://h", "h", 5432, "me", "me", "prefer", None),
    ("postgres://u@h", "h", 5432, "u", "u", "prefer", None),
    ("postgres://u@h/", "h", 5432, "u", "u", "prefer", None),
    ("postgres://:p@h/d", "h", 5432, "me", "d", "prefer", "p"),
    ("postgres://u:@h/d", "h", 5432, "u", "d", "prefer", None),
    ("postgres://u:a:b@h/d", "h", 5432, "u", "d", "prefer", "a:b"),
    ("postgres://u:p%40%2F%3F%25@h/d", "h", 5432, "u", "d", "prefer", "p@/?%"),
    ("postgres://u:a+b@h/d", "h", 5432, "u", "d", "prefer", "a+b"),
    ("postgres://u%40corp@h/my%20db", "h", 5432, "u@corp", "my db", "prefer", None),
    ("postgres://u@[::1]:5433/d", "::1", 5433, "u", "d", "prefer", None),
    ("postgres://u@[fe80::1]/d", "fe80::1", 5432, "u", "d", "prefer", None),
    ("postgres:///d?host=/run/pg", "/run/pg", 5432, "me", "d", "prefer", None),
    ("postgres://u@/d?host=/run/pg&port=5440", "/run/pg", 5440, "u", "d", "prefer", None),
    ("postgres://%2Frun%2Fpg/d", "/run/pg", 5432, "me", "d", "prefer", None),
    ("postgres://h/d?user=u&password=p%26q", "h", 5432, "u", "d", "prefer", "p&q"),
    ("postgres://h/d?user=u&password=a@b", "h", 5432, "u", "d", "prefer", "a@b"),
    ("postgres://u@h/d?sslmode=disable", "h", 5432, "u", "d", "disable", None),
    ("postgres://u@h/d?sslmode=require", "h", 5432, "u", "d", "require", None),
    ("postgres://u@h/d?ssl=true", "h", 5432, "u", "d", "require", None),
    ("postgres://u@h/d?sslmode=verify-full&sslrootcert=system", "h", 5432, "u", "d", "verify-full", None),
    ("postgres://u@h/d?application_name=x&connect_timeout=3", "h", 5432, "u", "d", "prefer", None),
    ("postgres://u@h/d?gssencmode=disable&channel_binding=prefer", "h", 5432, "u", "d", "prefer", None),
    ("postgres://u@a/d?host=b&dbname=e&port=1", "b", 1, "u", "e", "prefer", None),
]


@pytest.mark.parametrize(("url", "host", "port", "user", "dbname", "sslmode", "password"), GOOD)
def test_good_url(url: str, host: str, port: int, user: str, dbname: str, sslmode: str, password: str | None) -> None:
    """Every part of the URL lands in its field, percent-decoded."""
    endpoint = resolved(url)
    assert (endpoint.host, endpoint.port, endpoint.user) == (host, port, user)
    assert (endpoint.dbname, endpoint.sslmode) == (dbname, sslmode)
    assert endpoint.password == (None if password is None else Secret(password))


BAD = [
    # url, what the message must name
    (f"h:5432/{CANARY}", "not a URL"),
    (f"host=h password={CANARY}", "not a URL"),
    (f"mysql://u:{CANARY}@h/d", "mysql:// is not supported"),
    (f"POSTGRES_{CANARY}://u@h/d", "its scheme:// is not supported"),
    ("postgres://u@h:0/d", "port 0: outside 1 to 65535"),
    ("postgres://u@h:70000/d", "port 70000: outside 1 to 65535"),
    ("postgres://u@h:-1/d", "port: not a port number"),
    (f"postgres://u:{CANARY}", "port: not a port number"),
    ("postgres://u:123456789", "port: not a port number"),
    (f"postgres://u:a/{CANARY}@h/d", "%2F"),
    (f"postgres://u:a@{CANARY}@h/d", "%40"),
    (f"postgres://u:a?{CANARY}@h/d", "%3F"),
    (f"postgres://u:a?{CANARY}/x@h/d", "port: not a port number"),
    (f"postgres://u:1?password={CANARY}@h/d", "%3F"),
    (f"postgres://u:{CANARY}%@h/d", "password: a '%'"),
    (f"postgres://u:{CANARY}%zz@h/d", "password: a '%'"),
    (f"postgres://u:{CANARY}%00@h/d", "password: a '%'"),
    (f"postgres://u:{CANARY}%ff@h/d", "password: its %XX codes are not UTF-8"),
    ("postgres://u@::1/d", "brackets"),
    ("postgres://u@[::1/d", "brackets"),
    ("postgres://u@[::1]5432/d", "brackets"),
    ("postgres://u@a,b/d", "a list of hosts"),
    ("postgres:///d?host=a,b", "a list of hosts"),
    (f"postgres://u@h/d?password=x&{CANARY}", "has no '='"),
    (f"postgres://u@h/d?passwrod={CANARY}", "passwrod: not a key"),
    (f"postgres://u@h/d?password=a&{CANARY}=b", "a key: not a key"),
    ("postgres://u@h/d?sslmode=allow", "sslmode: 'allow'; use one of disable, prefer"),
    ("postgres://u@h/d?sslmode=", "sslmode: an unknown mode"),
    ("postgres://u@h/d?sslcert=/x", "sslcert: not a key"),
    ("postgres://u@h/d?hostaddr=1.2.3.4", "hostaddr: not a key"),
    ("postgres://u@h/d?options=-cx%3D1", "options: not a key"),
    ("postgres://u@h/d?channel_binding=require", "channel_binding: only disable or prefer"),
    ("postgres://u@h/d?target_session_attrs=primary", "target_session_attrs: only any"),
    ("postgres://u@h/d?port=abc", "port: not a port number"),
    ("postgres://u@h/d?sslmode=verify-ca", "sslrootcert /nonexistent/.postgresql/root.crt: no such file"),
    ("postgres://u@h/d?sslmode=verify-full&sslrootcert=/no/ca.crt", "sslrootcert /no/ca.crt: no such file"),
    ("postgres://u@h/d?service=nowhere", "service 'nowhere'"),
]


@pytest.mark.parametrize(("url", "named"), BAD)
def test_bad_url(url: str, named: str) -> None:
    """One line that names the key and the fix, with exit code 2 and nothing that could be a password."""
    with pytest.raises(DynoError) as caught:
        resolved(url)
    error = caught.value
    assert (error.code, error.exit_code) == ("bad_target", 2)
    assert named in error.message
    assert "\n" not in error.message
    assert CANARY not in error.message


def test_password_is_in_no_text() -> None:
    """Neither repr, str nor display of an endpoint holds the password; the client library's arguments do."""
    endpoint = resolved(f"postgres://u:{CANARY}@h/d")
    assert CANARY not in f"{endpoint!r} {endpoint} {endpoint.display()}"
    assert endpoint.connect_arguments()["password"] == CANARY


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgres://u:p@h:1/d", "postgres://u@h:1/d"),
        ("postgres://u%40x@[::1]/d%20e", "postgres://u%40x@[::1]:5432/d%20e"),
        ("postgres:///d?host=/run/pg", "postgres://me@/d?host=/run/pg&port=5432"),
    ],
)
def test_display_is_a_url_again(url: str, shown: str) -> None:
    """What is shown can be given back, and means the same endpoint."""
    endpoint = resolved(url)
    assert endpoint.display() == shown
    assert resolved(shown) == endpoint


def test_variables_fill_what_the_url_leaves_out() -> None:
    """PG* variables stand in for missing parts and never overrule given ones."""
    variables = {"PGHOST": "vh", "PGPORT": "7", "PGDATABASE": "vd", "PGPASSWORD": "vp", "PGSSLMODE": "require"}
    assert resolved("postgres://", **variables) == Endpoint("vh", 7, "me", "vd", "require")
    assert resolved("postgres://", **variables).password == Secret("vp")
    given = resolved("postgres://u:p@h:8/d?sslmode=disable", **variables)
    assert given == Endpoint("h", 8, "u", "d", "disable")
    assert given.password == Secret("p")


def test_bad_variable_matters_only_when_it_is_used() -> None:
    """A wrong PGSSLMODE is an error, unless the URL has an sslmode of its own."""
    assert resolved("postgres://h?sslmode=disable", PGSSLMODE="nonsense").sslmode == "disable"
    with pytest.raises(DynoError, match=r"from a PG\* variable: sslmode: 'nonsense'"):
        resolved("postgres://h", PGSSLMODE="nonsense")


def test_service(tmp_path: Path) -> None:
    """A service fills the URL's gaps, before the variables do; its password is a secret."""
    services = tmp_path / "services.conf"
    services.write_text(f"# mine\n[other]\nhost=o\n[lab]\nhost=sh\nport=5439\nuser=su\npassword={CANARY}\ndbname=sd\n")
    endpoint = resolved("postgres:///d?service=lab", PGSERVICEFILE=str(services), PGHOST="vh")
    assert endpoint == Endpoint("sh", 5439, "su", "d")
    assert endpoint.password == Secret(CANARY)
    assert resolved("postgres://", PGSERVICEFILE=str(services), PGSERVICE="other").host == "o"


def test_service_with_an_unknown_key(tmp_path: Path) -> None:
    """A service that asks for something that is not done is refused by name."""
    services = tmp_path / "services.conf"
    services.write_text("[lab]\nhost=sh\nsslkey=/x\n")
    with pytest.raises(DynoError, match=r"service 'lab' in .*: sslkey: not a key"):
        resolved("postgres:///d?service=lab", PGSERVICEFILE=str(services))


def test_password_file(tmp_path: Path) -> None:
    """~/.pgpass and PGPASSFILE are read; a password in the URL goes first."""
    passwords = tmp_path / ".pgpass"
    passwords.write_text(f"h:*:d:u:{CANARY}\n")
    passwords.chmod(0o600)
    assert resolved("postgres://u@h/d", HOME=str(tmp_path)).password == Secret(CANARY)
    assert resolved("postgres://u@h/d", PGPASSFILE=str(passwords)).password == Secret(CANARY)
    assert resolved("postgres://u:x@h/d", HOME=str(tmp_path)).password == Secret("x")
    assert resolved("postgres://u@h/e", HOME=str(tmp_path)).password is None


def test_open_password_file_is_refused(tmp_path: Path) -> None:
    """A password file that others can read is named with its mode and the fix, when its password would be used."""
    passwords = tmp_path / ".pgpass"
    passwords.write_text(f"h:*:*:*:{CANARY}\n")
    passwords.chmod(0o644)
    assert resolved("postgres://u@elsewhere/d", HOME=str(tmp_path)).password is None
    with pytest.raises(DynoError, match="mode 0644 lets others in; chmod 600") as caught:
        resolved("postgres://u@h/d", HOME=str(tmp_path))
    assert CANARY not in caught.value.message


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("h:5432:d:u:p", "p"),
        ("*:*:*:*:p", "p"),
        ("h:5432:d:u:p\\:q\\\\r", "p:q\\r"),
        ("h:5432:d:u:p:ignored", "p"),
        ("\\h:5432:d:u:p", "p"),
        ("# h:5432:d:u:p", None),
        ("h:5433:d:u:p", None),
        ("h:5432:d:u", None),
        ("", None),
    ],
)
def test_password_line(line: str, found: str | None) -> None:
    """A line fits by host, port, database and user; a backslash escapes."""
    secret = password_of([line], ("h", "5432", "d", "u"))
    assert secret == (None if found is None else Secret(found))


def test_default_socket_is_called_localhost() -> None:
    """In a password file the default socket directory goes by the name of localhost."""
    assert password_of(["localhost:*:*:*:p"], ("/tmp", "5432", "d", "u")) == Secret("p")
    assert password_of(["localhost:*:*:*:p"], ("/elsewhere", "5432", "d", "u")) is None


def test_trusted_root_in_the_home_directory(tmp_path: Path) -> None:
    """~/.postgresql/root.crt is used for require and verify-*, as libpq does, and not for prefer."""
    root = tmp_path / ".postgresql" / "root.crt"
    root.parent.mkdir()
    root.write_text("certificate")
    for mode, expected in (("require", str(root)), ("verify-ca", str(root)), ("prefer", None)):
        assert resolved(f"postgres://h?sslmode={mode}", HOME=str(tmp_path)).sslrootcert == expected
