"""What `dbdyno ndv postgres://...` does: read what the server knows, scan once, write down what was found."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dbdyno import engine
from dbdyno.commands.kept_counts import Kept, conclude, default_directory, directories_of, keep, made
from dbdyno.commands.ndv_progress import ScanProgress
from dbdyno.commands.ndv_wish import FILES, ONE_TABLE, Wish
from dbdyno.errors import DynoError
from dbdyno.ndv.naming import names_in_list
from dbdyno.ndv.postgres.catalogue import read_catalogue
from dbdyno.ndv.postgres.columns import Column
from dbdyno.ndv.postgres.condition import check_condition
from dbdyno.ndv.postgres.copy_plan import CopyOptions, is_exported, plan_copy
from dbdyno.ndv.postgres.planner import planner_groups
from dbdyno.ndv.postgres.scan_source import Source, plan_source
from dbdyno.ndv.postgres.session import connect
from dbdyno.ndv.postgres.sql_outcome import outcome_of, sketch_arguments
from dbdyno.ndv.postgres.sql_scan import count_by_server
from dbdyno.ndv.postgres.statements import top_statements
from dbdyno.ndv.postgres.tables import largest_tables, tables_named
from dbdyno.ndv.postgres.what_if import Asked, what_if
from dbdyno.targets.defaults import resolve
from dbdyno.targets.endpoint import Endpoint
from dbdyno.targets.target import Connection


def count(url: str, wish: Wish, *, out: Path | None, as_json: bool) -> None:
    """From the URL to the report; every name is looked up before the first table is read."""
    wish.refuse(FILES, "is for files")
    endpoint = resolve(url, os.environ)
    with connect(endpoint) as session:
        sources = _sources(session, wish)
        groups = [[_groups(session, source, place) for place in range(len(source.groups))] for source in sources]
    names = [source.catalogue.relation.name for source in sources]
    with made(out or default_directory(endpoint.dbname, names)) as directory:
        counts = [
            _counted(endpoint, source, expected, wish, place)
            for source, expected, place in zip(sources, groups, directories_of(directory, names), strict=True)
        ]
        if wish.what_if or wish.top:
            counts[0].record["what_if"] = _planned(endpoint, sources[0], counts[0].record, wish)
            counts[0].write()
    conclude(counts, as_json=as_json)


def _sources(session: Connection, wish: Wish) -> list[Source]:
    if not wish.tables:
        names = ", ".join(largest_tables(session, 5))
        raise DynoError("no_table", f"--table: name one; the largest here are {names or 'none'}")
    tables = [name for table in wish.tables for name in tables_named(session, "--table", table)]
    if len(tables) > 1:
        wish.refuse(ONE_TABLE, "is about one table, and several are named")
    sources: list[Source] = []
    for table in tables:
        source = _source(session, table, wish)
        if any(source.catalogue.relation.oid == other.catalogue.relation.oid for other in sources):
            raise DynoError("same_table", f"--table {table}: is named twice; name it once")
        sources.append(source)
    return sources


def _source(session: Connection, table: str, wish: Wish) -> Source:
    catalogue = read_catalogue(session, "--table", table)
    if wish.where is not None:
        check_condition(session, catalogue.relation.quoted, wish.where)
    columns = None if wish.columns is None else names_in_list("--columns", wish.columns)
    return plan_source(catalogue, columns, [names_in_list("--group", group) for group in wish.groups], wish.where)


def _groups(session: Connection, source: Source, place: int) -> float:
    return planner_groups(session, source.catalogue.relation.quoted, [one.quoted for one in source.groups[place]])


def _counted(endpoint: Endpoint, source: Source, groups: Sequence[float], wish: Wish, directory: Path) -> Kept:
    """One table, from its scan to its record."""
    catalogue, scan = source.catalogue.document(), source.document(wish.via)
    return keep(directory, endpoint.display(), catalogue, scan, _scanned(endpoint, source, wish), groups)


def _scanned(endpoint: Endpoint, source: Source, wish: Wish) -> tuple[dict[str, Any], bytes]:
    with ScanProgress(source.catalogue.relation.quoted) as progress:
        if wish.via == "sql":
            return _counted_there(endpoint, source, wish, progress)
        return _copied(endpoint, source, wish, progress)


def _copied(endpoint: Endpoint, source: Source, wish: Wish, progress: ScanProgress) -> tuple[dict[str, Any], bytes]:
    options = CopyOptions(connections=wish.connections, precision=wish.precision, interop=wish.export)
    password = endpoint.password.reveal() if endpoint.password else None
    outcome, sketches = engine.scan_postgres(plan_copy(source, endpoint, options), password, progress.take)
    left_out = [column for column in source.columns if wish.export and not is_exported(column)]
    return outcome | {"notes": [*outcome["notes"], *map(_not_exported, left_out)]}, sketches


def _not_exported(column: Column) -> str:
    kinds = "integers, floating-point numbers, texts and binaries have"
    return f"{column.name} ({column.type}) has no sketch for others: {kinds}"


def _counted_there(
    endpoint: Endpoint, source: Source, wish: Wish, progress: ScanProgress
) -> tuple[dict[str, Any], bytes]:
    counts = count_by_server(endpoint, source, wish.precision, progress.step)
    sketches = engine.sketch_from_server(*sketch_arguments(counts))
    return outcome_of(counts, engine.sketch_estimates(sketches)), sketches


def _planned(endpoint: Endpoint, source: Source, record: Mapping[str, Any], wish: Wish) -> dict[str, Any]:
    """Plans with the fix of what was found: of the statements that were given, then of those that the server names."""
    from dbdyno.commands.ndv_report import findings_of

    figures = {one.column: one.fix_n_distinct for one in findings_of(record).columns if one.fix_n_distinct is not None}
    asked, left_out = [Asked(text) for text in wish.what_if], list[str]()
    with connect(endpoint) as session:
        if wish.top:
            named, left_out = top_statements(session, source.catalogue, wish.top)
            asked += named
        return what_if(session, source.catalogue, figures, asked, left_out)
