"""An arm that a server's build cannot run is left out by name; a mistake is still a mistake."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_experiment import write_experiment

from dbdyno.design.experiment import load_experiment
from dbdyno.errors import DynoError
from dbdyno.runner.offered import value_not_offered
from dbdyno.runner.prepare import prepare_arms
from dbdyno.runner.servers import Servers
from dbdyno.targets.embedded import EmbeddedServer

pytestmark = pytest.mark.server

EXPERIMENT = """
question = "?"
baseline = { method = "plain" }
[workload]
schema = "none"
statement = "SELECT 1"
[factors.method]
plain = {}
session = { set = { wal_compression = "snappy" } }
server = { settings = { wal_compression = "Snappy" } }
role = { role = { default_toast_compression = "snappy" } }
"""


def offered(server: EmbeddedServer, name: str) -> str:
    """The words that the server's own list has."""
    with server.connect() as connection:
        row = connection.execute("SELECT array_to_string(enumvals, ', ') FROM pg_settings WHERE name = %s", [name])
        return str((row.fetchone() or [""])[0])


def test_an_arm_whose_value_the_build_lacks_is_left_out(server: EmbeddedServer, tmp_path: Path) -> None:
    """Set for the session, the server or the role."""
    experiment = load_experiment(
        write_experiment(tmp_path, EXPERIMENT + 'pglz = { set = { wal_compression = "pglz" } }')
    )
    prepared, left_out = prepare_arms(experiment, Servers({experiment.arms[0].server: server}), {})

    wal, toast = offered(server, "wal_compression"), offered(server, "default_toast_compression")
    assert [each.arm.name for each in prepared] == ["plain", "pglz"]
    assert {each.arm: each.reason for each in left_out} == {
        "session": f"needs wal_compression = snappy, and this server offers {wal}",
        "server": f"needs wal_compression = Snappy, and this server offers {wal}",
        "role": f"needs default_toast_compression = snappy, and this server offers {toast}",
    }


def test_a_number_out_of_range_is_an_error(server: EmbeddedServer, tmp_path: Path) -> None:
    """Nobody's build has it."""
    text = EXPERIMENT + 'much = { set = { work_mem = "-5" } }'
    experiment = load_experiment(write_experiment(tmp_path, text))

    with pytest.raises(DynoError, match=r"set\.work_mem = '-5': the server says: -5 kB is outside the valid range"):
        prepare_arms(experiment, Servers({experiment.arms[0].server: server}), {})


def test_words_for_on_and_off_are_aliases(server: EmbeddedServer) -> None:
    """The lists leave them out; letters' case does not matter, and other settings have no lists."""
    values = {"Wal_Compression": "true", "wal_level": "LOGICAL", "work_mem": "-5", "no.such": "x"}

    assert value_not_offered(server, values) is None
    assert value_not_offered(server, {}) is None
