"""The `fingerprint` of the machine record: how fast this machine is now, beside what it was in earlier runs.

The last ones are kept in the user's state directory (`fingerprints.json`). CPU and memory are compared with those of
this host, flushes with those of this host and the same device and file system.
A machine changes without a word: a virtual one is moved to an older host, a volume runs out of its burst credits, a
laptop runs on its battery. Then a figure of last week is no figure of today.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from dbdyno.errors import DynoError
from dbdyno.probes.fingerprint import take_fingerprint
from dbdyno.probes.machine import host
from dbdyno.probes.storage import find_storage
from dbdyno.runner.servers import Servers
from dbdyno.runner.trial import now
from dbdyno.store import state

KEPT = 200
# Compared with the latest of its like: a machine that stays slow is its new self after ten runs.
COMPARED = 20
# With fewer there is no telling which of them was the odd one.
LEAST_EARLIER = 3
# More than a third of the speed lost: half as long again. Turbo, and a neighbour on the same core, explain less.
SLOWER = 1.5
# Flush times vary with what else the device does; their median seldom doubles.
FLUSH_SLOWER = 2.0

_LIMITS = {"cpu_ns_per_kib": SLOWER, "memory_ns_per_kib": SLOWER, "flush_time_ns_p50": FLUSH_SLOWER}
_WORDS = {
    "cpu_ns_per_kib": "the CPU takes",
    "memory_ns_per_kib": "copying memory takes",
    "flush_time_ns_p50": "a flush takes",
}


@dataclasses.dataclass(frozen=True, slots=True)
class Fingerprint:
    """What goes into the machine's record, and what to say before the first trial."""

    record: dict[str, Any]
    warnings: list[dict[str, str]]


def fingerprint(servers: Servers, measured: Mapping[str, int], environment: Mapping[str, str]) -> Fingerprint:
    """Take it, compare it with those kept, keep it. One that cannot be kept is still compared.

    Args:
        servers: the first data directory among them is the one that was flushed.
        measured: `flush_time_ns_p50`, where it was measured just now.
        environment: where the state directory is.
    """
    directory = next((target.data_directory for target in servers.all if target.data_directory is not None), None)
    figures = {"measured_at": now(), **take_fingerprint(), **_flush(measured)}
    current, kept = {**_identity(directory), **figures}, _kept(environment)
    usual = usual_figures(current, kept)
    with contextlib.suppress(DynoError):  # a run does not need a state directory
        state.remember("fingerprints", {"format": 1, "fingerprints": [*kept, current][-KEPT:]}, environment)
    return Fingerprint({**figures, "usual": usual}, changes(current, usual))


def usual_figures(current: Mapping[str, Any], kept: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, float]]:
    """For each figure of `current` the median of the earlier ones of its like, and how many there are; at least 3."""
    found = {}
    for figure in _LIMITS:
        alike = ("host", "device", "file_system") if figure == "flush_time_ns_p50" else ("host",)
        earlier = [
            one[figure]
            for one in kept
            if isinstance(one.get(figure), int | float) and all(one.get(key) == current.get(key) for key in alike)
        ]
        if figure in current and len(earlier) >= LEAST_EARLIER:
            found[figure] = {"median": float(median(earlier[-COMPARED:])), "earlier": len(earlier[-COMPARED:])}
    return found


def changes(current: Mapping[str, Any], usual: Mapping[str, Mapping[str, float]]) -> list[dict[str, str]]:
    """One warning for all that has become slower; none where nothing has."""
    slower = {
        figure: current[figure] / of["median"]
        for figure, of in usual.items()
        if current[figure] > of["median"] * _LIMITS[figure]
    }
    if not slower:
        return []
    said = " and ".join(f"{_WORDS[figure]} {ratio:.1f} times as long" for figure, ratio in slower.items())
    runs = min(int(usual[figure]["earlier"]) for figure in slower)
    message = f"this machine is slower than it was: {said} as in the median of its last {runs} runs"
    return [
        {
            "code": "machine_changed",
            "message": f"{message}; do not compare with runs of then, and find out what has changed",
        }
    ]


def _identity(directory: Path | None) -> dict[str, Any]:
    storage = None if directory is None else find_storage(directory)
    return {
        "host": host(),
        "device": None if storage is None else storage.device,
        "file_system": None if storage is None else storage.file_system,
    }


def _flush(measured: Mapping[str, int]) -> dict[str, int]:
    return {name: value for name, value in measured.items() if name == "flush_time_ns_p50"}


def _kept(environment: Mapping[str, str]) -> list[dict[str, Any]]:
    kept = (state.recall("fingerprints", environment) or {}).get("fingerprints", [])
    return [one for one in kept if isinstance(one, dict)] if isinstance(kept, list) else []
