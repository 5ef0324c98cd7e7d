"""What the records of two runs say differently: machine, storage, server, settings, experiment.

What is not in a record cannot be listed: another tenant of the host, another day's temperature. So a short list is no
proof that nothing else differed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dbdyno.analysis.documents import Document
from dbdyno.analysis.recorded_differences import listed, tables
from dbdyno.analysis.runs_compared.common_arms import definition_differences
from dbdyno.analysis.runs_compared.findings import Difference
from dbdyno.analysis.runs_compared.record import Measured, window_ns

MACHINE = (
    ("host", "host", ""),
    ("cpu_model", "CPU model", ""),
    ("cpus", "CPUs", ""),
    ("memory_bytes", "memory", "bytes"),
    ("kernel", "kernel", ""),
    ("virtualisation", "virtualisation", ""),
)
STORAGE = (
    ("device", "device", ""),
    ("file_system", "file system", ""),
    ("rotational", "rotational", ""),
    ("mount_options", "mount options", ""),
)
FINGERPRINT = (
    ("cpu_ns_per_kib", "CPU time of a fixed piece of work, per KiB"),
    ("memory_ns_per_kib", "time to copy memory, per KiB"),
    ("flush_time_ns_p50", "flush time at the start"),
)
EXPERIMENT = (
    ("experiment", "name", ""),
    ("question", "question", ""),
    ("margin", "margin", ""),
    ("blocks", "blocks planned", ""),
    ("quick", "quick form", ""),
    ("stacks", "stacks taken", ""),
    ("sampling_budget", "sampling budget", ""),
    ("seed", "seed", ""),
)


def differences(first: Measured, second: Measured, arms: Iterable[str]) -> list[Difference]:
    """Everything that differs, group after group.

    Args:
        first: one run.
        second: the other one.
        arms: those that are compared.
    """
    one, two = first.machine, second.machine
    return [
        *listed("machine", MACHINE, one, two),
        *_measured("machine", FINGERPRINT[:2], one.get("fingerprint"), two.get("fingerprint")),
        *_storage(one, two),
        *_servers(one, two),
        *_dbdyno(first.run, second.run),
        *_experiment(first, second),
        *(each for name in arms for each in definition_differences(name, first.arms[name], second.arms[name])),
    ]


def _measured(
    group: str, keys: Iterable[tuple[str, str]], one: Document | None, two: Document | None
) -> Iterator[Difference]:
    for key, words in keys:
        before, after = (one or {}).get(key), (two or {}).get(key)
        if not (isinstance(before, int | float) and isinstance(after, int | float) and before > 0 and after > 0):
            continue
        if before != after:
            yield Difference(group, words, float(before), float(after), "ns", measured=True, ratio=after / before)


def _storage(one: Document, two: Document) -> Iterator[Difference]:
    before, after = one.get("data_directory"), two.get("data_directory")
    if (before is None) != (after is None):
        yield Difference("storage", "data directory", _seen(before), _seen(after))
    yield from listed("storage", STORAGE, before or {}, after or {})
    yield from _measured("storage", [("flush_time_ns_p50", "flush time")], before, after)
    yield from _measured("storage", FINGERPRINT[2:], one.get("fingerprint"), two.get("fingerprint"))


def _seen(storage: Document | None) -> str:
    return "on another host" if storage is None else "on this host"


def _servers(one: Document, two: Document) -> Iterator[Difference]:
    """Server by server in the order of the record; where the numbers of servers differ, the first ones only."""
    before, after = servers(one), servers(two)
    if len(before) != len(after):
        yield Difference("server", "servers", len(before), len(after))
        before, after = before[:1], after[:1]
    for place, (first, second) in enumerate(zip(before, after, strict=True), 1):
        of = f" of server {place}" if len(before) > 1 else ""
        keys = (
            ("version", f"version{of}", ""),
            ("page_bytes", f"page size{of}", "bytes"),
            ("embedded", f"started by dbdyno{of}", ""),
            ("same_host", f"on the host of the load{of}", ""),
        )
        yield from listed("server", keys, first, second)
        yield from _settings(first, second, of)


def _settings(one: Document, two: Document, of: str) -> Iterator[Difference]:
    """One that only one record names has its default in the other, whatever that is in its version."""
    return tables("settings", one.get("settings") or {}, two.get("settings") or {}, words=lambda name: f"{name}{of}")


def servers(machine: Document) -> list[Document]:
    """All servers of a run, the default one first."""
    return list(machine.get("servers") or [machine["server"]])


def _dbdyno(one: Document, two: Document) -> Iterator[Difference]:
    keys = (("version", "version", ""), ("build_profile", "build profile", ""))
    yield from listed("dbdyno", keys, one["dbdyno"], two["dbdyno"])


def _experiment(first: Measured, second: Measured) -> Iterator[Difference]:
    yield from listed("experiment", EXPERIMENT, first.run, second.run)
    one, two = len(first.blocks), len(second.blocks)
    if one != two and (one, two) != (first.run["blocks"], second.run["blocks"]):
        yield Difference("experiment", "blocks complete", one, two)
    before_ns, after_ns = window_ns(first), window_ns(second)
    if before_ns != after_ns:
        yield Difference("experiment", "window", before_ns, after_ns, "ns")
    files = first.recorded.files, second.recorded.files
    if all(files):
        for path in sorted({*files[0], *files[1]}):
            before, after = files[0].get(path), files[1].get(path)
            if before != after:
                yield Difference("experiment", f"text of {path}", before, after, "sha256")
