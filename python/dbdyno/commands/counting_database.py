"""What `dbdyno ndv shop.duckdb` and `dbdyno ndv shop.sqlite` do: each table read once, as a stream."""

from __future__ import annotations

from pathlib import Path

from dbdyno import engine
from dbdyno.commands.kept_counts import Kept, conclude, default_directory, directories_of, keep, made
from dbdyno.commands.ndv_progress import ScanProgress
from dbdyno.commands.ndv_wish import FILES, ONE_TABLE, SERVER, Wish
from dbdyno.errors import DynoError
from dbdyno.ndv.databases import Session, opened
from dbdyno.ndv.sources import Database
from dbdyno.ndv.table_plan import TablePlan, plan_table


def count(database: Database, wish: Wish, *, out: Path | None, as_json: bool) -> None:
    """From the file to the report; every name is looked up before the first table is read."""
    wish.refuse(SERVER, f"is for a PostgreSQL server, and this is a {database.engine} database")
    wish.refuse(FILES, f"is for files that are one table, and this is a {database.engine} database")
    with opened(database) as session:
        plans = _plans(session, wish)
        names = [plan.table.name for plan in plans]
        with made(out or default_directory(database.path.stem, names)) as directory:
            counts = [
                _counted(database, session, plan, place)
                for plan, place in zip(plans, directories_of(directory, names), strict=True)
            ]
    conclude(counts, as_json=as_json)


def _plans(session: Session, wish: Wish) -> list[TablePlan]:
    if not wish.tables:
        names = ", ".join(session.tables()[:5])
        raise DynoError("no_table", f"--table: name one; there are {names or 'none'}")
    if len(wish.tables) > 1:
        wish.refuse(ONE_TABLE, "is about one table, and several are named")
    plans: list[TablePlan] = []
    for text in wish.tables:
        table = session.table("--table", text)
        if any(table.quoted == other.table.quoted for other in plans):
            raise DynoError("same_table", f"--table {text}: is named twice; name it once")
        if wish.where is not None:
            session.check_condition(table, wish.where)
        plans.append(plan_table(table, wish.columns, wish.groups, wish.where, wish.precision, wish.export))
    return plans


def _counted(database: Database, session: Session, plan: TablePlan, directory: Path) -> Kept:
    """One table, from its scan to its record."""
    stream = session.stream(plan.table, plan.columns, plan.where)
    with ScanProgress(plan.table.label) as progress:
        counted = engine.scan_arrow(plan.spec, stream, progress.take)
    scan = plan.scan_document(database.engine, counted[0])
    return keep(directory, str(database.path), plan.catalogue(), scan, counted)
