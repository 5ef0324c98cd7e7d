"""What a session of an arm sees of the experiment's settings, on a server and as a user with few rights."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest
from small_experiment import write_experiment

from dbdyno.design.experiment import Experiment, load_experiment
from dbdyno.runner.prepare import Prepared, session_statements
from dbdyno.runner.read_back import ReadBack, read_back
from dbdyno.targets.embedded import EmbeddedServer
from dbdyno.targets.external import ExternalServer
from dbdyno.targets.target import Target

pytestmark = pytest.mark.server

EXPERIMENT = """
question = "?"
baseline = { memory = "little" }
[workload]
schema = "none"
statement = "SELECT 1"
[factors.memory]
little = { set = { work_mem = 1024 } }
much = { set = { work_mem = "1GB" }, expect = { settings = EXPECTED } }
"""


def seen(target: Target, directory: Path, expected: str, session: dict[str, str]) -> ReadBack:
    """By a client of the second arm that says `session`, whatever the arm asked for."""
    experiment: Experiment = load_experiment(write_experiment(directory, EXPERIMENT.replace("EXPECTED", expected)))
    asked = Prepared(experiment.arms[1], {"work_mem": "1GB"}, {}, {})
    return read_back(target, experiment, asked, session_statements(session))


def test_values_are_compared_by_their_meaning(server: EmbeddedServer, tmp_path: Path) -> None:
    """Of settings that a session may set, and of those that it may not."""
    expected = '{ shared_buffers = "131072kB", wal_level = "Replica", log_checkpoints = true, jit = "yes" }'
    found = seen(server, tmp_path, expected, {"work_mem": "1048576kB"})

    assert list(found.deviations) == []
    assert found.record()["settings"]["work_mem"] == "1GB"


def test_what_is_not_so_is_named(server: EmbeddedServer, tmp_path: Path) -> None:
    """What the arm set, what it expects, and what this server does not know."""
    expected = '{ shared_buffers = "1GB", statement_timeout = "2s", no_such_setting = 1 }'
    found = seen(server, tmp_path, expected, {"statement_timeout": "1000ms"})

    assert list(found.deviations) == [
        "work_mem: set to 1GB, the session says 4MB",
        "shared_buffers: expected 1GB, the session says 128MB",
        "statement_timeout: expected 2s, the session says 1s",
        "no_such_setting: expected 1, a session sees no such setting",
    ]
    assert "no_such_setting" not in found.record()["settings"]


def test_a_value_in_a_file_says_what_it_waits_for(server: EmbeddedServer, tmp_path: Path) -> None:
    """A reload, a restart, and a restart that the server itself announces."""
    expected = '{ max_wal_size = "2GB", max_connections = 60 }'
    server.execute("ALTER SYSTEM SET max_wal_size = '2048MB'")
    server.execute("ALTER SYSTEM SET max_connections = 60")
    try:
        written = seen(server, tmp_path, expected, {"work_mem": "1GB"})
        server.execute("SELECT pg_reload_conf()")
        server.restart()
        server.execute("ALTER SYSTEM SET max_connections = 70")
        server.execute("SELECT pg_reload_conf(), pg_sleep(0.2)")
        announced = seen(server, tmp_path, expected, {"work_mem": "1GB"})
    finally:
        server.execute("ALTER SYSTEM RESET max_wal_size")
        server.execute("ALTER SYSTEM RESET max_connections")
        server.restart()

    assert list(written.deviations) == [
        "max_wal_size: expected 2GB, the session says 1GB; it waits for a reload",
        "max_connections: expected 60, the session says 50; it waits for a restart",
    ]
    assert list(announced.deviations) == ["max_connections: the session says 60; another value waits for a restart"]
    assert announced.record()["setting_origins"]["max_connections"]["pending_restart"] is True


@pytest.fixture
def visitor(server: EmbeddedServer) -> Iterator[ExternalServer]:
    """The same server, to a user without any right."""
    server.execute("CREATE ROLE visitor LOGIN")
    with ExternalServer(dataclasses.replace(server.endpoint, user="visitor")) as external:
        yield external
    server.execute("DROP ROLE visitor")


def test_what_this_user_may_not_see_is_absent(visitor: ExternalServer, tmp_path: Path) -> None:
    """No failure, and the others are there."""
    found = seen(visitor, tmp_path, '{ config_file = "x", jit = false }', {"work_mem": "1GB"})

    assert found.record()["settings"] == {"work_mem": "1GB", "jit": "on"}
    assert list(found.deviations) == [
        "config_file: expected x, a session sees no such setting",
        "jit: expected off, the session says on",
    ]


def test_counters_need_no_right(visitor: ExternalServer) -> None:
    """All are the public's, and reading them works in a session that may only read."""
    assert {"buffer_hits", "rows_inserted", "wal_bytes", "checkpoints"} <= visitor.counters().keys()
