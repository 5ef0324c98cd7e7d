"""Building a schema: the order of its steps on a target that writes them down, and what is said of a long load."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

import pytest

from dbdyno import workloads
from dbdyno.errors import EXIT_RUN_FAILED, DynoError
from dbdyno.runner import schema
from dbdyno.targets.target import Target
from dbdyno.workloads import Workload


class Recorder:
    """Stands in for a target: keeps the statements, and how many rows came for each table."""

    def __init__(self) -> None:
        self.steps: list[str] = []

    def execute(self, sql: str) -> None:
        """Keeps the statement, or fails as a server would."""
        if sql.startswith("FAIL"):
            raise DynoError("sql_failed", "no such thing", exit_code=EXIT_RUN_FAILED)
        self.steps.append(sql)

    def copy(self, table: str, columns: Sequence[str], chunks: Iterable[bytes]) -> None:
        """Counts rows, each of as many values as there are columns."""
        rows = [line for chunk in chunks for line in chunk.splitlines()]
        assert {line.count(b"\t") + 1 for line in rows} == {len(columns)}
        self.steps.append(f"{table} {len(rows)}")


def build(workload: Workload, scale: int = 1) -> tuple[list[str], list[str]]:
    """The steps on the target, and what was said."""
    recorder = Recorder()
    said: list[str] = []
    schema.build_workload(workload, cast(Target, recorder), scale, data_seed=1, say=said.append)
    return recorder.steps, said


def test_tables_then_rows_then_constraints() -> None:
    """Keys and indexes come behind the load; the scale is told first."""
    steps, _ = build(Workload("w", "TABLES", generator="web-returns", constraints_sql="KEYS"), scale=2)

    assert steps == ["SET dbdyno.scale = 2", "TABLES", "web_returns 144207", "KEYS"]


def test_a_short_load_says_only_that_it_indexes() -> None:
    """Two seconds are not worth a word."""
    found = workloads.find("order-entry")
    assert found is not None

    assert build(found)[1] == ["indexing order-entry"]


def test_a_long_load_says_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if each chunk took longer than the period."""
    monkeypatch.setattr(schema, "PROGRESS_PERIOD_S", -1.0)

    _, said = build(Workload("w", "TABLES", generator="web-returns"))

    assert said[0] == "loading web_returns: 9,029 of 72,233 rows"
    assert said[7:] == ["loading web_returns: 72,233 of 72,233 rows"]


def test_a_schema_without_constraints_has_nothing_to_index() -> None:
    """web-returns has no index, and is not said to get one."""
    found = workloads.find("web-returns")
    assert found is not None

    steps, said = build(found)

    assert (len(steps), said) == (3, [])


def test_a_mistake_in_a_schema_names_it() -> None:
    """What the server says of the user's SQL is the user's input."""
    with pytest.raises(DynoError) as caught:
        build(Workload("mine.sql", "FAIL"))

    assert (caught.value.code, caught.value.exit_code) == ("schema_failed", 2)
    assert caught.value.message == "schema 'mine.sql': the server says: no such thing"
