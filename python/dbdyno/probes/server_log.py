"""What a server wrote to its log in a span of time, reduced to what somebody should know.

A line is `prefix SEVERITY:  message`; the prefix (log_line_prefix: time, pid) is left out, and so are lines that only
continue a message (DETAIL, STATEMENT). Lines that differ in numbers only are one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

DISTINCT_MAX = 20

_LINE = re.compile(r"(?:^|[\s\]:])(WARNING|ERROR|FATAL|PANIC|LOG):  (.*)")

# Of what is written for the record (LOG), that which says that something is amiss or was going on beside the work.
_HINTS = re.compile(
    r"checkpoints are occurring too frequently|could not |unexpected EOF|still waiting for |temporary file: "
    r"|automatic (?:aggressive )?(?:vacuum|analyze)|using stale statistics|was terminated by signal|server process "
)


def log_end(log: Path | None) -> int:
    """Where the log ends now; 0 where there is none."""
    return log.stat().st_size if log is not None and log.exists() else 0


def raised_since(log: Path | None, begins: int) -> list[str]:
    """What was written since `log_end` said `begins`, in order, at most `DISTINCT_MAX` distinct lines."""
    if log is None or not log.exists():
        return []
    with log.open("rb") as file:
        file.seek(begins)
        return worth_knowing(file.read().decode(errors="replace").splitlines())


def worth_knowing(lines: Iterable[str]) -> list[str]:
    """As `SEVERITY: message`; of lines that differ in numbers only, the first."""
    found: dict[str, str] = {}
    for line in lines:
        match = _LINE.search(line)
        if match and (match[1] != "LOG" or _HINTS.search(match[2])):
            found.setdefault(re.sub(r"\d+", "0", f"{match[1]}: {match[2]}"), f"{match[1]}: {match[2]}")
            if len(found) == DISTINCT_MAX:
                break
    return list(found.values())
