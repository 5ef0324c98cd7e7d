"""One pass over a table: what is counted, by one connection or several, and what ANALYZE would have seen."""

from __future__ import annotations

import json
import threading
import time
from typing import Any

import pytest
from table_scan import (
    APPLICATION_NAME,
    BEGIN,
    Outcome,
    column,
    copy_sql,
    page_ranges,
    part,
    rows,
    scan,
    sessions,
    spec_of,
)

from dbdyno import _core, engine
from dbdyno.targets.embedded import EmbeddedServer

pytestmark = pytest.mark.server

ROWS = 40_000
COLUMNS = [
    column("id", "bigint", "integer"),
    column("few", "integer", "integer"),
    column("day", "date", "integer"),
    column("word", "text", "bytes"),
]
SELECT = "SELECT id, few, day, word FROM measured"


@pytest.fixture(scope="module")
def table(server: EmbeddedServer) -> str:
    """Unique ids, ten values, a date that advances with the rows, words with nulls."""
    server.execute(
        f"""
        CREATE TABLE measured AS
        SELECT i::bigint AS id, i % 10 AS few, date '2020-01-01' + i / 400 AS day,
               CASE WHEN i % 4 > 0 THEN md5((i % 20000)::text) END AS word
          FROM generate_series(0, {ROWS - 1}) i
        """
    )
    return "measured"


def parts_of(server: EmbeddedServer, table: str, count: int) -> list[dict[str, Any]]:
    """A connection for each range of pages."""
    ranges = page_ranges(server, table, count)
    return [part(f"{SELECT} WHERE {where}", first, pages) for where, first, pages in ranges]


def without_times(outcome: Outcome) -> Outcome:
    """What a scan says of the table."""
    return {key: outcome[key] for key in ("rows", "columns", "groups", "notes")}


def test_one_pass_counts_everything(server: EmbeddedServer, table: str) -> None:
    """Rows, nulls, bytes and different values; the small numbers are exact, the large ones within their interval."""
    outcome = scan(spec_of(server, COLUMNS, parts_of(server, table, 1), rows_expected=ROWS))
    id_, few, day, word = outcome["columns"]

    assert (outcome["format"], outcome["rows"], outcome["notes"]) == (1, ROWS, [])
    assert outcome["bytes"] > sum(each["value_bytes"] for each in outcome["columns"])
    assert 0 < outcome["client_cpu_ns"] < 10e9
    assert 0 < outcome["elapsed_ns"] < 10e9
    assert [each["nulls"] for each in outcome["columns"]] == [0, 0, 0, ROWS // 4]
    assert [each["value_bytes"] for each in outcome["columns"]] == [8 * ROWS, 4 * ROWS, 4 * ROWS, 32 * ROWS * 3 // 4]
    assert [each["exact"] for each in outcome["columns"]] == [False, True, True, False]
    assert few["ndv"] == {"estimate": 10, "low": 10, "high": 10}
    assert day["ndv"] == {"estimate": 100, "low": 100, "high": 100}
    assert id_["ndv"]["low"] < ROWS < id_["ndv"]["high"]
    assert word["ndv"]["low"] < 15_000 < word["ndv"]["high"]
    assert (id_["ndv"]["high"] - id_["ndv"]["low"]) / ROWS < 0.033


def test_growth_follows_the_rows_of_the_table(server: EmbeddedServer, table: str) -> None:
    """At each tenth of the rows: as many different values as those rows have."""
    outcome = scan(spec_of(server, COLUMNS, parts_of(server, table, 1), rows_expected=ROWS))
    id_, few, day, word = (each["growth"] for each in outcome["columns"])

    tenths = [ROWS * tenth // 10 for tenth in range(1, 11)]
    assert [point["rows"] for point in id_] == tenths
    assert [point["ndv"] for point in few] == [10] * 10
    assert [point["ndv"] for point in day] == [10 * tenth for tenth in range(1, 11)]
    assert [point["nulls"] for point in word] == [rows // 4 for rows in tenths]
    assert [point["ndv"] for point in word] == pytest.approx([min(rows, 20_000) * 3 / 4 for rows in tenths], rel=0.03)
    assert id_[-1]["ndv"] == outcome["columns"][0]["ndv"]["estimate"]


@pytest.mark.parametrize("expected", [0, ROWS // 20, 20 * ROWS])
def test_growth_does_not_need_the_number_of_rows(server: EmbeddedServer, table: str, expected: int) -> None:
    """Where the expectation was wrong the points lie near the tenths of what came."""
    outcome = scan(spec_of(server, COLUMNS, parts_of(server, table, 1), rows_expected=expected))
    points = outcome["columns"][2]["growth"]

    assert len(points) == 10
    assert [point["rows"] for point in points] == pytest.approx([ROWS * t / 10 for t in range(1, 11)], abs=ROWS / 60)
    assert [point["ndv"] for point in points] == [-(-point["rows"] // 400) for point in points]


@pytest.mark.parametrize("count", [2, 3])
def test_several_connections_say_what_one_says(server: EmbeddedServer, table: str, count: int) -> None:
    """The sketches are the same, byte by byte; growth is that of the table, whoever read which part."""
    group = [{"name": "few, word", "columns": [1, 3]}]
    spec = spec_of(server, COLUMNS, parts_of(server, table, 1), rows_expected=ROWS, groups=group)
    one, one_file = engine.scan_postgres(spec, None)
    several, several_file = engine.scan_postgres({**spec, "parts": parts_of(server, table, count)}, None)

    assert several_file == one_file
    for mine, others in zip(one["columns"] + one["groups"], several["columns"] + several["groups"], strict=True):
        assert {**mine, "growth": None} == {**others, "growth": None}
        assert [point["rows"] for point in others["growth"]] == pytest.approx(
            [point["rows"] for point in mine["growth"]], abs=ROWS / 20
        )
    points = several["columns"][2]["growth"]
    assert [point["ndv"] for point in points] == [-(-point["rows"] // 400) for point in points]
    assert sessions(server) == 0


def test_groups_are_counted_as_group_by_counts_them(server: EmbeddedServer, table: str) -> None:
    """NULL is a value like others in a group; its nulls are the rows that have nothing else."""
    groups = [{"name": "few, word", "columns": [1, 3]}, {"name": "day, few", "columns": [2, 1]}]
    server.execute(
        f"""CREATE TABLE grouped AS SELECT id, NULLIF(few, 8) AS few, NULLIF(day, '2020-01-01') AS day, word
            FROM {table} WHERE id < 5000"""
    )
    outcome = scan(spec_of(server, COLUMNS, [part("SELECT id, few, day, word FROM grouped")], groups=groups))

    ((few_word, day_few),) = rows(
        server,
        """SELECT (SELECT count(*) FROM (SELECT DISTINCT few, word FROM grouped) a),
                  (SELECT count(*) FROM (SELECT DISTINCT day, few FROM grouped) b)""",
    )
    assert [each["ndv"]["estimate"] for each in outcome["groups"]] == [few_word, day_few]
    assert [each["exact"] for each in outcome["groups"]] == [True, True]
    # Of ids that end with 8, half have no word, and a tenth of the first 400 rows no day either.
    assert [each["nulls"] for each in outcome["groups"]] == [250, 40]
    assert "samples" not in outcome["groups"][0]


def test_a_sample_that_holds_the_whole_table_counts_it(server: EmbeddedServer, table: str) -> None:
    """At a target whose 300 rows a unit are more than there are, nothing is left to chance."""
    outcome = scan(spec_of(server, COLUMNS, parts_of(server, table, 2), rows_expected=ROWS, sample_targets=[134, 500]))
    by_column = [each["samples"] for each in outcome["columns"]]

    for samples, distinct, once, nulls in zip(
        by_column[:4], [ROWS, 10, 100, 15_000], [ROWS, 0, 0, 0], [0, 0, 0, ROWS // 4], strict=True
    ):
        assert [sample["target"] for sample in samples] == [134, 500]
        for sample in samples:
            assert (sample["rows"], sample["nulls"], sample["wide"]) == (ROWS, nulls, 0)
            # Two of 40,000 fingerprints of 32 bits are the same in one of five tables.
            assert sample["distinct"] == pytest.approx(distinct, abs=3)
            assert sample["once"] == pytest.approx(once, abs=6)


def test_samples_are_what_analyze_would_draw(server: EmbeddedServer) -> None:
    """The estimate that ANALYZE makes of its own sample is made of ours, on a table whose rows lie in clusters."""
    server.execute("CREATE TABLE clustered AS SELECT i / 40 AS key, repeat('x', 100) FROM generate_series(0, 119999) i")
    theirs = []
    for _ in range(8):
        server.execute("ALTER TABLE clustered ALTER key SET STATISTICS 3; ANALYZE clustered (key)")
        ((n_distinct,),) = rows(server, "SELECT n_distinct FROM pg_stats WHERE tablename = 'clustered'")
        theirs.append(n_distinct if n_distinct > 0 else -n_distinct * 120_000)
    ((pages,),) = rows(server, "SELECT pg_relation_size('clustered') / 8192")
    ours = []
    for seed in range(8):
        spec = spec_of(
            server,
            [column("key", "integer", "integer")],
            [part("SELECT key FROM clustered", 0, pages)],
            rows_expected=120_000,
            sample_targets=[3],
            seed=seed,
        )
        (sample,) = scan(spec)["columns"][0]["samples"]
        assert sample["rows"] == 900
        n, d, f1 = sample["rows"], sample["distinct"], sample["once"]
        ours.append(n * d / (n - f1 + f1 * n / 120_000))

    assert sum(ours) / 8 == pytest.approx(sum(theirs) / 8, rel=0.1)


def test_what_does_not_fit_into_memory_is_left_out_with_a_note(server: EmbeddedServer, table: str) -> None:
    """The greatest target first; the note names it."""
    spec = spec_of(
        server, COLUMNS, parts_of(server, table, 1), sample_targets=[10, 100, 10_000], memory_limit_bytes=2_000_000
    )
    outcome = scan(spec)

    assert [sample["target"] for sample in outcome["columns"][0]["samples"]] == [10, 100]
    (note,) = outcome["notes"]
    assert note.startswith("what ANALYZE would see at the statistics target 10000 is left out: samples of 4 columns")


def test_wide_values_are_counted_apart(server: EmbeddedServer) -> None:
    """Values of more than 1,020 bytes of contents, which are 1,024 with their length; detoasted ones of megabytes."""
    select = (
        """SELECT repeat('x', length) FROM unnest(ARRAY[1020, 1020, 1021, 5000, 5000, 3000000, 3000000, 0]) length"""
    )
    outcome = scan(spec_of(server, [column("text", "text", "bytes")], [part(select)], sample_targets=[1]))
    (text,) = outcome["columns"]

    assert (text["ndv"]["estimate"], text["value_bytes"]) == (5, 2 * 1020 + 1021 + 10_000 + 6_000_000)
    (sample,) = text["samples"]
    assert sample == {"target": 1, "rows": 8, "nulls": 0, "distinct": 2, "once": 1, "wide": 5}


def test_an_empty_table_and_one_of_nulls(server: EmbeddedServer) -> None:
    """Nothing is nothing, and NULL is no value."""
    columns = [column("a", "integer", "integer"), column("b", "text", "bytes")]
    empty = scan(spec_of(server, columns, [part("SELECT 1, 'a' WHERE false")], sample_targets=[100]))
    assert empty["rows"] == 0
    for each in empty["columns"]:
        assert (each["ndv"], each["growth"]) == ({"estimate": 0, "low": 0, "high": 0}, [])
        assert each["samples"][0]["rows"] == 0
    nulls = scan(spec_of(server, columns, [part("SELECT NULL::int, NULL::text FROM generate_series(1, 3000)")]))
    assert [(each["nulls"], each["ndv"]["estimate"]) for each in nulls["columns"]] == [(3000, 0), (3000, 0)]


def test_all_connections_see_one_snapshot(server: EmbeddedServer) -> None:
    """Rows that are committed while the second connection has not yet begun to read are not counted."""
    server.execute("CREATE TABLE growing AS SELECT i AS id FROM generate_series(1, 20000) i")
    (first, second) = (
        part(f"SELECT id FROM growing WHERE {where}", page, pages)
        for where, page, pages in page_ranges(server, "growing", 2)
    )
    second["begin_sql"] = [*BEGIN, "SELECT pg_sleep(0.4)"]
    spec = spec_of(server, [column("id", "integer", "integer")], [first, second])
    found: list[Outcome] = []
    thread = threading.Thread(target=lambda: found.append(scan(spec)))
    thread.start()
    asleep = f"SELECT 1 FROM pg_stat_activity WHERE application_name = '{APPLICATION_NAME}' AND wait_event = 'PgSleep'"
    while not rows(server, asleep):
        time.sleep(0.01)
    server.execute("INSERT INTO growing SELECT generate_series(20001, 30000)")
    thread.join()

    assert found[0]["rows"] == 20_000
    assert scan(spec)["rows"] == 30_000


def test_progress_is_shown_about_once_a_second(server: EmbeddedServer) -> None:
    """Rows and bytes so far, and how many rows are expected."""
    shown: list[dict[str, int]] = []
    select = "SELECT i, pg_sleep(CASE WHEN i % 1000 = 0 THEN 0.05 ELSE 0 END)::text FROM generate_series(1, 45000) i"
    spec = spec_of(
        server, [column("i", "integer", "integer"), column("s", "text", "bytes")], [part(select)], rows_expected=45_000
    )
    engine.scan_postgres(spec, None, lambda step: shown.append(dict(step)))

    assert len(shown) == 2
    assert [sorted(step) for step in shown] == [["bytes", "elapsed_ns", "rows", "rows_expected"]] * 2
    assert 0 < shown[0]["rows"] < shown[1]["rows"] < 45_000
    assert 0.9e9 < shown[0]["elapsed_ns"] < shown[1]["elapsed_ns"]
    assert shown[0]["rows_expected"] == 45_000


def test_the_seed_changes_the_hashes_and_nothing_else(server: EmbeddedServer, table: str) -> None:
    """Two seeds give two files; one seed gives one."""
    spec = spec_of(server, COLUMNS, parts_of(server, table, 1), sample_targets=[10], rows_expected=ROWS)
    (first, first_file), (again, again_file) = engine.scan_postgres(spec, None), engine.scan_postgres(spec, None)
    other, other_file = engine.scan_postgres({**spec, "seed": 7}, None)

    assert (without_times(first), first_file) == (without_times(again), again_file)
    assert other_file != first_file
    assert other["columns"][1]["ndv"] == first["columns"][1]["ndv"]


def test_the_columns_of_the_statement_must_be_those_of_the_spec(server: EmbeddedServer) -> None:
    """Too few columns, another format, no COPY, and a decoder that does not fit are told in a line each."""
    one = [column("a", "integer", "integer")]

    def refusal(statement: str, columns: list[dict[str, str]]) -> tuple[str, str]:
        spec = spec_of(server, columns, [{**part("SELECT 1"), "copy_sql": statement}])
        with pytest.raises(_core.CoreError) as caught:
            _core.ndv_scan_postgres(json.dumps(spec), None, None)
        code, message = caught.value.args
        return code, message

    two = copy_sql("SELECT 1, 2")
    assert refusal(two, one) == ("spec_invalid", "copy_sql: it sends 2 columns where 1 are expected")
    assert refusal("COPY (SELECT 1) TO STDOUT", one) == ("spec_invalid", "copy_sql: its format is not binary")
    assert refusal("SELECT 1", one) == ("spec_invalid", "copy_sql: it is no COPY ... TO STDOUT")
    code, message = refusal(copy_sql("SELECT 1.5"), one)
    assert (code, message.split(":")[0]) == ("scan_failed", "column a (integer)")
    assert sessions(server) == 0
