"""What comes of a calibration, of a directory or of files: its directory, its end, and what is said of both."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dbdyno.calibration.guard import Guard
from dbdyno.calibration.spending import Spending
from dbdyno.calibration.storage import Document
from dbdyno.commands.calibration_progress import CalibrationProgress
from dbdyno.commands.calibration_report import earlier, findings_of, print_calibration, write_calibration
from dbdyno.errors import EXIT_INTERRUPTED, EXIT_RUN_FAILED, DynoError
from dbdyno.store import calibration_directory, kept_calibrations


@dataclasses.dataclass(frozen=True, slots=True)
class Stop:
    """Why a calibration ended before its end; false where it did not."""

    why: str | None
    code: str = "interrupted"
    exit_code: int = EXIT_INTERRUPTED

    def __bool__(self) -> bool:
        return self.why is not None

    def error(self, what: str) -> DynoError:
        """One line, with what became of it."""
        return DynoError(self.code, f"{self.why}; {what}", exit_code=self.exit_code)


def stopped(progress: CalibrationProgress, guard: Guard | None, failed: DynoError | None) -> Stop:
    """By the storage itself, by the guard, whose watch is over now, by Ctrl-C, or not at all."""
    if guard is not None:
        guard.end()
    if failed is not None:
        return Stop(f"{failed.message} in the phase {progress.phase}", "storage_failed", EXIT_RUN_FAILED)
    if guard is not None and guard.seen is not None:
        why = f"stopped for {guard.name} in the phase {progress.phase}: {guard.seen}"
        return Stop(why, "guarded_service_suffers", EXIT_RUN_FAILED)
    return Stop(f"interrupted in the phase {progress.phase}" if progress.interrupted else None)


def warnings_of(stop: Stop, spending: Spending, byte_budget_gib: float | None) -> Iterator[dict[str, str]]:
    """What is missing, and why."""
    if stop:
        yield {"code": stop.code, "message": f"{stop.why}; what comes after it is missing"}
    if (left_out := spending.left_out) is not None:
        yield {"code": "byte_budget", "message": f"left out by the byte budget of {byte_budget_gib:g} GiB: {left_out}"}


def spent_bytes(entries: Sequence[Document]) -> int:
    """What we asked the device for."""
    return sum(entry["read_bytes"] + entry["written_bytes"] for entry in entries)


@contextmanager
def made(out: Path | None, budget: str) -> Iterator[Path]:
    """The calibration's directory, taken away again where nothing was measured."""
    now = datetime.datetime.now(datetime.UTC)
    directory = out or kept_calibrations.DIRECTORY / f"{now:%Y%m%dT%H%M%SZ}-{budget}"
    calibration_directory.create(directory)
    try:
        yield directory
    except BaseException:
        if not (directory / calibration_directory.RECORD).exists():
            calibration_directory.discard(directory)
        raise


def conclude(directory: Path, record: Mapping[str, Any], stop: Stop, *, as_json: bool) -> None:
    """Write down, say what it means, and how it ended where that was not at its end."""
    calibration_directory.write_record(directory, record)
    found = findings_of(record)
    write_calibration(directory, found)
    print_calibration(directory, found, as_json=as_json, earlier=earlier(directory, found))
    kept = f"what was measured until then is in {directory}"
    if stop:
        raise stop.error(kept)
    if found.database is not None and found.database.failed is not None:
        raise DynoError("database_failed", f"--target: {found.database.failed}; {kept}", exit_code=EXIT_RUN_FAILED)
