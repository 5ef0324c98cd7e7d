"""What `dbdyno calibrate` does: look at the place, measure, write down, say what it means."""

from __future__ import annotations

import dataclasses
import datetime
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dbdyno.calibration import noise
from dbdyno.calibration.budget import BUDGETS, GIB, Budget
from dbdyno.calibration.inventory import inventory
from dbdyno.calibration.own_file import OwnFile
from dbdyno.calibration.phases import SEGMENT_BYTES
from dbdyno.calibration.place import Place, inspect
from dbdyno.calibration.procedure import measure, own_cost, verified_offsets
from dbdyno.calibration.storage import Document, Storage
from dbdyno.commands.calibration_progress import CalibrationProgress
from dbdyno.commands.calibration_report import findings_of, print_calibration, write_calibration
from dbdyno.errors import EXIT_INTERRUPTED, EXIT_RUN_FAILED, DynoError
from dbdyno.store import calibration_directory

DIRECTORY = Path("dbdyno-calibrations")
# The file is a whole number of these, so that every span and every large request fits.
GIB_PART = 64 << 20


@dataclasses.dataclass(frozen=True, slots=True)
class Wish:
    """What the flags ask for."""

    budget: str
    file_gib: float | None
    num_disks: int
    max_latency_ms: float
    engine: str
    seed: int | None


def calibrate(path: Path, wish: Wish, *, out: Path | None, as_json: bool) -> None:
    """One calibration from its place to the report."""
    budget = BUDGETS[wish.budget]
    file_bytes = budget.file_bytes if wish.file_gib is None else round(wish.file_gib * GIB) // GIB_PART * GIB_PART
    place = inspect(path, file_bytes)
    directory = out or DIRECTORY / f"{datetime.datetime.now(datetime.UTC):%Y%m%dT%H%M%SZ}-{wish.budget}"
    with _made(directory):
        record = _measured(place, budget, file_bytes, wish)
        calibration_directory.write_record(directory, record)
    found = findings_of(record)
    write_calibration(directory, found)
    print_calibration(directory, found, as_json=as_json)
    if record["interrupted"]:
        kept = f"interrupted; what was measured until then is in {directory}"
        raise DynoError("interrupted", kept, exit_code=EXIT_INTERRUPTED)


def _measured(place: Place, budget: Budget, file_bytes: int, wish: Wish) -> dict[str, Any]:
    seed = secrets.randbelow(2**31) if wish.seed is None else wish.seed
    measured_at = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    with (
        OwnFile(place.directory) as data,
        OwnFile(place.directory) as log,
        CalibrationProgress(str(place.directory), file_bytes + SEGMENT_BYTES) as progress,
    ):
        storage = _opened(data, place, wish.engine, file_bytes)
        wal = _opened(log, place, wish.engine, SEGMENT_BYTES)
        before = noise.read(place.block_device)
        progress.begin("fill the file", file_bytes)
        filled = storage.fill(file_bytes, seed, progress.go_on) + wal.fill(SEGMENT_BYTES, seed + 1, progress.go_on)
        entries: list[Document] = []
        if progress.go_on():
            _verify(storage, file_bytes, seed, place)
            entries = measure(storage, wal, budget, file_bytes, seed, progress)
        after = noise.read(place.block_device)
        costs = own_cost(_null(data), (1, 16, 64), progress.go_on)
    if not entries:
        raise DynoError(
            "nothing_measured",
            f"{place.directory}: interrupted before anything was measured",
            exit_code=EXIT_INTERRUPTED,
        )
    return {
        "budget": budget.name,
        "measured_at": measured_at,
        "seed": seed,
        "engine": storage.engine_name,
        "inventory": inventory(place),
        "asked": {"num_disks": wish.num_disks, "max_latency_ms": wish.max_latency_ms, "p99_budget_ns": None},
        "file_bytes": file_bytes,
        "filled_bytes": filled,
        "noise": noise.between(before, after, filled + _device_bytes(entries)),
        "own_cost": costs,
        "entries": entries,
        "interrupted": not progress.go_on(),
        "warnings": list(place.warnings),
    }


def _opened(own: OwnFile, place: Place, engine: str, bytes_: int) -> Storage:
    try:
        own.allocate(bytes_)
    except OSError as error:
        raise DynoError(
            "no_space",
            f"{place.directory}: {error.strerror}; give a smaller file with --file-size",
            exit_code=EXIT_RUN_FAILED,
        ) from None
    return Storage.of_file(own.path, place.block_device, direct=place.direct, write=True, engine_name=engine)


def _null(own: OwnFile) -> Storage:
    return Storage.of_file(own.path, None, direct=False, write=False, engine_name="null")


def _verify(storage: Storage, file_bytes: int, seed: int, place: Place) -> None:
    offsets = verified_offsets(file_bytes, seed)
    right = storage.verify(offsets, seed)
    if right != len(offsets):
        raise DynoError(
            "not_what_was_written",
            f"{place.directory}: {len(offsets) - right} of {len(offsets)} pages that were read back are not what was "
            "written there; this storage is broken",
            exit_code=EXIT_RUN_FAILED,
        )


def _device_bytes(entries: Sequence[Document]) -> int:
    """What we asked the device for."""
    return sum(
        entry["warmed_bytes"]
        + (entry["outcome"]["reads_in_all"] + entry["outcome"]["writes_in_all"]) * entry["work"]["io_bytes"]
        if "load" in entry["work"]
        else len(entry["outcome"]["times_ns"]) * entry["work"]["io_bytes"]
        for entry in entries
    )


@contextmanager
def _made(directory: Path) -> Iterator[None]:
    """The calibration's directory, taken away again where nothing was measured."""
    calibration_directory.create(directory)
    try:
        yield
    except BaseException:
        if not (directory / calibration_directory.RECORD).exists():
            calibration_directory.discard(directory)
        raise
