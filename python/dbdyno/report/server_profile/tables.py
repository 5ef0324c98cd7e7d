"""The tables of a server's profile: parts, queries, owners, lengths of waits, requests, background processes."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from dbdyno.analysis.findings import Estimate
from dbdyno.analysis.server_profile.findings import (
    BackgroundProcess,
    IoLine,
    Part,
    QueryTime,
    ServerProfile,
    Share,
    TimeParts,
)
from dbdyno.report import numbers
from dbdyno.report.layout import WIDTH, Column, Row, table
from dbdyno.report.sections.arms import title
from dbdyno.report.server_profile.names import UNKNOWN, clipped, part_name

# What is smaller than this share of the whole makes no row clearer.
LEAST_SHARE = 0.002
MOST_PARTS = 14
MOST_QUERIES = 8
MOST_OWNERS = 5
MOST_WAITS = 6
MOST_REQUESTS = 8
# A background process that is nowhere busy this often took nothing from anybody.
BUSY_SHARE = 0.005


def parts(profile: ServerProfile) -> list[Text]:
    """Database time part by part, with intervals; equal ranks were not told apart."""
    shown = [part for part in profile.parts if abs(part.share.estimate) >= LEAST_SHARE][:MOST_PARTS]
    if not shown:
        return []
    columns = [
        _figures(("average", "sessions"), [part.active_sessions for part in shown]),
        _figures(("", "seconds"), [part.ns for part in shown], numbers.SECONDS),
        *_shares([part.share for part in shown]),
        Column(("rank",), tuple(_rank(part) for part in shown)),
    ]
    words = "Where the database time went: the parts add up; one rank means not told apart"
    return [*title(words), *table([Row(part_name(part.part)) for part in shown], columns)]


def by_query(profile: ServerProfile) -> list[Text]:
    """The queries with the most time; its text stands above the figures of each."""
    shown = profile.by_query[:MOST_QUERIES]
    if not shown or all(query.query_id is None for query in shown):
        return []
    columns = [*_times([query.ns for query in shown], [query.share for query in shown]), *_split(shown)]
    if any(query.calls is not None for query in shown):
        columns += _calls(shown)
    return [*title("By query"), *table([Row(_query(query)) for query in shown], columns)]


def by_owner(kind: str, shares: Sequence[Share]) -> list[Text]:
    """The same by user, application and so on; nothing where there is only one."""
    shown = shares[:MOST_OWNERS]
    if len(shown) < 2:
        return []
    columns = [*_times([share.ns for share in shown], [share.share for share in shown]), *_split(shown)]
    return [*title(f"By {kind}"), *table([Row(share.name or UNKNOWN) for share in shown], columns)]


def wait_lengths(profile: ServerProfile) -> list[Text]:
    """How long single waits were, from the transitions that were seen."""
    shown = profile.heat_maps[:MOST_WAITS]
    if not shown:
        return []
    unit = numbers.time_unit(sorted(found.median_ns for found in shown)[len(shown) // 2])
    columns = [
        Column(("waits",), tuple(f"{found.count:,}" for found in shown)),
        Column((f"median, {unit.name}",), tuple(numbers.in_unit(found.median_ns, unit) for found in shown)),
        Column((f"longest, {unit.name}",), tuple(numbers.in_unit(found.longest_ns, unit) for found in shown)),
    ]
    words = f"Lengths of waits (those under {numbers.duration(shown[0].shortest_ns)} are mostly missed)"
    return [*title(words), *table([Row(found.event) for found in shown], columns)]


def requests(profile: ServerProfile) -> list[Text]:
    """Who read and wrote, and what was read, by the server's own counters."""
    lines: list[Text] = []
    for by, words in (("backend type", "I/O by backend type"), ("relation", "Reads by relation")):
        kinds = ("read", "write", "extend") if by == "backend type" else ("read",)
        found = [line for line in profile.io if line.by == by and line.operation in kinds]
        shown = sorted(found, key=lambda line: -(line.bytes or 0))[:MOST_REQUESTS]
        if shown:
            lines += [Text()] if lines else []
            lines += [*title(words), *table([Row(_io_name(line, by)) for line in shown], _io_columns(shown))]
    return lines


def background(profile: ServerProfile) -> list[Text]:
    """Server processes that serve no client; their time is in no session's."""
    shown = [process for process in profile.background if process.busy.estimate >= BUSY_SHARE]
    if not shown:
        return []
    columns = [
        Column(("pro-", "cesses"), tuple(str(process.processes) for process in shown)),
        *_shares([process.busy for process in shown], "busy, %"),
        Column(("CPU, %",), tuple(_percent(process.cpu) for process in shown)),
        Column(("run", "queue, %"), tuple(_percent(process.run_queue) for process in shown)),
        Column(("sleeps in",), tuple(_sleeps_in(process) for process in shown), words=True),
    ]
    words = "Background processes, in % of one process's time (in nobody's database time)"
    return [*title(words), *table([Row(process.backend_type) for process in shown], columns)]


def _times(ns: Sequence[Estimate], shares: Sequence[Estimate]) -> list[Column]:
    return [_figures(("seconds",), ns, numbers.SECONDS), *_shares(shares)]


def _figures(heading: tuple[str, ...], figures: Sequence[Estimate], unit: numbers.Unit = numbers.ONE) -> Column:
    return Column(heading, tuple(numbers.in_unit(figure.estimate, unit) for figure in figures), style="bold")


def _shares(figures: Sequence[Estimate], heading: str = "share, %") -> list[Column]:
    """An estimate and its interval, in per cent."""
    estimates = tuple(_percent(figure) for figure in figures)
    bounds = tuple(_interval(figure) for figure in figures)
    return [Column((heading,), estimates, style="bold"), Column(("95 %", "interval"), bounds, style="dim", words=True)]


def _percent(figure: Estimate | None) -> str:
    return numbers.NOTHING if figure is None else numbers.in_unit(figure.estimate, numbers.PER_CENT, most_decimals=1)


def _interval(figure: Estimate) -> str:
    if figure.low is None or figure.high is None:
        return numbers.NOTHING
    low, high = (numbers.in_unit(end, numbers.PER_CENT, most_decimals=1) for end in (figure.low, figure.high))
    return f"[{low}, {high}]"


def _rank(part: Part) -> str:
    return numbers.NOTHING if part.part == "unaccounted" else str(part.rank_group)


def _split(shown: Sequence[QueryTime | Share]) -> list[Column]:
    """CPU, run queue and waits of each, in % of its own time, and the greatest part in words."""
    return [
        Column(("CPU,", "%"), tuple(_of(one.profile_ns, one.profile_ns.cpu) for one in shown)),
        Column(("queue,", "%"), tuple(_of(one.profile_ns, one.profile_ns.run_queue) for one in shown)),
        Column(("mostly",), tuple(part_name(one.parts[0].part) if one.parts else "" for one in shown), words=True),
    ]


def _of(parts_ns: TimeParts, ns: float | None) -> str:
    whole = parts_ns.total
    return numbers.NOTHING if ns is None or whole <= 0 else numbers.in_unit(ns / whole, numbers.PER_CENT, 0)


def _calls(shown: Sequence[QueryTime]) -> list[Column]:
    known = [query.ns_per_call for query in shown if query.ns_per_call is not None]
    unit = numbers.time_unit(sorted(known)[len(known) // 2]) if known else numbers.MILLISECONDS
    return [
        Column(("calls",), tuple(numbers.NOTHING if query.calls is None else f"{query.calls:,}" for query in shown)),
        Column((f"{unit.name}", "a call"), tuple(numbers.in_unit(query.ns_per_call, unit) for query in shown)),
    ]


def _query(query: QueryTime) -> str:
    name = query.query_id or "(no query id)"
    return clipped(f"{name} {query.text}", WIDTH) if query.text else name


def _io_name(line: IoLine, by: str) -> str:
    return clipped(f"{line.name}: {line.operation}" if by == "backend type" else line.name, WIDTH)


def _io_columns(shown: Sequence[IoLine]) -> list[Column]:
    unit = numbers.byte_unit(sorted(line.bytes or 0 for line in shown)[len(shown) // 2])
    columns = [
        Column(
            ("requests" if shown[0].by == "backend type" else "pages",), tuple(f"{one.requests:,}" for one in shown)
        ),
        Column((unit.name,), tuple(numbers.in_unit(one.bytes, unit) for one in shown)),
        Column(("share,", "%"), tuple(numbers.in_unit(one.share, numbers.PER_CENT, 1) for one in shown)),
    ]
    if any(one.request_bytes_mean for one in shown):
        means = [None if one.request_bytes_mean is None else one.request_bytes_mean / 1024 for one in shown]
        columns.append(Column(("KiB a", "request"), tuple(numbers.in_unit(mean, numbers.ONE) for mean in means)))
    if any(one.size_share is not None for one in shown):
        shares = tuple(numbers.in_unit(one.size_share, numbers.PER_CENT, 1) for one in shown)
        columns.append(Column(("share of", "size, %"), shares))
    return columns


def _sleeps_in(process: BackgroundProcess) -> str:
    return part_name(next(iter(process.waits), ""))
