"""A calibration as a comparison sees it: where and how it was measured, how far it may be believed, its figures."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from dbdyno.analysis.calibration import caching
from dbdyno.analysis.calibration.analyse import quality_of
from dbdyno.analysis.calibration.checking import checks
from dbdyno.analysis.calibration.entries import by_level
from dbdyno.analysis.calibrations_compared.figures import Figure, figures
from dbdyno.analysis.calibrations_compared.findings import CalibrationSummary
from dbdyno.analysis.documents import Document
from dbdyno.errors import DynoError

# What makes figures differ on an unchanged disk; keys of the record.
CONDITIONS = (("budget", "the budget"), ("file_bytes", "the file's size"), ("engine", "the engine"))


@dataclasses.dataclass(frozen=True, slots=True)
class Recorded:
    """What was read; `name` is what an error and the report call the calibration."""

    name: str
    record: Document


@dataclasses.dataclass(frozen=True, slots=True)
class Measured:
    """A calibration with its figures by key."""

    summary: CalibrationSummary
    record: Document
    figures: Mapping[tuple[object, ...], Figure]

    @property
    def label(self) -> str:
        """What the report calls it."""
        return self.summary.label


def measured(recorded: Recorded, label: str) -> Measured:
    """Make the figures of a calibration."""
    record = recorded.record
    inventory: Mapping[str, Any] = record["inventory"]
    quality, reasons = quality_of(record, checks(record["entries"], direct=bool(inventory.get("direct"))))
    cache_bytes, below = _cache(record["entries"])
    summary = CalibrationSummary(
        label=label,
        name=recorded.name,
        measured_at=record["measured_at"],
        budget=record["budget"],
        engine=record["engine"],
        file_bytes=record["file_bytes"],
        host=inventory.get("host"),
        directory=inventory.get("directory"),
        device=inventory.get("device"),
        quality=quality,
        reasons=reasons,
        cache_bytes=cache_bytes,
        cache_below_bytes=below,
    )
    return Measured(summary, record, figures(record))


def same_place(one: Document, two: Document) -> bool:
    """Whether two inventories are of one storage: one host, and one device, or where none is named one directory."""
    if one.get("host") != two.get("host"):
        return False
    if one.get("device") and two.get("device"):
        return bool(one["device"] == two["device"] and one.get("file_system") == two.get("file_system"))
    return one.get("directory") == two.get("directory")


def other_conditions(one: Document, two: Document) -> list[str]:
    """What of the conditions of two records differs, in words."""
    words = [said for key, said in CONDITIONS if one[key] != two[key]]
    direct = (one["inventory"].get("direct"), two["inventory"].get("direct"))
    return [*words, *(["direct I/O"] if direct[0] != direct[1] else [])]


def alike(one: Document, two: Document) -> bool:
    """Whether two calibrations, as records or as findings, are of one place and measured in one way."""
    return same_place(one["inventory"], two["inventory"]) and not other_conditions(one, two)


def check_distinct(every: Sequence[Recorded]) -> None:
    """A calibration beside itself would look like proof of a steady disk."""
    for place, one in enumerate(every):
        for earlier in every[:place]:
            if one.record == earlier.record:
                raise DynoError(
                    "same_calibration", f"{one.name}: is the same as {earlier.name}; name two different ones"
                )


def _cache(entries: Sequence[Document]) -> tuple[int | None, int | None]:
    """What a cache holds at least, and the next span."""
    found = caching.cache(entries)
    if found is None:
        return None, None
    larger = [span for span in by_level(entries, "cache_map", "span_bytes") if span > found.bytes_]
    return found.bytes_, min(larger)
