"""TLS by sslmode, every way to log in, and another version of the server: on Debian's PostgreSQL 15, by its URL.

The control connection is libpq's, the load's is ours: what one takes the other must take, and refuse.
"""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from small_experiment import arm_of, command, run_experiment, trials_of, write_experiment

from dbdyno import engine
from dbdyno.errors import DynoError
from dbdyno.targets.account import server_account
from dbdyno.targets.defaults import resolve
from dbdyno.targets.embedded import EmbeddedServer
from dbdyno.targets.external import ExternalServer

pytestmark = pytest.mark.server

SERVER_BIN = Path(os.environ.get("DBDYNO_TEST_TLS_SERVER_BIN", "/usr/lib/postgresql/15/bin"))
PASSWORD = "canary-hunter2x"
LOGIN_RULES = """
local     all all    trust
hostssl   lab scram  127.0.0.1/32 scram-sha-256
hostssl   lab md5    127.0.0.1/32 md5
hostssl   lab trust  127.0.0.1/32 trust
hostnossl lab plain  127.0.0.1/32 scram-sha-256
"""
SMALL = """
question = "Does a second connection help?"
baseline = { clients = "one" }
[workload]
schema = "none"
script = "sleep.sql"
[design]
blocks = 2
reset = []
warm_up = "50 ms"
window = "500 ms"
[factors.clients]
one = { clients = 1 }
two = { clients = 2 }
"""


@dataclasses.dataclass(frozen=True)
class Lab:
    """A server with TLS, whose certificate is for the name localhost."""

    port: int
    certificates: Path

    def url(self, host: str, user: str, sslmode: str, root: str | None = None, password: str = PASSWORD) -> str:
        """`root` names one of our certificates."""
        trusted = f"&sslrootcert={self.certificates / root}" if root else ""
        return f"postgres://{user}:{password}@{host}:{self.port}/lab?sslmode={sslmode}{trusted}"


@pytest.fixture(scope="module")
def lab(cache: Path, free_port: int) -> Iterator[Lab]:
    if not (SERVER_BIN / "postgres").exists() or not shutil.which("openssl"):
        pytest.skip(f"no server with TLS in {SERVER_BIN} (apt-get install postgresql-15), or no openssl")
    with EmbeddedServer(server_bin=SERVER_BIN, port=free_port) as server:
        cluster = server.data_directory / "cluster"
        make_certificates(cluster)
        server.execute(
            f"SET password_encryption = 'md5'; CREATE ROLE md5 LOGIN PASSWORD '{PASSWORD}';"
            f"SET password_encryption = 'scram-sha-256'; CREATE ROLE scram LOGIN PASSWORD '{PASSWORD}';"
            f"CREATE ROLE plain LOGIN PASSWORD '{PASSWORD}'; CREATE ROLE trust LOGIN"
        )
        server.execute("CREATE DATABASE lab")
        server.execute("ALTER SYSTEM SET listen_addresses = '127.0.0.1'")
        server.execute("ALTER SYSTEM SET ssl = on")
        (cluster / "pg_hba.conf").write_text(LOGIN_RULES)
        server.restart()
        yield Lab(free_port, cluster)


def make_certificates(directory: Path) -> None:
    """An authority and a server certificate of it for `localhost`, and an authority that nobody knows."""

    def openssl(arguments: str) -> None:
        subprocess.run(["openssl", *arguments.split()], cwd=directory, check=True, capture_output=True)

    new_key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
    (directory / "names").write_text("subjectAltName=DNS:localhost\n")
    openssl(f"req -x509 {new_key} -days 2 -subj /CN=authority -keyout root.key -out root.crt")
    openssl(f"req -x509 {new_key} -days 2 -subj /CN=stranger -keyout stranger.key -out stranger.crt")
    openssl(f"req {new_key} -subj /CN=localhost -keyout server.key -out server.csr")
    openssl(
        "x509 -req -in server.csr -CA root.crt -CAkey root.key -CAcreateserial -days 2 -extfile names -out server.crt"
    )
    for name in ("server.key", "server.crt"):
        (directory / name).chmod(0o600)
        server_account().own(directory / name)


def load(url: str) -> dict[str, Any]:
    """A short trial of the engine alone; fails unless it has TLS exactly where the user's rule says so."""
    endpoint = resolve(url, {"HOME": "/nonexistent"})
    wanted = "false" if endpoint.user == "plain" else "true"
    text = f"SELECT 1 / (ssl = {wanted})::int FROM pg_stat_ssl WHERE pid = pg_backend_pid();"
    return engine.run_trial(
        {
            "target": {
                **{"host": endpoint.host, "port": endpoint.port, "user": endpoint.user, "dbname": endpoint.dbname},
                **{"sslmode": endpoint.sslmode, "sslrootcert": endpoint.sslrootcert},
            },
            "scripts": [{"name": "tls.sql", "text": text}],
            "clients": 2,
            "arrival": {"kind": "closed"},
            "seed": 1,
            "warm_up_ns": 0,
            "window_ns": 200_000_000,  # long enough for a unit on a busy machine
            "waits": {"route": "off"},
        },
        endpoint.password.reveal() if endpoint.password else None,
    )


WORKS = [
    *(("127.0.0.1", user, sslmode, None) for user in ("scram", "md5", "trust") for sslmode in ("prefer", "require")),
    *(("127.0.0.1", user, "verify-ca", "root.crt") for user in ("scram", "md5", "trust")),
    *(("localhost", user, "verify-full", "root.crt") for user in ("scram", "md5", "trust")),
    ("127.0.0.1", "scram", "require", "root.crt"),
    ("127.0.0.1", "plain", "disable", None),
    ("127.0.0.1", "plain", "prefer", None),
]


@pytest.mark.parametrize(("host", "user", "sslmode", "root"), WORKS)
def test_both_connections_are_made(lab: Lab, host: str, user: str, sslmode: str, root: str | None) -> None:
    """The control connection and the load's."""
    url = lab.url(host, user, sslmode, root)
    with ExternalServer(resolve(url, {"HOME": "/nonexistent"})) as target:
        assert target.server_version_number // 10000 == 15

    assert load(url)["units"]["successful"] > 0


REFUSED = [
    ("127.0.0.1", "trust", "disable", None, "no pg_hba.conf entry"),
    ("127.0.0.1", "plain", "require", None, "no pg_hba.conf entry"),
    ("127.0.0.1", "trust", "require", "stranger.crt", "certificate verify failed"),
    ("127.0.0.1", "trust", "verify-ca", "stranger.crt", "certificate verify failed"),
    ("127.0.0.1", "trust", "verify-full", "root.crt", 'does not match host name "127.0.0.1"'),
    ("localhost", "trust", "verify-full", "stranger.crt", "certificate verify failed"),
]


@pytest.mark.parametrize(("host", "user", "sslmode", "root", "named"), REFUSED)
def test_both_connections_are_refused(
    lab: Lab, host: str, user: str, sslmode: str, root: str | None, named: str
) -> None:
    """Each with exit code 2 and one line; the first is what a user of the program sees."""
    url = lab.url(host, user, sslmode, root)
    with pytest.raises(DynoError) as control, ExternalServer(resolve(url, {"HOME": "/nonexistent"})):
        pass
    with pytest.raises(DynoError) as ours:
        load(url)

    assert named in control.value.message
    for error in (control.value, ours.value):
        assert error.exit_code == 2
        assert f"{host}:{lab.port}" in error.message
        assert "hunter2x" not in error.message
        assert "\n" not in error.message


@pytest.mark.parametrize("user", ["scram", "md5"])
@pytest.mark.parametrize("sslmode", ["prefer", "require"])
def test_a_wrong_password_is_one_line(lab: Lab, tmp_path: Path, user: str, sslmode: str) -> None:
    """From the whole program, and from the engine by itself."""
    url = lab.url("127.0.0.1", user, sslmode, password="wrong-hunter2x")
    experiment = write_experiment(tmp_path, SMALL, {"sleep.sql": "SELECT pg_sleep(0.01);\n"})

    done = subprocess.run(
        command("run", experiment, "--out", tmp_path / "run", "--target", url),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    with pytest.raises(DynoError) as ours:
        load(url)

    assert done.returncode == 2
    assert done.stdout == ""
    lines = [line for line in done.stderr.splitlines() if line.startswith("dbdyno: ")]
    assert len(lines) == 1
    for message in (lines[0], ours.value.message):
        assert f'password authentication failed for user "{user}"' in message
        assert "hunter2x" not in message


def test_a_run_on_another_version_reads_the_waits_from_its_memory(lab: Lab, tmp_path: Path) -> None:
    """The whole program through TLS and SCRAM, and the names of version 15; root may map the memory, others copy it."""
    experiment = write_experiment(tmp_path, SMALL, {"sleep.sql": "SELECT pg_sleep(0.01);\n"})
    url = lab.url("localhost", "scram", "verify-full", "root.crt")

    findings = run_experiment(experiment, tmp_path / "run", "--target", url)

    profiles = [trial["outcome"]["profile"] for trial in trials_of(tmp_path / "run")]
    assert {profile["route"] for profile in profiles} == {"mapped" if os.getuid() == 0 else "contiguous"}
    assert arm_of(findings, "two")["profile_ns"]["waits"]["Timeout:PgSleep"] >= 5e6
    assert "hunter2x" not in json.dumps(findings)
