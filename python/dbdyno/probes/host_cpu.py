"""What the CPUs of this host did between two readings of /proc/stat (proc(5)), as shares of all their time."""

from __future__ import annotations

import dataclasses
from pathlib import Path

_STAT = Path("/proc/stat")
# The first eight columns of the "cpu" line, in ticks; guest time is in user time already.
_STATES = ("user", "nice", "system", "idle", "io_wait", "irq", "soft_irq", "steal")


@dataclasses.dataclass(frozen=True, slots=True)
class HostCpu:
    """Shares that sum to 1; interrupts count as system time, nice time as user time."""

    user: float
    system: float
    io_wait: float
    steal: float
    idle: float


class HostCpuMeter:
    """Reads the host's CPU times; each reading is compared with the one before."""

    def __init__(self, stat: Path = _STAT) -> None:
        self._stat = stat
        self._before = self._ticks()

    def read(self) -> HostCpu | None:
        """What the CPUs did since the last reading; None where no time has passed or nothing can be read."""
        before, self._before = self._before, self._ticks()
        # The kernel may take ticks of idle and I/O wait back (proc_stat(5)): such a part counts as nothing.
        spent = {state: max(0, ticks - before.get(state, 0)) for state, ticks in self._before.items()}
        total = sum(spent.values())
        if total <= 0:
            return None
        return HostCpu(
            user=(spent["user"] + spent["nice"]) / total,
            system=(spent["system"] + spent["irq"] + spent["soft_irq"]) / total,
            io_wait=spent["io_wait"] / total,
            steal=spent["steal"] / total,
            idle=spent["idle"] / total,
        )

    def _ticks(self) -> dict[str, int]:
        try:
            fields = self._stat.read_text(encoding="ascii").partition("\n")[0].split()
        except OSError:
            return {}
        return dict(zip(_STATES, map(int, fields[1:]), strict=False))
