"""`--via sql` from end to end: the same verdicts as by COPY, files that merge with their like, nothing left behind."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator

import pytest
from column_shapes import create_table

from dbdyno import _core, engine
from dbdyno.analysis.ndv.analyse import analyse
from dbdyno.analysis.ndv.findings import NdvFindings
from dbdyno.ndv.postgres.catalogue import read_catalogue
from dbdyno.ndv.postgres.copy_plan import CopyOptions, plan_copy
from dbdyno.ndv.postgres.scan_source import Source, plan_source
from dbdyno.ndv.postgres.session import APPLICATION_NAME, connect
from dbdyno.ndv.postgres.sql_outcome import outcome_of, sketch_arguments
from dbdyno.ndv.postgres.sql_scan import count_by_server
from dbdyno.targets.embedded import EmbeddedServer

pytestmark = pytest.mark.server

GROUP = ["log_uniform", "pareto"]


@pytest.fixture(scope="module")
def server(cache: object) -> Iterator[EmbeddedServer]:
    """With the eight shapes, of which ANALYZE took a small sample."""
    with EmbeddedServer(settings={"autovacuum": False, "default_statistics_target": 10}) as started:
        started.execute(create_table("shapes", 40_000))
        started.execute("ANALYZE shapes")
        yield started


@pytest.fixture(scope="module")
def source(server: EmbeddedServer) -> Source:
    """All columns, and a group."""
    with connect(server.endpoint) as session:
        return plan_source(read_catalogue(session, "--table", "shapes"), None, [GROUP])


def by_sql(server: EmbeddedServer, source: Source, precision: int = 14) -> tuple[NdvFindings, bytes]:
    """The findings, and the file of sketches."""
    counts = count_by_server(server.endpoint, source, precision)
    file = engine.sketch_from_server(*sketch_arguments(counts))
    found = outcome_of(counts, engine.sketch_estimates(file))
    return analyse(source.catalogue.document(), source.document("sql"), found, [1000.0]), file


def test_the_same_answer_as_by_copy(server: EmbeddedServer, source: Source) -> None:
    """Counts within four standard errors of both, exact ones alike, and one verdict."""
    outcome, _ = engine.scan_postgres(plan_copy(source, server.endpoint, CopyOptions()), None)
    copied = analyse(source.catalogue.document(), source.document("copy"), outcome, [1000.0])

    found, _ = by_sql(server, source)

    for ours, theirs in zip((*found.columns, *found.groups), (*copied.columns, *copied.groups), strict=True):
        assert ours.ndv.estimate == pytest.approx(theirs.ndv.estimate, rel=0 if ours.exact else 4 * 0.0081 * 2**0.5)
        assert (ours.exact, ours.verdict) == (theirs.exact, theirs.verdict)
    assert [column.nulls for column in found.columns] == [column.nulls for column in copied.columns]
    assert {column.growth.evidence for column in found.columns if column.growth} == {"unique", "share_of_rows"}
    assert found.columns[0].analyze == []


def test_files_merge_with_their_like_only(server: EmbeddedServer, source: Source) -> None:
    """Twice the same table is the same columns; rows that came to us were hashed by another function."""
    counts = count_by_server(server.endpoint, source, 14)
    _, file = by_sql(server, source)
    _, copied = engine.scan_postgres(plan_copy(source, server.endpoint, CopyOptions()), None)

    merged = engine.sketch_estimates(engine.sketch_merge([file, file]))

    once = engine.sketch_estimates(file)
    assert [column["ndv"] for column in merged["columns"]] == [column["ndv"] for column in once["columns"]]
    assert merged["columns"][0]["rows"] == 2 * counts.rows
    with pytest.raises(_core.CoreError) as failure:
        _core.sketch_merge([file, copied])
    assert failure.value.args[0] == "sketches_differ"


def sessions(server: EmbeddedServer) -> int:
    """Ours that are still there."""
    with server.connect() as own:
        row = own.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = %s", [APPLICATION_NAME]
        ).fetchone()
    return -1 if row is None else int(row[0])


def test_interrupted(server: EmbeddedServer) -> None:
    """Ctrl-C cancels the statement on the server, and no session stays."""
    server.execute("CREATE VIEW endless AS SELECT n FROM generate_series(1, 1000000000) AS n")
    with connect(server.endpoint) as session:
        source = plan_source(read_catalogue(session, "--table", "endless"))
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()

    with pytest.raises(KeyboardInterrupt):
        count_by_server(server.endpoint, source, 14)

    deadline = time.monotonic() + 10
    while sessions(server):
        assert time.monotonic() < deadline
        time.sleep(0.01)
