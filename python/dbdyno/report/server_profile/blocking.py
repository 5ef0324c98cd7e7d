"""Who held up whom, as a tree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text

from dbdyno.analysis.server_profile.findings import Blocker
from dbdyno.report import numbers
from dbdyno.report.layout import WIDTH
from dbdyno.report.sections.arms import title
from dbdyno.report.server_profile.names import clipped

MOST_ROOTS = 5
MOST_BELOW = 5
DEEPEST = 3


def blocking(blockers: Sequence[Blocker]) -> list[Text]:
    """The greatest blockers, what each did, and who waited for them."""
    lines = title("Who held up whom") if blockers else []
    for root in blockers[:MOST_ROOTS]:
        held = numbers.count(root.sessions_blocked, "session")
        lines.append(Text(clipped(f"{_who(root)} held up {held} for {numbers.duration(root.blocked_ns_all)}", WIDTH)))
        lines += [Text(clipped(f"  {detail}", WIDTH), style="dim") for detail in _details(root)]
        lines += _below(root, 1)
    return lines


def _below(blocker: Blocker, depth: int) -> Iterator[Text]:
    for child in blocker.blocked[:MOST_BELOW]:
        text = f"{'  ' * depth}<- {_who(child)} waited {numbers.duration(child.waited_ns)}"
        text += f": {' '.join(child.query.split())}" if child.query else ""
        yield Text(clipped(text, WIDTH))
        if depth < DEEPEST:
            yield from _below(child, depth + 1)
    left = len(blocker.blocked) - MOST_BELOW
    if left > 0:
        yield Text(f"{'  ' * depth}<- and {numbers.count(left, 'other')}", style="dim")


def _details(root: Blocker) -> Iterator[str]:
    yield "meanwhile: " + ", ".join(f"{doing} {numbers.percent(share)}" for doing, share in root.doing.items())
    if root.locks:
        yield "waited for: " + "; ".join(root.locks)
    if root.query:
        yield f"its last query: {root.query}"


def _who(blocker: Blocker) -> str:
    if blocker.pid == 0:
        return "a prepared transaction"
    named = ", ".join(name for name in (blocker.user, blocker.application) if name)
    return f"{blocker.pid} ({named})" if named else str(blocker.pid)
