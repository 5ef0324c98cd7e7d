"""What the terminal and the page say alike of a storage measured through a database."""

from __future__ import annotations

from dbdyno.analysis.calibration.database.findings import Database
from dbdyno.analysis.findings import Estimate
from dbdyno.report import numbers

WAYS = {
    "device": "the device itself",
    "buffered": "buffered: through the page cache of the host",
    "direct": "direct: past the page cache (debug_io_direct = data)",
}
# What a server's memory and its ways to read and write depend on.
SHOWN_SETTINGS = ("shared_buffers", "io_method", "effective_io_concurrency", "wal_sync_method", "synchronous_commit")
# Read-ahead, catalogs and others' reads come to less than this.
MUCH_BEYOND = -0.05


def way(arm: str) -> str:
    """An arm in words."""
    return WAYS.get(arm, arm)


def share(of_reads: Estimate | None) -> str:
    """A share of the reads in per cent; a dash where nobody counted."""
    return numbers.in_unit(None if of_reads is None else of_reads.estimate, numbers.PER_CENT, 1)


def measured_words(found: Database) -> str:
    """The server, its memory and the table."""
    settings = ", ".join(f"{name} {found.settings[name]}" for name in SHOWN_SETTINGS if name in found.settings)
    server = f"PostgreSQL {found.version}, " if found.version else ""
    blocks = numbers.count(found.blocks, "block")
    return (
        f"{server}{found.target}, a table of {numbers.exact_size(found.table_bytes)} with a row a page; {blocks} in "
        f"which the device and each way of reading stand once{f'; {settings}' if settings else ''}."
    )


def reading_words(found: Database) -> list[str]:
    """How the table is to be read: what a read is, and who counted where it came from."""
    if not found.reads:
        return ["No lookup was measured."]
    least, most = (pick(one.reads_per_lookup for one in found.reads) for pick in (min, max))
    ends = [numbers.significant(least, 2), numbers.significant(most, 2)]
    per_lookup = ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"
    said = [
        f"Reads are pages that the server asked the kernel for ({per_lookup} a lookup), times are of lookups. Page "
        f"cache: the share of these reads that no storage was asked for{_who(found.reads_counted_by)}."
    ]
    if any(one.page_cache_share and one.page_cache_share.estimate < MUCH_BEYOND for one in found.reads):
        others = "" if found.reads_counted_by == "processes" else ", or for others"
        said.append(f"Below 0: the storage was read more than the server asked for, ahead by the kernel{others}.")
    one = found.reads[0]
    if one.server_cpu_ns is not None:
        said.append(
            f"A lookup of {numbers.count(one.sessions, 'session')} takes {numbers.duration(one.server_cpu_ns)} of the "
            f"server's CPU and {numbers.duration(one.driver_cpu_ns)} of the driver's."
        )
    return said


def _who(counted_by: str | None) -> str:
    match counted_by:
        case "processes":
            return ", as the kernel counts it for the server's processes"
        case "device":
            return ", as the device's counters say, in which the reads of others are"
    return "; here nobody counts them"


def limits(found: Database) -> list[str]:
    """What was left out, what failed, and what warns."""
    said = [f"{way(one.arm)}: left out, {one.reason}." for one in found.left_out]
    if found.failed is not None:
        said.append(f"It ended early: {found.failed}.")
    return [*said, *(f"{one['code'].replace('_', ' ')}: {one['message']}." for one in found.warnings)]
