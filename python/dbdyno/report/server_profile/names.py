"""How parts of database time are called in a report."""

from __future__ import annotations

from dbdyno.report.naming import PART_NAMES

OWN_NAMES = {
    "cpu": "CPU",
    "asleep_no_wait_event": "asleep, no wait event",
    "no_clock": "no event, no clock",
    "unaccounted": "unaccounted",
}
UNKNOWN = "(not known)"


def part_name(part: str) -> str:
    """A part in words; a wait event keeps the engine's own name."""
    return OWN_NAMES.get(part) or PART_NAMES.get(part, part)


def clipped(text: str, most: int) -> str:
    """On one line, cut where it is longer; what it is indented by stays."""
    indent = text[: len(text) - len(text.lstrip(" "))]
    line = indent + " ".join(text.split())
    return line if len(line) <= most else line[: most - 3] + "..."
