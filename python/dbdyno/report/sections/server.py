"""What the server, the device and the host did for a unit of work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median

from rich.text import Text

from dbdyno.analysis.findings import Arm, HostCpu, Requests
from dbdyno.report import numbers
from dbdyno.report.layout import Column, paragraph, table
from dbdyno.report.naming import ArmNames
from dbdyno.report.sections.arms import arm_rows, title

COUNTS = {
    "buffer_hits": ("buffer", "hits"),
    "buffer_reads": ("buffer", "reads"),
    "wal_full_page_images": ("full-page", "images"),
    "rows_updated_new_page": ("new-page", "updates"),
}
SIZES = {"wal_bytes": "WAL", "temp_bytes": "temp"}

Figures = Sequence[float | None]


def counters(arms: Sequence[Arm], names: ArmNames) -> list[Text]:
    """The server's own counters: a column for each that counted something anywhere."""
    columns = [_count(heading, _counted(arms, counter)) for counter, heading in COUNTS.items()]
    columns += [_size((heading,), _counted(arms, counter)) for counter, heading in SIZES.items()]
    columns.append(_share(("HOT", "share, %"), [arm.hot_update_share for arm in arms]))
    found = [column for column in columns if column is not None]
    return [*title("What the server did, per unit of work"), *table(arm_rows(arms, names), found)] if found else []


def requests(arms: Sequence[Arm], names: ArmNames) -> list[Text]:
    """The server's reads beside the requests that reached the device, and which share of all pages was physical."""
    if not any(arm.reads is not None and arm.reads.server.per_unit for arm in arms):
        return []
    reads = [arm.reads for arm in arms]
    devices = [arm.device for arm in arms]
    columns = [
        *_requests("server reads", [one.server if one else None for one in reads]),
        *_requests("device reads", [one.reads if one else None for one in devices]),
        *_requests("device writes", [one.writes if one else None for one in devices]),
        _share(("physical", "reads, %"), [one.physical_share if one else None for one in reads]),
    ]
    words = "Requests: how many for a unit of work, and their mean size"
    if not all(one.device_known for one in reads if one):
        words += "; what the server read counts as physical where the device is not known"
    found = [column for column in columns if column is not None]
    return [*title(words), *table(arm_rows(arms, names), found)]


def host_cpu(arms: Sequence[Arm]) -> list[Text]:
    """One line: from the arm with least to that with most."""
    known = [arm.host_cpu for arm in arms if arm.host_cpu is not None]
    if not known:
        return []
    parts: dict[str, Callable[[HostCpu], float]] = {
        "user": lambda host: host.user,
        "system": lambda host: host.system,
        "I/O wait": lambda host: host.io_wait,
        "steal": lambda host: host.steal,
    }
    words = [f"{name} {_range([share(host) for host in known])}" for name, share in parts.items()]
    return paragraph(Text.assemble(("The host's CPUs: ", "bold"), f"{', '.join(words)}."))


def _range(shares: Sequence[float]) -> str:
    least, most = (numbers.in_unit(end(shares), numbers.PER_CENT, most_decimals=1) for end in (min, max))
    return f"{most} %" if least == most else f"{least} to {most} %"


def _counted(arms: Sequence[Arm], counter: str) -> Figures:
    return [arm.counters_per_unit.get(counter) for arm in arms]


def _count(heading: tuple[str, ...], values: Figures, span: str = "") -> Column | None:
    if not any(values):
        return None
    return Column(heading, tuple(numbers.in_unit(value, numbers.ONE) for value in values), span=span)


def _size(heading: tuple[str, ...], values: Figures, span: str = "") -> Column | None:
    known = [value for value in values if value]
    if not known:
        return None
    unit = numbers.byte_unit(median(known))
    return Column((*heading, unit.name), tuple(numbers.in_unit(value, unit) for value in values), span=span)


def _share(heading: tuple[str, ...], values: Figures) -> Column | None:
    if all(value is None for value in values):
        return None
    return Column(heading, tuple(numbers.in_unit(value, numbers.PER_CENT, most_decimals=1) for value in values))


def _requests(span: str, found: Sequence[Requests | None]) -> list[Column | None]:
    return [
        _count(("a unit",), [one.per_unit if one else None for one in found], span),
        _size((), [one.bytes_mean if one else None for one in found], span),
    ]
