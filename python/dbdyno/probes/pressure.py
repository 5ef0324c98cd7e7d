"""How long tasks of this host stood still for want of CPU, memory or I/O (Linux Documentation/accounting/psi.rst).

`some`: at least one task waited; `full`: all that had something to do waited at once.
Those of the load are among them, so a trial's figure means something only beside that of other trials of its arm.
"""

from __future__ import annotations

import re
from pathlib import Path

_PRESSURE = Path("/proc/pressure")
# The whole host has no "full" line for the CPU that means anything: while a task runs, not all of them wait.
_LINES = (("cpu", "some"), ("io", "some"), ("io", "full"), ("memory", "some"), ("memory", "full"))


def read_pressure_us(directory: Path = _PRESSURE) -> dict[str, int]:
    """Microseconds since the host started, by `io_pressure_some` and the like; only what can be read."""
    found = {}
    for resource, kind in _LINES:
        try:
            text = (directory / resource).read_text(encoding="ascii")
        except OSError:  # not built in, switched off at boot, or not shown
            continue
        if match := re.search(rf"^{kind} .*total=(\d+)", text, re.MULTILINE):
            found[f"{resource}_pressure_{kind}"] = int(match[1])
    return found
