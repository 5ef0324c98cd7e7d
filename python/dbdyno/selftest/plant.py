"""Runs the planted truths on a server of our own."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from dbdyno import engine
from dbdyno.analysis.self_test.findings import Planted, TruthResult
from dbdyno.selftest.load import trial_spec
from dbdyno.selftest.truths import SCHEMA, TRUTHS, Truth
from dbdyno.targets.embedded import EmbeddedServer

# The witness is one of PostgreSQL's own extensions; with it each statement costs about a microsecond more.
SETTINGS = {"shared_preload_libraries": "pg_stat_statements", "pg_stat_statements.track": "top"}

Step = Callable[[str], None]


def prepare(server: EmbeddedServer) -> None:
    """Everything that the truths need in the database."""
    server.execute("CREATE EXTENSION pg_stat_statements")
    server.execute(SCHEMA)


def plant(server: EmbeddedServer, *, repeats: int, waits: Mapping[str, Any], begin: Step) -> list[TruthResult]:
    """Each truth so many times, in turn, so that a disturbance of some seconds does not hit one of them alone."""
    found: dict[str, list[Planted]] = {truth.name: [] for truth in TRUTHS}
    for repeat in range(repeats):
        for truth in TRUTHS:
            begin(f"{truth.name}, {repeat + 1} of {repeats}")
            found[truth.name].append(_plant_once(server, truth, repeat, waits))
    return [TruthResult(truth.name, truth.says, tuple(found[truth.name])) for truth in TRUTHS]


def _plant_once(server: EmbeddedServer, truth: Truth, seed: int, waits: Mapping[str, Any]) -> Planted:
    server.execute("SELECT pg_stat_statements_reset()")
    spec = trial_spec(
        server,
        truth.script,
        clients=1,
        window_ns=truth.window_ns,
        seed=seed,
        waits=waits,
        think_time_ns=truth.think_time_ns,
        session_sql=truth.session_sql,
    )
    with _held(server, truth.held_sql):
        outcome = engine.run_trial(spec, None)
    profile = outcome["profile"]
    return Planted(
        true_ns=float(truth.true_ns) if truth.witness is None and truth.true_ns else _witnessed_ns(server, truth),
        found_ns=truth.found_ns(outcome),
        run_queue_share=(profile["run_queue_ns"] or 0) / profile["total_ns"],
    )


@contextlib.contextmanager
def _held(server: EmbeddedServer, sql: str | None) -> Iterator[None]:
    """Another session that has said this and keeps its transaction open."""
    if sql is None:
        yield
        return
    with server.connect() as session, session.transaction():
        session.execute(sql)
        yield


def _witnessed_ns(server: EmbeddedServer, truth: Truth) -> float:
    """The mean execution time of the planted statement by the server's own clock."""
    with server.connect() as session:
        row = session.execute(
            "SELECT sum(total_exec_time) / sum(calls) FROM pg_stat_statements WHERE starts_with(query, %s)",
            [truth.witness],
        ).fetchone()
    assert row is not None
    assert row[0] is not None, f"the server did not see {truth.witness!r}"
    return float(row[0]) * 1e6
