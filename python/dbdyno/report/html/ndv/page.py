"""Puts the page of a distinct count together: the answer first, then what it rests on, then what mends it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from dbdyno.analysis.ndv.findings import ColumnFindings, NdvFindings
from dbdyno.report import numbers
from dbdyno.report.html.document import rendered
from dbdyno.report.html.ndv import errors, growth, plans, tables
from dbdyno.report.html.ndv.judged import Judged, judged
from dbdyno.report.html.quantity import whole
from dbdyno.report.ndv.words import VIA, accusation, answer, counts_of, heading

# So many wrong columns stand in the answer itself, the others behind a click.
MOST_OPEN = 6
# Of columns that refer to others; those whose values may agree by chance are always behind the click.
MOST_KEYS = 12


def page(found: NdvFindings) -> str:
    """One count as one self-contained HTML text."""
    every = judged(found)
    possible = {"errors": errors.chart(every), "growth": growth.chart(found, every)}
    named = {name: chart for name, chart in possible.items() if chart is not None}
    told = min(sum(hint.standing != "possible" for hint in found.foreign_keys), MOST_KEYS)
    return rendered(
        "ndv.html.j2",
        list(named.values()),
        named=named,
        places={name: place for place, name in enumerate(named, 1)},
        found=found,
        compared=bool(every),
        answer=answer(found),
        wrong=[(one.name, accusation(one.one), one.one.verdict) for one in every if not one.is_right],
        most_open=MOST_OPEN,
        summary=heading(found),
        columns=tables.counts(found),
        uses=tables.uses(every),
        planned=plans.planned(found),
        fix=_statements(found.fix_script),
        undo=_statements(found.undo_script),
        alternatives=_alternatives(every),
        foreign_keys=tables.foreign_keys("foreign-keys", found.foreign_keys[:told]),
        further_keys=tables.foreign_keys("further-keys", found.foreign_keys[told:]),
        measured=list(_measured(found)),
    )


def _statements(script: str | None) -> str | None:
    """Without its comments."""
    if script is None:
        return None
    return "\n".join(line for line in script.splitlines() if not line.startswith("--"))


def _alternatives(every: Sequence[Judged]) -> list[tuple[str, str]]:
    """What else could be done, and about which columns."""
    names: dict[str, list[str]] = {}
    for one in every:
        if isinstance(one.one, ColumnFindings) and one.one.alternative is not None:
            names.setdefault(one.one.alternative, []).append(one.name)
    return [(", ".join(named), words) for words, named in names.items()]


def _measured(found: NdvFindings) -> Iterator[tuple[str, str]]:
    """What a reader needs in order to trust the figures or not."""
    yield found.kind, found.table
    if found.where is not None:
        yield "only rows where", found.where
    yield "rows read", whole(found.rows)
    if found.bytes is not None:
        yield "read", numbers.size(found.bytes)
    yield "in", numbers.duration(found.elapsed_ns)
    if found.via in VIA:
        yield "how", VIA[found.via]
    if found.server_version:
        yield "server", f"PostgreSQL {found.server_version // 10_000}.{found.server_version % 10_000}"
    if found.analyzed_at is not None:
        yield "ANALYZE ran last", f"{datetime.fromisoformat(found.analyzed_at).astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    every = [one for _, one in counts_of(found)]
    yield "counted exactly", f"{sum(one.exact for one in every)} of {len(every)}"
