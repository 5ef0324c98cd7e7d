"""What the records of two calibrations say differently: machine, storage, and how it was measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dbdyno.analysis.calibrations_compared.record import Measured
from dbdyno.analysis.recorded_differences import listed, tables
from dbdyno.analysis.runs_compared.findings import Difference

MACHINE = (
    ("host", "host", ""),
    ("cpu_model", "CPU model", ""),
    ("cpus", "CPUs", ""),
    ("memory_bytes", "memory", "bytes"),
    ("kernel", "kernel", ""),
)
STORAGE = (
    ("directory", "directory", ""),
    ("device", "device", ""),
    ("file_system", "file system", ""),
    ("mount_options", "mount options", ""),
    ("limits", "limits of the control group", ""),
)
# Tables within the inventory, of which each key is named.
TABLES = ("queue", "link")
MEASURED = (("budget", "budget", ""), ("file_bytes", "file", "bytes"), ("engine", "engine", ""))


def differences(one: Measured, two: Measured) -> list[Difference]:
    """Everything that differs, group after group."""
    first, second = one.record["inventory"], two.record["inventory"]
    return [
        *listed("machine", MACHINE, first, second),
        *listed("storage", STORAGE, first, second),
        *(each for table in TABLES for each in _of_table(first.get(table) or {}, second.get(table) or {})),
        *listed("measured", MEASURED, one.record, two.record),
        *listed("measured", (("direct", "direct I/O", ""),), first, second),
        *listed("measured", (("quality", "quality", ""),), *({"quality": each.summary.quality} for each in (one, two))),
    ]


def _of_table(one: Mapping[str, Any], two: Mapping[str, Any]) -> Iterator[Difference]:
    """The keys are the kernel's names."""
    return tables("storage", one, two, words=lambda key: key.replace("_", " "))
