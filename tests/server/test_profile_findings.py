"""A profile of a real server under a planted load: the findings name what was planted, the parts add up."""

from __future__ import annotations

import json
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest
from small_experiment import command

from dbdyno.targets.embedded import EmbeddedServer

pytestmark = [pytest.mark.server, pytest.mark.timed]


def test_a_forgotten_transaction_is_found_by_name(server: EmbeddedServer, tmp_path: Path) -> None:
    """One session holds a row and sits there, another waits for it: nearly all database time, and a finding."""
    with server.connect() as holder:
        holder.execute("DROP TABLE IF EXISTS planted")
        holder.execute("CREATE TABLE planted AS SELECT 1 AS id")
        holder.execute("BEGIN")
        holder.execute("UPDATE planted SET id = 2")
        waiter = threading.Thread(target=update, args=(server,))
        waiter.start()
        profile = profiled(server, tmp_path / "profile")
        holder.execute("ROLLBACK")
        waiter.join()
        holder.execute("DROP TABLE planted")
        holder_pid = holder.info.backend_pid

    finding = next(found for found in profile["findings"] if found["code"] == "blocker_idle_in_transaction")
    assert f"Session {holder_pid}" in finding["sentence"]
    assert "public.planted" in finding["sentence"]
    assert f"pg_terminate_backend({holder_pid})" in finding["next"]
    share = next(wait["share"] for wait in profile["waits"] if wait["event"] == "Lock:transactionid")
    assert share["estimate"] > 0.9
    parts = profile["profile_ns"]
    known = [value for part, value in parts.items() if part not in ("queue", "waits")] + list(parts["waits"].values())
    assert sum(value for value in known if value is not None) == pytest.approx(profile["database_time_ns"]["estimate"])


def update(server: EmbeddedServer) -> None:
    """Wait for the row."""
    with server.connect() as session:
        session.execute("UPDATE planted SET id = 3")


def profiled(server: EmbeddedServer, out: Path) -> dict[str, Any]:
    """The findings of four seconds."""
    arguments = command("profile", server.endpoint.display(), "--seconds", "4", "--out", out, "--json")
    ended = subprocess.run(arguments, capture_output=True, text=True, timeout=60, check=True)
    return dict(json.loads(ended.stdout))
