"""What `dbdyno ndv` does: read what the server knows, scan once, write down what was found, say what it means."""

from __future__ import annotations

import dataclasses
import datetime
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dbdyno import engine
from dbdyno.commands.ndv_progress import ScanProgress
from dbdyno.errors import DynoError
from dbdyno.ndv.postgres.catalogue import read_catalogue
from dbdyno.ndv.postgres.condition import check_condition
from dbdyno.ndv.postgres.copy_plan import CopyOptions, plan_copy
from dbdyno.ndv.postgres.naming import names_in_list
from dbdyno.ndv.postgres.planner import planner_groups
from dbdyno.ndv.postgres.scan_source import Source, plan_source
from dbdyno.ndv.postgres.session import connect
from dbdyno.ndv.postgres.sql_outcome import outcome_of, sketch_arguments
from dbdyno.ndv.postgres.sql_scan import count_by_server
from dbdyno.ndv.postgres.statements import top_statements
from dbdyno.ndv.postgres.tables import largest_tables
from dbdyno.ndv.postgres.what_if import Asked, what_if
from dbdyno.store import ndv_directory
from dbdyno.targets.defaults import resolve
from dbdyno.targets.endpoint import Endpoint
from dbdyno.targets.target import Connection

DIRECTORY = Path("dbdyno-ndv")
Record = dict[str, Any]


@dataclasses.dataclass(frozen=True, slots=True)
class Wish:
    """The flags of the command: what to count, how, and which statements to plan with the fix."""

    table: str | None
    columns: str | None
    groups: Sequence[str]
    where: str | None
    via: str
    connections: int
    precision: int
    what_if: Sequence[str]
    top: int


def count(url: str, wish: Wish, *, out: Path | None, as_json: bool) -> None:
    """One count from its URL to the report."""
    endpoint = resolve(url, os.environ)
    with connect(endpoint) as session:
        source = _source(session, wish)
        groups = [_groups(session, source, place) for place in range(len(source.groups))]
    directory = out or _default_directory(source)
    with _made(directory):
        outcome, sketches = _scanned(endpoint, source, wish)
        record: Record = {
            "measured_at": datetime.datetime.now(datetime.UTC).isoformat(),
            "target": endpoint.display(),
            "catalogue": source.catalogue.document(),
            "scan": source.document(wish.via),
            "outcome": outcome,
            "planner_groups": groups,
            "what_if": None,
        }
        ndv_directory.write_record(directory, record, sketches)
    # Not before: it takes a second to import, in which a wrong name could have been told.
    from dbdyno.commands.ndv_report import findings_of, print_count, write_findings

    if wish.what_if or wish.top:
        figures = {
            one.column: one.fix_n_distinct for one in findings_of(record).columns if one.fix_n_distinct is not None
        }
        record["what_if"] = _planned(endpoint, source, figures, wish)
        ndv_directory.write_record(directory, record, sketches)
    found = findings_of(record)
    write_findings(directory, found)
    print_count(directory, found, as_json=as_json)


def _source(session: Connection, wish: Wish) -> Source:
    if wish.table is None:
        names = ", ".join(largest_tables(session, 5))
        raise DynoError("no_table", f"--table: name one; the largest here are {names or 'none'}")
    catalogue = read_catalogue(session, "--table", wish.table)
    if wish.where is not None:
        check_condition(session, catalogue.relation.quoted, wish.where)
    columns = None if wish.columns is None else names_in_list("--columns", wish.columns)
    return plan_source(catalogue, columns, [names_in_list("--group", group) for group in wish.groups], wish.where)


def _groups(session: Connection, source: Source, place: int) -> float:
    return planner_groups(session, source.catalogue.relation.quoted, [one.quoted for one in source.groups[place]])


def _scanned(endpoint: Endpoint, source: Source, wish: Wish) -> tuple[dict[str, Any], bytes]:
    with ScanProgress(source.catalogue.relation.quoted) as progress:
        if wish.via == "sql":
            return _counted_there(endpoint, source, wish, progress)
        return _copied(endpoint, source, wish, progress)


def _copied(endpoint: Endpoint, source: Source, wish: Wish, progress: ScanProgress) -> tuple[dict[str, Any], bytes]:
    spec = plan_copy(source, endpoint, CopyOptions(connections=wish.connections, precision=wish.precision))
    password = endpoint.password.reveal() if endpoint.password else None
    return engine.scan_postgres(spec, password, progress.take)


def _counted_there(
    endpoint: Endpoint, source: Source, wish: Wish, progress: ScanProgress
) -> tuple[dict[str, Any], bytes]:
    counts = count_by_server(endpoint, source, wish.precision, progress.step)
    sketches = engine.sketch_from_server(*sketch_arguments(counts))
    return outcome_of(counts, engine.sketch_estimates(sketches)), sketches


def _planned(endpoint: Endpoint, source: Source, figures: Mapping[str, float], wish: Wish) -> dict[str, Any]:
    """Plans of the statements that were given, then of those that the server names."""
    asked, left_out = [Asked(text) for text in wish.what_if], list[str]()
    with connect(endpoint) as session:
        if wish.top:
            named, left_out = top_statements(session, source.catalogue, wish.top)
            asked += named
        return what_if(session, source.catalogue, figures, asked, left_out)


@contextmanager
def _made(directory: Path) -> Iterator[None]:
    """The count's directory, taken away again where nothing was counted."""
    ndv_directory.create(directory)
    try:
        yield
    except BaseException:
        if not (directory / ndv_directory.RECORD).exists():
            ndv_directory.discard(directory)
        raise


def _default_directory(source: Source) -> Path:
    moment = datetime.datetime.now(datetime.UTC).strftime("%Y%m%dT%H%M%SZ")
    name = re.sub(r"[^\w.-]+", "-", source.catalogue.relation.name)
    return DIRECTORY / f"{name}-{moment}"
