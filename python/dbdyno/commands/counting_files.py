"""What `dbdyno ndv FILE...` does: the files of one table, here one after the other or spread over workers."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import Any

from dbdyno import engine
from dbdyno.commands.kept_counts import conclude, default_directory, keep, made
from dbdyno.commands.ndv_progress import FilesProgress, ScanProgress
from dbdyno.commands.ndv_wish import CSV, ONE_PASS, SERVER, TABLES, Wish
from dbdyno.ndv.files.plan import FilesPlan, plan_files
from dbdyno.ndv.sources import CSV as CSV_FORMAT
from dbdyno.ndv.sources import Files


def count(files: Files, wish: Wish, *, out: Path | None, as_json: bool) -> None:
    """From the files to the report."""
    wish.refuse(SERVER, "is for a PostgreSQL server, and these are files")
    wish.refuse(TABLES, "is for a database, and these are files")
    if files.format != CSV_FORMAT:
        wish.refuse(CSV, f"is for CSV, and these files are {files.format}")
    if wish.delimiter is not None:
        files = dataclasses.replace(files, delimiter=wish.delimiter)
    if wish.export:
        wish.refuse(ONE_PASS, "is not for sketches for others, which are made in one pass")
    plan = plan_files(files, wish.columns, wish.groups, wish.precision, wish.export)
    with made(out or default_directory(files.name, [files.name])) as directory:
        outcome, sketches = _scanned(plan, wish)
        catalogue, scan = plan.catalogue(outcome), plan.scan_document(outcome)
        kept = keep(directory, files.shown, catalogue, scan, (outcome, sketches))
    conclude([kept], as_json=as_json)


def _scanned(plan: FilesPlan, wish: Wish) -> tuple[dict[str, Any], bytes]:
    paths = plan.files.paths
    workers = 1 if wish.export else min(wish.workers or len(os.sched_getaffinity(0)), len(paths))
    if wish.scheduler is None and workers == 1:
        with ScanProgress(plan.files.shown) as progress:
            return engine.scan_files(plan.spec(paths), progress.take)
    from dbdyno.ndv.files.spread import count_spread

    with FilesProgress(plan.files.shown, paths) as done:
        return count_spread(plan, wish.scheduler, workers, done.take)
