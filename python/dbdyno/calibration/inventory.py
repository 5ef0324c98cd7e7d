"""What the kernel says about the device: its own words, which virtual devices seldom set right."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from dbdyno.calibration.place import Place
from dbdyno.probes.machine import cpu_model, host

_QUEUE_FILES = {
    "rotational": "rotational",
    "write_cache": "write_cache",
    "fua": "fua",
    "scheduler": "scheduler",
    "nr_requests": "nr_requests",
    "polls": "io_poll",
    "logical_block_bytes": "logical_block_size",
    "physical_block_bytes": "physical_block_size",
    "largest_request_kib": "max_sectors_kb",
}
_IO_URING_DISABLED = Path("/proc/sys/kernel/io_uring_disabled")


def inventory(place: Place) -> dict[str, Any]:
    """The record's `inventory`."""
    return {
        "host": host(),
        "cpus": len(os.sched_getaffinity(0)),
        "cpu_model": cpu_model(_read(Path("/proc/cpuinfo"))),
        "virtual": is_virtual(_read(Path("/proc/cpuinfo"))),
        "kernel": os.uname().release,
        "directory": str(place.directory.resolve()),
        "file_system": place.storage.file_system,
        "mount_options": place.storage.mount_options,
        "device": place.storage.device,
        "direct": place.direct,
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "queue": queue_of(place.block_device),
        "link": link_of(place.block_device),
        "limits": cgroup_limits(place.block_device),
        "io_uring_disabled": _read(_IO_URING_DISABLED) or None,
    }


def queue_of(block: Path | None) -> dict[str, str]:
    """Files of the device's queue, as they stand there; a partition has its disk's."""
    if block is None:
        return {}
    queue = next((holder / "queue" for holder in (block, block.parent) if (holder / "queue").is_dir()), None)
    if queue is None:
        return {}
    found = {name: _read(queue / file) for name, file in _QUEUE_FILES.items()}
    return {name: text for name, text in found.items() if text}


def is_virtual(cpuinfo: str) -> bool:
    """Whether a hypervisor runs this machine: then its PCI links are what that one made up."""
    return re.search(r"^flags\b.*\bhypervisor\b", cpuinfo, re.MULTILINE) is not None


# Where the kernel puts a link's speed, seen from the directories above the device: the port of a SATA or SAS disk has a
# directory for its links, a PCI function has files.
_LINK_FILES = {
    "sata_spd": "link*/ata_link/link*/sata_spd",
    "negotiated_linkrate": "phy-*/sas_phy/phy-*/negotiated_linkrate",
    "current_link_speed": "current_link_speed",
    "current_link_width": "current_link_width",
}


def link_of(block: Path | None) -> dict[str, str]:
    """Speed and width of the PCI link, or the speed of the SATA or SAS link, where the kernel tells; the closest of
    each."""
    found: dict[str, str] = {}
    if block is None:
        return found
    for holder in (block, *block.parents):
        if holder.name == "devices":
            break
        for name, pattern in _LINK_FILES.items():
            text = next(map(_read, sorted(holder.glob(pattern))), "")
            if name not in found and text not in ("", "<unknown>"):
                found[name] = text
    return found


def cgroup_limits(block: Path | None, root: Path = Path("/sys/fs/cgroup")) -> str | None:
    """The line of `io.max` for this device, of the closest control group that has one."""
    if block is None:
        return None
    number = _read(block / "dev")
    _, _, path = _read(Path("/proc/self/cgroup")).partition("0::")
    group = root / path.partition("\n")[0].strip("/")
    while group.is_relative_to(root):
        for line in _read(group / "io.max").splitlines():
            if number and line.startswith(f"{number} "):
                return line
        group = group.parent
    return None


def _read(path: Path) -> str:
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""
