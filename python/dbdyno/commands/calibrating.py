"""What `dbdyno calibrate` does: look at the place, measure, write down, say what it means."""

from __future__ import annotations

import dataclasses
import datetime
import errno
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dbdyno.analysis.calibration.judge import Judge
from dbdyno.calibration import noise
from dbdyno.calibration.budget import BUDGETS, GIB, Budget
from dbdyno.calibration.cells import DATA, GROWING, LOG, Planned
from dbdyno.calibration.database import through
from dbdyno.calibration.database.server import Wanted, remove_what_was_left
from dbdyno.calibration.engine_choice import engine_warnings, opened
from dbdyno.calibration.guard import Guard
from dbdyno.calibration.inventory import inventory
from dbdyno.calibration.own_file import OwnFile
from dbdyno.calibration.phases import SEGMENT_BYTES
from dbdyno.calibration.place import Place, inspect
from dbdyno.calibration.procedure import Plan, measure, own_cost, verified_offsets
from dbdyno.calibration.running import Measured
from dbdyno.calibration.spending import Spending
from dbdyno.calibration.storage import Storage
from dbdyno.commands.calibration_outcome import Stop, conclude, made, spent_bytes, stopped, warnings_of
from dbdyno.commands.calibration_progress import CalibrationProgress
from dbdyno.commands.guarding import GuardWish, guarding
from dbdyno.errors import EXIT_RUN_FAILED, DynoError
from dbdyno.probes.process_work import moved_bytes
from dbdyno.report.numbers import exact_duration, size

# The file is a whole number of these, so that every span and every large request fits.
GIB_PART = 64 << 20
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@dataclasses.dataclass(frozen=True, slots=True)
class Wish:
    """What the flags ask for."""

    budget: str
    file_gib: float | None
    num_disks: int
    max_latency_ms: float
    engine: str
    seed: int | None
    byte_budget_gib: float | None = None
    expect_iops: float | None = None
    expect_mbps: float | None = None
    guard: GuardWish | None = None
    target: Wanted | None = None

    @property
    def asked(self) -> dict[str, Any]:
        """The record's `asked`."""
        return {
            "num_disks": self.num_disks,
            "max_latency_ms": self.max_latency_ms,
            "p99_budget_ns": None,
            "expect_iops": self.expect_iops,
            "expect_mbps": self.expect_mbps,
        }

    @property
    def most_bytes(self) -> int | None:
        """The byte budget."""
        return None if self.byte_budget_gib is None else round(self.byte_budget_gib * GIB)


def calibrate(path: Path, wish: Wish, *, out: Path | None, as_json: bool) -> None:
    """One calibration from its place to the report."""
    budget = BUDGETS[wish.budget]
    file_bytes = budget.file_bytes if wish.file_gib is None else round(wish.file_gib * GIB) // GIB_PART * GIB_PART
    if wish.most_bytes is not None and wish.most_bytes < 2 * file_bytes:
        raise DynoError(
            "byte_budget",
            f"--byte-budget {wish.byte_budget_gib:g}: filling the file takes {size(file_bytes)}, and as much should be "
            f"left to read; give {2 * file_bytes / GIB:g} or more, or a smaller --file-size",
        )
    database = None if wish.target is None else through.Database.of(wish.target, wish.budget, file_bytes)
    place = inspect(path, file_bytes + (0 if database is None else database.bytes_))
    remove_what_was_left(place.directory)
    if database is not None:
        database.check(place)
    with guarding(wish.guard) as guard, made(out, wish.budget) as directory:
        record, stop = _measured(place, budget, file_bytes, wish, guard, database)
        conclude(directory, record, stop, as_json=as_json)


def words_before(bytes_: int, measuring_ns: int, most_bytes: int | None) -> str:
    """What is written and how long it takes, before it is done."""
    written = (
        f"writes {bytes_ / GIB:.2f} GiB there, in files that are gone when it ends, then measures"
        if bytes_
        else "writes nothing, measures"
    )
    most = "" if most_bytes is None else f"; moves at most {most_bytes / GIB:g} GiB in all"
    return f"{written} for about {exact_duration(round(measuring_ns / 1e9) * 1e9)}{most}"


def _measured(
    place: Place,
    budget: Budget,
    file_bytes: int,
    wish: Wish,
    guard: Guard | None,
    database: through.Database | None,
) -> tuple[dict[str, Any], Stop]:
    seed = secrets.randbelow(2**31) if wish.seed is None else wish.seed
    measured_at = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    more_bytes, more_ns = (0, 0) if database is None else (database.bytes_, database.expected_ns)
    plan = Plan.of(budget, file_bytes, seed, writes=True)
    measuring_ns = plan.expected_ns + more_ns
    words = words_before(file_bytes + SEGMENT_BYTES + more_bytes, measuring_ns, wish.most_bytes)
    also = None if guard is None else guard.go_on
    with (
        OwnFile(place.directory) as data,
        OwnFile(place.directory) as log,
        OwnFile(place.directory) as growing,
        named(names := {own.path: str(place.directory) for own in (data, log, growing)}),
        CalibrationProgress(str(place.directory), words, also) as progress,
    ):
        storage = _opened(data, place, wish.engine, file_bytes, plan.all)
        wal = _opened(log, place, storage.engine_name, SEGMENT_BYTES, [])
        before = noise.read(place.block_device)
        filled = _filled([(storage, file_bytes), (wal, SEGMENT_BYTES)], seed, progress, measuring_ns)
        spending = Spending(wish.most_bytes, filled, moved_bytes)
        measured = Measured([], None)
        if progress.go_on():
            _verify(storage, file_bytes, seed, place)
            files = {DATA: storage, LOG: wal, GROWING: _opened(growing, place, storage.engine_name, 0, [])}
            later = through.Later(progress, more_ns)
            measured = measure(files, budget, file_bytes, seed, Judge(seed), later, spending)
        after = noise.read(place.block_device)
        costs = own_cost(_null(data), (1, 16, 64), progress.go_on)
        beside = None
        if database is not None and measured.failed is None and progress.go_on():
            beside = database.measure(through.Devices(storage, wal, place), seed + 7, progress)
    stop, entries = stopped(progress, guard, by_name(measured.failed, names)), measured.entries
    if not entries:
        raise stop.error(f"{place.directory}: before anything was measured")
    record = {
        "budget": budget.name,
        "measured_at": measured_at,
        "seed": seed,
        "engine": storage.engine_name,
        "inventory": inventory(place),
        "asked": wish.asked,
        "file_bytes": file_bytes,
        "filled_bytes": filled,
        "noise": noise.between(before, after, filled + spent_bytes(entries)),
        "own_cost": costs,
        "entries": entries,
        "database": beside,
        "interrupted": bool(stop),
        "guard": None if guard is None else guard.document,
        "warnings": [
            *place.warnings,
            *engine_warnings(wish.engine, storage),
            *warnings_of(stop, spending, wish.byte_budget_gib),
        ],
    }
    return record, stop


def _opened(own: OwnFile, place: Place, engine: str, bytes_: int, planned: Sequence[Planned]) -> Storage:
    try:
        if bytes_:
            own.allocate(bytes_)
    except OSError as error:
        raise DynoError(
            "no_space", f"{place.directory}: {error.strerror}; give a smaller file with --file-size"
        ) from None
    return opened(own.path, place.block_device, direct=place.direct, write=True, engine_name=engine, planned=planned)


def _filled(files: Sequence[tuple[Storage, int]], seed: int, progress: CalibrationProgress, measuring_ns: int) -> int:
    """Bytes written, of all of them or until it was ended."""
    go_on = progress.filling(sum(bytes_ for _, bytes_ in files), measuring_ns)
    try:
        return sum(storage.fill(bytes_, seed + number, go_on) for number, (storage, bytes_) in enumerate(files))
    except DynoError as error:
        if not any(f"os error {number})" in error.message for number in _NO_ROOM):
            raise
        raise DynoError("no_space", f"{error.message}; give a smaller file with --file-size") from None


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


def by_name(error: DynoError | None, names: Mapping[Path, str]) -> DynoError | None:
    """What is told of a file goes by its name, not by the number under which it is open."""
    if error is None:
        return None
    message = error.message
    for path, name in names.items():
        message = message.replace(f"{path}:", f"{name}:")
    return DynoError(error.code, message, exit_code=error.exit_code)


@contextmanager
def named(names: Mapping[Path, str]) -> Iterator[None]:
    """The same for what is raised."""
    try:
        yield
    except DynoError as error:
        raise by_name(error, names) or error from None
