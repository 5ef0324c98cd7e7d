"""What `dbdyno calibrate --read-only FILE` does: measure files that are there, and leave them as they are."""

from __future__ import annotations

import datetime
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dbdyno.analysis.calibration.judge import Judge
from dbdyno.calibration import noise
from dbdyno.calibration.budget import BUDGETS, Budget
from dbdyno.calibration.engine_choice import engine_warnings
from dbdyno.calibration.engine_choice import opened as opened_with
from dbdyno.calibration.existing_file import ExistingFile, opened
from dbdyno.calibration.file_phases import files as cells_of_files
from dbdyno.calibration.guard import Guard
from dbdyno.calibration.inventory import inventory
from dbdyno.calibration.procedure import Plan, measure_files, own_cost
from dbdyno.calibration.spending import Spending
from dbdyno.calibration.storage import Storage
from dbdyno.commands.calibrating import Wish, by_name, named, words_before
from dbdyno.commands.calibration_outcome import Stop, conclude, made, spent_bytes, stopped, warnings_of
from dbdyno.commands.calibration_progress import CalibrationProgress
from dbdyno.commands.guarding import guarding
from dbdyno.probes.process_work import moved_bytes


def calibrate_files(names: Sequence[Path], wish: Wish, *, out: Path | None, as_json: bool) -> None:
    """One calibration of files from their looks to the report."""
    budget = BUDGETS[wish.budget]
    with opened(names) as files, guarding(wish.guard) as guard, made(out, wish.budget) as directory:
        record, stop = _measured(files, budget, wish, guard)
        conclude(directory, record, stop, as_json=as_json)


def _measured(
    files: Sequence[ExistingFile], budget: Budget, wish: Wish, guard: Guard | None
) -> tuple[dict[str, Any], Stop]:
    seed = secrets.randbelow(2**31) if wish.seed is None else wish.seed
    measured_at = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    largest = max(files, key=lambda file: file.bytes_)
    sizes = [file.bytes_ for file in files]
    planned = [*Plan.of(budget, largest.bytes_, seed, writes=False).all, *cells_of_files(budget, sizes, seed)]
    words = words_before(0, sum(one.expected_ns for one in planned), wish.most_bytes)
    also = None if guard is None else guard.go_on
    spending = Spending(wish.most_bytes, 0, moved_bytes)
    with (
        named(names := {file.path: str(file.name) for file in files}),
        CalibrationProgress(", ".join(str(file.name) for file in files), words, also) as progress,
    ):
        storages = [
            opened_with(
                file.path,
                file.place.block_device,
                direct=file.place.direct,
                write=False,
                engine_name=wish.engine,
                planned=planned,
            )
            for file in files
        ]
        before = noise.read(largest.place.block_device)
        measured = measure_files(list(zip(storages, sizes, strict=True)), budget, seed, Judge(seed), progress, spending)
        after = noise.read(largest.place.block_device)
        null = Storage.of_file(largest.path, None, direct=False, write=False, engine_name="null")
        costs = own_cost(null, (1, 16, 64), progress.go_on)
    stop, entries = stopped(progress, guard, by_name(measured.failed, names)), measured.entries
    if not entries:
        raise stop.error("before anything was measured")
    record = {
        "budget": budget.name,
        "measured_at": measured_at,
        "seed": seed,
        "engine": storages[0].engine_name,
        "inventory": inventory(largest.place),
        "asked": wish.asked,
        "file_bytes": largest.bytes_,
        "filled_bytes": 0,
        "noise": noise.between(before, after, spent_bytes(entries)),
        "own_cost": costs,
        "entries": entries,
        "interrupted": bool(stop),
        "guard": None if guard is None else guard.document,
        "files": [_named(file) for file in files],
        "warnings": [
            *(warning for file in files for warning in file.place.warnings),
            *engine_warnings(wish.engine, storages[0]),
            *warnings_of(stop, spending, wish.byte_budget_gib),
        ],
    }
    return record, stop


def _named(file: ExistingFile) -> dict[str, Any]:
    """One of the record's `files`."""
    storage = file.place.storage
    return {
        "path": str(file.name),
        "bytes": file.bytes_,
        "device": storage.device,
        "file_system": storage.file_system,
    }
