"""The machine record of a real server on this machine."""

from __future__ import annotations

import json
import os
import platform

import pytest

from dbdyno.probes.machine import machine_record
from dbdyno.targets.embedded import EmbeddedServer
from dbdyno.targets.external import ExternalServer

pytestmark = pytest.mark.server


def test_record(server: EmbeddedServer) -> None:
    """Every key of docs/run-directory.md is there, it is JSON, and the host's name is not in it."""
    record = machine_record([server], {"flush_time_ns_p50": 812_345})
    assert record.keys() == {
        *("host", "cpus", "cpu_model", "memory_bytes", "kernel", "virtualisation"),
        *("data_directory", "server", "servers", "warnings"),
    }
    assert record["cpus"] == len(os.sched_getaffinity(0))
    assert record["kernel"] == platform.release()
    assert record["data_directory"].keys() == {
        *("file_system", "device", "rotational", "mount_options", "flush_time_ns_p50"),
    }
    assert record["data_directory"]["flush_time_ns_p50"] == 812_345
    assert record["server"]["embedded"]
    assert record["server"]["same_host"]
    assert record["server"]["version"] == server.server_version
    assert record["server"]["settings"]["max_connections"] == "50"
    assert platform.node() not in json.dumps(record, allow_nan=False)
    assert record["host"] == machine_record([server], {})["host"]


def test_record_of_an_external_server(server: EmbeddedServer) -> None:
    """Its storage is found by its process, where that may be seen; its flush time is not measured."""
    with ExternalServer(server.endpoint) as target:
        record = machine_record([target], {})
    assert not record["server"]["embedded"]
    assert record["server"]["same_host"]
    assert record["data_directory"]["flush_time_ns_p50"] is None


def test_tmpfs_is_warned_of(cache: object) -> None:
    """A data directory in memory runs, and says so."""
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory(dir="/dev/shm") as directory:
        Path(directory).chmod(0o755)
        with EmbeddedServer(data_dir=Path(directory)) as server:
            record = machine_record([server], {"flush_time_ns_p50": 1_000})
    assert "tmpfs" in [warning["code"] for warning in record["warnings"]]
    assert record["data_directory"]["file_system"] == "tmpfs"
