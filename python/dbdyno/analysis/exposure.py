"""What a crash would have lost: WAL inserted but not yet flushed, over the samples of an arm's trials.

    insert        ________/-------        bytes = insert - flush, now
                 /       |
          ______/________|                age   = now - the moment when insert passed the flush position of now
    flush  ____ ^--------^                commits = bytes / WAL bytes per unit of work

Under a setting that waits for the flush the exposed bytes belong to commits not yet acknowledged: the figure
is the work in flight, not a risk.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dbdyno.analysis.columns import Integers, flattened, integers, owners
from dbdyno.analysis.documents import Document
from dbdyno.analysis.findings import Exposure, Spread

Floats = npt.NDArray[np.float64]


def exposure(trials: Sequence[Document], bytes_per_unit: float | None, *, acknowledged: bool) -> Exposure | None:
    """Mean, 95th percentile and maximum over all samples of all trials, in commits of so many bytes of WAL, too.

    None where nothing was sampled, and where no row was written: what WAL there is then is the server's own.
    """
    if all(_wrote_nothing(trial["server"]) for trial in trials):
        return None
    sampled = [samples for samples in map(_samples, trials) if samples]
    if not sampled:
        return None
    rows = integers(flattened(flattened(sampled))).reshape(-1, 3)
    exposed_bytes = np.maximum(rows[:, 1] - rows[:, 2], 0).astype(np.float64)
    age_ns = ages_ns(rows, owners(sampled))
    return Exposure(
        samples=len(exposed_bytes),
        acknowledged=acknowledged,
        bytes=_spread(exposed_bytes),
        commits=None if not bytes_per_unit else _spread(exposed_bytes / bytes_per_unit),
        age_ns=_spread(age_ns),
    )


def _wrote_nothing(server: Document) -> bool:
    """Whether the server counts rows written, and counted none."""
    kinds = ("rows_inserted", "rows_updated", "rows_deleted")
    return all(kind in server for kind in kinds) and not any(server[kind] for kind in kinds)


def acknowledges_before_flush(arm: Document, trials: Sequence[Document], server_settings: Document) -> bool:
    """Whether commits return before their WAL is flushed: synchronous_commit is off.

    What the script sets itself counts first, then what was read back from a session, then what the arm set, then the
    server's own setting.
    """
    places = [
        arm.get("in_script", {}),
        *(trial["settings"] for trial in trials),
        arm["session"],
        arm["settings"],
        server_settings,
    ]
    return next((place["synchronous_commit"] for place in places if "synchronous_commit" in place), "on") == "off"


def ages_ns(samples: Integers, trial: Integers) -> Floats:
    """How long ago, at each sample, the oldest unflushed byte had been inserted.

    Between samples the insert position is taken to grow evenly.
    What was inserted before the first sample is dated by the trial's own mean rate of insertion.

    Args:
        samples: rows of [ns, insert position, flush position], those of a trial together and in the order of time.
        trial: of each sample, from 0 on.
    """
    now, insert, flush = samples.T
    first = np.searchsorted(trial, np.arange(trial[-1] + 1))
    last = np.append(first[1:], len(trial)) - 1
    grown, elapsed = insert[last] - insert[first], now[last] - now[first]
    ns_per_byte = np.where(grown > 0, elapsed / np.maximum(grown, 1), 0.0)

    # The last sample not above a flush position, of the same trial: all trials lie in one line of positions.
    start = np.cumsum(grown + 1) - grown - 1 - insert[first]
    flushed = np.clip(flush, insert[first][trial], insert[last][trial])
    below = np.searchsorted(insert + start[trial], flushed + start[trial], side="right") - 1
    above = np.minimum(below + 1, last[trial])

    before_first = now[first][trial] - (insert[first][trial] - flush) * ns_per_byte[trial]
    with np.errstate(divide="ignore", invalid="ignore"):  # what is flushed has no age
        between = now[below] + (flush - insert[below]) / (insert[above] - insert[below]) * (now[above] - now[below])
    passed = np.where(flush < insert[first][trial], before_first, between)
    return np.where(flush < insert, now - passed, 0.0)


def wal_bytes_per_unit(trials: Sequence[Document]) -> float | None:
    """How far the insert position moved during the windows, per unit of work; None where it was not sampled.

    The server's own counters would not do: sessions report to them up to a second late, and they hold the WAL of
    warm-up and log-in too, which after a checkpoint is mostly page images of the catalogs.
    """
    grown, units = 0.0, 0.0
    for trial in trials:
        if samples := _samples(trial):
            (first_ns, first, _), (last_ns, last, _) = samples[0], samples[-1]
            grown += last - first
            units += trial["outcome"]["throughput_per_s"] * (last_ns - first_ns) / 1e9
    return grown / units if units > 0 else None


def per_commit(trials: Sequence[Document], counter: str) -> float | None:
    """A server counter divided by the commits of the same trials; None where either is absent."""
    counted = [trial["server"] for trial in trials if counter in trial["server"] and trial["server"].get("commits")]
    if not counted:
        return None
    return float(sum(server[counter] for server in counted) / sum(server["commits"] for server in counted))


def _samples(trial: Document) -> list[list[int]]:
    return ((trial["outcome"].get("exposure") or {}).get("samples")) or []


def _spread(values: Floats) -> Spread:
    return Spread(mean=float(values.mean()), p95=float(np.quantile(values, 0.95)), max=float(values.max()))
