"""What `dbdyno ndv SOURCE` does, by what the source is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dbdyno.commands.ndv_wish import Wish
from dbdyno.ndv.sources import Database, Files, Server, recognise


def count(arguments: Sequence[str], wish: Wish, *, out: Path | None, as_json: bool) -> None:
    """From the arguments to the report."""
    match recognise(arguments):
        case Server(url):
            from dbdyno.commands import counting_postgres

            counting_postgres.count(url, wish, out=out, as_json=as_json)
        case Files() as files:
            from dbdyno.commands import counting_files

            counting_files.count(files, wish, out=out, as_json=as_json)
        case Database() as database:
            from dbdyno.commands import counting_database

            counting_database.count(database, wish, out=out, as_json=as_json)
