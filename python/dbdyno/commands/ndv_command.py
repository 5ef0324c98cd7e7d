"""`dbdyno ndv`: its flags. What it does is imported once they are known to be right."""

from __future__ import annotations

from pathlib import Path

import typer

from dbdyno.errors import DynoError

VIAS = ("copy", "sql")
EXPORTS = ("hll", "cpc", "theta")
LEAST_PRECISION, MOST_PRECISION = 10, 18


def ndv(
    source: list[str] = typer.Argument(
        ...,
        metavar="SOURCE",
        help="A postgres:// URL; files of Parquet, CSV or Arrow, their pattern or directory; a database of DuckDB or "
        "SQLite. Or `merge FILE...`: sketches, or directories of counts.",
    ),
    table: list[str] = typer.Option(
        [],
        "--table",
        metavar="T",
        help="The table, or view, whose values to count; may be given again. S.*: all of a schema.",
    ),
    columns: str | None = typer.Option(None, "--columns", metavar="A,B", help="Only these columns."),
    group: list[str] = typer.Option([], "--group", metavar="A,B", help="Columns together; may be given again."),
    where: str | None = typer.Option(None, "--where", metavar="SQL", help="Only rows of which this holds."),
    via: str = typer.Option(
        "copy", "--via", metavar="WAY", help="copy: rows come here; sql: the server counts, and little leaves it."
    ),
    connections: int = typer.Option(1, "--connections", metavar="N", min=1, max=64, help="Copy by so many at a time."),
    precision: int = typer.Option(
        14, "--precision", metavar="P", min=LEAST_PRECISION, max=MOST_PRECISION, help="2^P registers a column."
    ),
    what_if: list[str] = typer.Option(
        [], "--what-if", metavar="SQL", help="Plan this statement as it is and with the fix; may be given again."
    ),
    top: int = typer.Option(
        0, "--top-statements", metavar="N", min=0, max=100, help="The same, of pg_stat_statements' N longest."
    ),
    delimiter: str | None = typer.Option(
        None, "--delimiter", metavar="C", help="What parts the columns of CSV files; else a comma, in .tsv a tab."
    ),
    scheduler: str | None = typer.Option(
        None, "--scheduler", metavar="ADDRESS", help="Count files on the workers of this scheduler of dask.distributed."
    ),
    workers: int | None = typer.Option(
        None, "--workers", metavar="N", min=1, max=1024, help="Count so many files at a time, here; else one a CPU."
    ),
    export: str | None = typer.Option(
        None,
        "--export",
        metavar="KINDS",
        help="Also sketches for Spark, Druid, Iceberg or PostgreSQL's extension (DataSketches): hll, cpc, theta.",
    ),
    out: Path | None = typer.Option(
        None, "--out", metavar="DIR", help="The count's directory, new or empty; of merge a new file."
    ),
    as_json: bool = typer.Option(False, "--json", help="Print the findings as one JSON document."),
) -> None:
    """Count each column's different values, and say how wrong PostgreSQL's planner is about them."""
    if source[0] == "merge":
        from dbdyno.commands import merging

        merging.merge(source[1:], out, as_json=as_json)
        return
    if via not in VIAS:
        raise DynoError("bad_via", f"--via {via}: not one; use one of {', '.join(VIAS)}")
    if via == "sql" and connections > 1:
        raise DynoError("flag_conflict", f"--connections {connections}: is for --via copy; leave it out")
    if delimiter is not None and (len(delimiter) != 1 or not delimiter.isascii()):
        raise DynoError("bad_delimiter", f"--delimiter {delimiter}: is not one character of ASCII; give one, like ';'")
    if where is not None and (what_if or top):
        raise DynoError("flag_conflict", "--what-if, --top-statements: there is no fix of some rows; leave --where out")
    kinds = [] if export is None else sorted({kind.strip() for kind in export.split(",")})
    for kind in kinds:
        if kind not in EXPORTS:
            raise DynoError("bad_export", f"--export {export}: {kind!r} is none; use {', '.join(EXPORTS)}")
    if via == "sql" and kinds:
        raise DynoError("flag_conflict", "--export: is made of values, which --via sql leaves there; leave one out")
    from dbdyno.commands import counting
    from dbdyno.commands.ndv_wish import Wish

    wish = Wish(
        *(table, columns, group, where, via, connections, precision, what_if, top),
        *(delimiter, scheduler, workers, kinds),
    )
    counting.count(source, wish, out=out, as_json=as_json)
