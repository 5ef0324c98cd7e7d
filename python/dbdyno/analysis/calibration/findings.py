"""What a calibration concludes: plain frozen dataclasses, the only thing its report may look at.

Times are nanoseconds, rates a second, sizes bytes. `document` gives the JSON of `dbdyno calibrate --json`.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from dbdyno.analysis.calibration.knee import Knee as Knee
from dbdyno.analysis.calibration.log_bins import BINS_PER_DECADE, middle_ns
from dbdyno.analysis.calibration.modes import Mode as Mode
from dbdyno.analysis.calibration.token_bucket import TokenBucket as TokenBucket
from dbdyno.analysis.findings import Estimate

if TYPE_CHECKING:  # it is made of what stands here
    from dbdyno.analysis.calibration.database.findings import Database

FORMAT = 1


@dataclasses.dataclass(frozen=True, slots=True)
class Latency:
    """Response times of some blocks of cells."""

    ios: int
    mean_ns: Estimate
    p50_ns: Estimate
    p90_ns: Estimate
    p99_ns: Estimate
    p999_ns: Estimate | None  # None where too few I/Os lie beyond it


@dataclasses.dataclass(frozen=True, slots=True)
class Load:
    """Small random reads, so many at a time."""

    depth: int
    iops: Estimate
    latency: Latency
    cpu_ns_per_io: float
    blocks: int


@dataclasses.dataclass(frozen=True, slots=True)
class Span:
    """One read at a time within a span."""

    span_bytes: int
    latency: Latency


@dataclasses.dataclass(frozen=True, slots=True)
class Cache:
    """Spans up to `bytes_` are faster by `ratio` than those above it."""

    bytes_: int
    inside_ns: float
    ratio: Estimate
    p_value: float


@dataclasses.dataclass(frozen=True, slots=True)
class Size:
    """Reads of a size, in order or at random."""

    io_bytes: int
    depth: int
    sequential: bool
    bytes_per_s: Estimate
    mean_ns: Estimate


@dataclasses.dataclass(frozen=True, slots=True)
class Flush:
    """Commits of one writer by one method, against fdatasync."""

    method: str
    commits: int
    p50_ns: Estimate
    p99_ns: float
    ratio: Estimate | None  # of the median to that of fdatasync; None for itself
    p_value_holm: float | None
    verdict: str | None


@dataclasses.dataclass(frozen=True, slots=True)
class GroupCommit:
    """So many writers, one of which flushes for all."""

    writers: int
    commits_per_s: Estimate
    p50_ns: float
    commits_per_flush: float


@dataclasses.dataclass(frozen=True, slots=True)
class Rested:
    """Reads that come so rarely that the device rests between them."""

    gap_ns: float
    latency: Latency
    ratio: Estimate  # of the median to that without a rest


@dataclasses.dataclass(frozen=True, slots=True)
class Mixed:
    """Reads beside writes, both at shares of the throughput at the knee, in an open loop; times are those of reads."""

    read_share: float
    write_share: float
    asked_per_s: float  # reads and writes
    reads_per_s: Estimate
    writes_per_s: Estimate
    p50_ns: Estimate
    p99_ns: Estimate
    ratio: Estimate | None  # of the p99 to that without writes; None for itself
    flushes: int


@dataclasses.dataclass(frozen=True, slots=True)
class Stall:
    """So long nothing ended in a cell of this phase although something was asked for."""

    phase: str
    for_ns: int
    per_s: float  # what the load did before and after


@dataclasses.dataclass(frozen=True, slots=True)
class CalibrateIo:
    """The four figures of DBMS_RESOURCE_MANAGER.CALIBRATE_IO, and what each of them hides."""

    max_iops: int
    latency_ms: float
    max_mbps: int
    max_pmbps: int
    depth: int
    concurrency: float
    num_disks: int
    max_latency_ms: float
    large_depth: int
    notes: tuple[str, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Setting:
    """A line of postgresql.conf; without confidence it is a comment."""

    name: str
    value: str
    confidence: str  # high | indicative | none
    measured: str
    rule: str
    default: str
    confirm: str | None  # the experiment that asks the server; None where the value is the default


@dataclasses.dataclass(frozen=True, slots=True)
class Verdict:
    """Something that was recognised, by name."""

    code: str
    sentence: str


@dataclasses.dataclass(frozen=True, slots=True)
class Check:
    """Something that must hold if the figures are to be believed."""

    name: str
    holds: bool
    seen: str


@dataclasses.dataclass(frozen=True, slots=True)
class Ceiling:
    """What somebody expects, or what the link can carry, beside what was reached."""

    name: str  # expected_iops | expected_bytes_per_s | link_bytes_per_s
    says: str  # the flag, or the link in the kernel's words
    most: float
    reached: Estimate
    at: str  # the load that reached it
    above: bool  # so far above that chance does not explain it


@dataclasses.dataclass(frozen=True, slots=True)
class Third:
    """One read at a time within a third of a file, against the other two."""

    first_byte: int
    span_bytes: int
    mean_ns: float
    ratio: Estimate
    p_value_holm: float | None
    slow: bool


@dataclasses.dataclass(frozen=True, slots=True)
class FileFigures:
    """A file that was there: read only."""

    path: str
    bytes_: int
    device: str
    file_system: str
    idle: Latency | None
    depth: int
    iops: Estimate | None  # at that depth
    zero_share: float
    thirds: tuple[Third, ...]
    together: Estimate | None  # IOPS at that depth while all files are read, over that alone; None of a single file


@dataclasses.dataclass(frozen=True, slots=True)
class Guarded:
    """How the guarded service answered before and while the storage was measured."""

    service: str
    statement: str
    factor: float
    limits_ns: tuple[int, ...]  # of most answers, and of nearly all
    before_p50_ns: float
    before_p90_ns: float
    probes: int
    p50_ns: float | None
    p90_ns: float | None
    max_ns: float | None
    seen: str | None  # why the calibration was stopped


@dataclasses.dataclass(frozen=True, slots=True)
class HeatMap:
    """Response times of one phase: rows of [column, bin, ios], bins of 50 a decade; a column is a step or a load.

    `step_ns` is how long a column is where columns are steps of time, one after another; None where they are loads.
    """

    name: str
    columns: tuple[str, ...]
    cells: tuple[tuple[int, int, int], ...]
    step_ns: int | None = None
    bins_per_decade: int = BINS_PER_DECADE
    over: str | None = None  # what loads are numbers of; None: reads at a time

    @property
    def time_cells(self) -> tuple[tuple[int, int, float], ...]:
        """The same cells by the time that their I/Os took together: the number of I/Os x the middle of the bin.

        Nobody needs it twice in a document: whoever has the numbers of I/Os has it, too.
        """
        middles = middle_ns([place for _, place, _ in self.cells]).tolist()
        return tuple((column, place, ios * ns) for (column, place, ios), ns in zip(self.cells, middles, strict=True))


@dataclasses.dataclass(frozen=True, slots=True)
class Burst:
    """All that the device gave, for some time."""

    step_ns: int
    bytes_per_step: tuple[int, ...]
    bucket: TokenBucket | None
    steady: str | None


@dataclasses.dataclass(frozen=True, slots=True)
class Calibration:
    """All of it."""

    budget: str
    measured_at: str
    engine: str
    inventory: dict[str, Any]
    quality: str  # sound | indicative | no conclusion
    reasons: tuple[str, ...]
    idle: Latency | None
    rested: Rested | None
    loads: tuple[Load, ...]
    knee: tuple[Knee, ...]
    modes: tuple[Mode, ...]
    spans: tuple[Span, ...]
    cache: Cache | None
    sizes: tuple[Size, ...]
    burst: Burst | None
    flush: tuple[Flush, ...]
    flush_growing: Flush | None  # fdatasync where the file grows, against itself where it does not
    group_commit: tuple[GroupCommit, ...]
    mixed: tuple[Mixed, ...]
    stalls: tuple[Stall, ...]
    calibrate_io: CalibrateIo | None
    settings: tuple[Setting, ...]
    verdicts: tuple[Verdict, ...]
    checks: tuple[Check, ...]
    heat_maps: tuple[HeatMap, ...]
    engine_ns_per_io: float | None
    file_bytes: int
    bytes_read: int
    bytes_written: int
    warnings: tuple[dict[str, str], ...]
    database: Database | None = None  # None where it was not measured through one
    ceilings: tuple[Ceiling, ...] = ()
    files: tuple[FileFigures, ...] = ()
    guard: Guarded | None = None

    @property
    def document(self) -> dict[str, Any]:
        """The JSON of `dbdyno calibrate --json`."""
        whole = dataclasses.asdict(self)
        whole["modes"] = [{"center_ns": mode.pop("centre_ns"), **mode} for mode in whole["modes"]]
        return {"format": FORMAT, **whole}
