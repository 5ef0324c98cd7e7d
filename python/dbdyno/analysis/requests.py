"""How pages were read: what the server asked for, what reached the device, and which share was physical.

    accessed = (buffer hits + buffer reads) x page size        all pages of tables and indexes that were looked at
    server   = buffer reads x page size                        those of them that were not in the server's buffers
    device   = bytes that the kernel read from the device      what was not in the page cache either
    physical = min(device, server) / accessed

Plain I/O has no server: accessed are the bytes that it moved, and what it had the device read the kernel counts by
thread. Nobody counts so what a thread has written: the device's counter then bounds it.

A page that the server read may have come from the system's page cache, so the server alone cannot tell a cold
cache from a warm one; and the kernel reads ahead, also for others, so the device alone would count too much.
The lesser of both bounds what this work can have read from the device.
The server's own count of read requests holds the catalogs too, so it gives their mean size and not the share.
"""

from __future__ import annotations

from collections.abc import Sequence

from dbdyno.analysis.documents import Document
from dbdyno.analysis.findings import Device, Reads, Requests
from dbdyno.analysis.work import units_in_all

DEFAULT_PAGE_BYTES = 8192


def page_bytes(server: Document) -> int:
    """The page size that a server was built with; PostgreSQL's default where the record does not say."""
    return int(server.get("page_bytes", DEFAULT_PAGE_BYTES))


def reads(trials: Sequence[Document], page: int) -> Reads | None:
    """The reads of an arm; None where the server's counters are not known or no page was looked at."""
    share, units = physical_share(trials, page), units_in_all(trials)
    if share is None or units is None:
        return None
    size = sum(trial["server"].get("read_bytes", _buffer_bytes(trial, page)) for trial in trials)
    # Servers that do not count requests (before PostgreSQL 16) read one page with each.
    operations = sum(trial["server"].get("read_operations", trial["server"]["buffer_reads"]) for trial in trials)
    return Reads(server=_requests(operations, size, units), physical_share=share, device_known=_device_known(trials))


def physical_share(trials: Sequence[Document], page: int) -> float | None:
    """Of all pages looked at, those that came from the device; None where the server's counters are not known."""
    if any((trial.get("work") or {}).get("file_bytes") for trial in trials):
        return _share_of_peer_file([trial["work"] for trial in trials])
    if any(trial.get("file") for trial in trials):
        return _share_of_file(trials, [trial["file"]["read_bytes"] for trial in trials])
    servers = [trial["server"] for trial in trials]
    if not all("buffer_hits" in server and "buffer_reads" in server for server in servers):
        return None
    accessed = sum(server["buffer_hits"] + server["buffer_reads"] for server in servers) * page
    if accessed == 0:
        return None
    known = _device_known(trials)
    physical = sum(_physical_bytes(trial, page) if known else _buffer_bytes(trial, page) for trial in trials)
    return float(physical / accessed)


def physical_write_share(trials: Sequence[Document]) -> float | None:
    """Of the bytes that plain I/O wrote, those that reached the device meanwhile; None where that is not known."""
    if not _device_known(trials):
        return None
    return _share_of_file(trials, [trial["device"]["write_bytes"] for trial in trials])


def _share_of_file(trials: Sequence[Document], by_device: Sequence[int | None]) -> float | None:
    known = [moved for moved in by_device if moved is not None]
    if len(known) < len(trials):
        return None
    asked = [int(trial["file"]["bytes"]) for trial in trials]
    return sum(map(min, asked, known)) / sum(asked)


def _share_of_peer_file(works: Sequence[Document]) -> float:
    """Of the file in which another engine has the tables, what it had the storage read."""
    sizes = [int(work["file_bytes"]) for work in works]
    return sum(min(int(work["read_bytes"]), size) for work, size in zip(works, sizes, strict=True)) / sum(sizes)


def _physical_bytes(trial: Document, page: int) -> int:
    return min(int(trial["device"]["read_bytes"]), _buffer_bytes(trial, page))


def _buffer_bytes(trial: Document, page: int) -> int:
    return int(trial["server"]["buffer_reads"]) * page


def device(trials: Sequence[Document]) -> Device | None:
    """The requests that reached the device; None where the kernel's counters are not known for every trial."""
    units = units_in_all(trials)
    if units is None or not _device_known(trials):
        return None
    found = [trial["device"] for trial in trials]

    def total(counter: str) -> int:
        return sum(one[counter] for one in found)

    # Linux counts flushes since 5.5.
    flushes = None if any(one["flushes"] is None for one in found) else total("flushes") / units
    return Device(
        name=found[0]["name"],
        reads=_requests(total("reads"), total("read_bytes"), units),
        writes=_requests(total("writes"), total("write_bytes"), units),
        flushes_per_unit=flushes,
    )


def _device_known(trials: Sequence[Document]) -> bool:
    return all(trial.get("device") is not None for trial in trials)


def _requests(operations: int, size: int, units: int) -> Requests:
    return Requests(per_unit=operations / units, bytes_mean=size / operations if operations else None)
