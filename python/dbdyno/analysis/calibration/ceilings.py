"""What was reached beside what was expected, and beside what the link can carry.

A link's rate is what is left of its signals when its code is taken off; packets take some per cent more, so nothing
honest reaches it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dbdyno.analysis.calibration.findings import Ceiling, Load, Size
from dbdyno.analysis.findings import Estimate

GIGA, MEGA = 1e9, 1e6
# Up to the first many gigatransfers a second a PCI link sends 10 bits for 8, up to the second 130 for 128, then 256
# bytes for 242.
PCI_8_OF_10, PCI_128_OF_130 = 5.0, 32.0
# SATA and SAS up to 12 Gbit/s: 8 of 10; SAS at 22.5: 128 of 150.
SERIAL_8_OF_10 = 12.0


def ceilings(
    asked: Mapping[str, Any], inventory: Mapping[str, Any], loads: Sequence[Load], sizes: Sequence[Size]
) -> tuple[Ceiling, ...]:
    """Those that are known and were tried."""
    return tuple(_ceilings(asked, inventory, loads, sizes))


def link_bytes_per_s(link: Mapping[str, str]) -> tuple[str, float] | None:
    """The closest link in words, and its rate; None where the kernel does not tell."""
    for name, words in (("sata_spd", "SATA"), ("negotiated_linkrate", "SAS")):
        speed = _number(link.get(name, ""))
        if speed:
            code = 8 / 10 if speed <= SERIAL_8_OF_10 else 128 / 150
            return f"{words} {speed:g} Gbit/s", speed * GIGA * code / 8
    speed, width = _number(link.get("current_link_speed", "")), _number(link.get("current_link_width", ""))
    if not speed or not width or "GT/s" not in link["current_link_speed"]:
        return None
    code = 8 / 10 if speed <= PCI_8_OF_10 else 128 / 130 if speed <= PCI_128_OF_130 else 242 / 256
    return f"PCIe {speed:g} GT/s x{width:g}", speed * GIGA * width * code / 8


def _ceilings(
    asked: Mapping[str, Any], inventory: Mapping[str, Any], loads: Sequence[Load], sizes: Sequence[Size]
) -> Iterator[Ceiling]:
    if (iops := asked.get("expect_iops")) is not None and loads:
        best = max(loads, key=lambda load: load.iops.estimate)
        yield _ceiling("expected_iops", "--expect-iops", float(iops), best.iops, f"depth {best.depth}")
    if not sizes:
        return
    most = max(sizes, key=lambda size: size.bytes_per_s.estimate)
    order = "in order" if most.sequential else "at random"
    at = f"{most.io_bytes // 1024} KiB {order}, depth {most.depth}"
    if (mbps := asked.get("expect_mbps")) is not None:
        yield _ceiling("expected_bytes_per_s", "--expect-mbps", mbps * MEGA, most.bytes_per_s, at)
    # A virtual machine's links are its hypervisor's invention.
    link = None if inventory.get("virtual") else link_bytes_per_s(inventory.get("link") or {})
    if link is not None:
        yield _ceiling("link_bytes_per_s", *link, most.bytes_per_s, at)


def _ceiling(name: str, says: str, most: float, reached: Estimate, at: str) -> Ceiling:
    surely = reached.estimate if reached.low is None else reached.low
    return Ceiling(name, says, most, reached, at, above=surely > most)


def _number(text: str) -> float:
    found = re.match(r"\s*(\d+(?:\.\d+)?)", text)
    return float(found[1]) if found else 0.0
