"""The file system and the device that a directory lies on, from /proc/self/mountinfo and /sys/dev/block."""

from __future__ import annotations

import dataclasses
import os
import re
from pathlib import Path

_SYS_BLOCK = Path("/sys/dev/block")


@dataclasses.dataclass(frozen=True, slots=True)
class Mount:
    """One line of mountinfo (proc_pid_mountinfo(5))."""

    device_number: str
    mount_point: str
    options: str
    file_system: str
    source: str


@dataclasses.dataclass(frozen=True, slots=True)
class Storage:
    """What a directory lies on. `rotational` is the kernel's word, which virtual disks seldom set right."""

    file_system: str
    device: str
    rotational: bool | None
    mount_options: str

    @property
    def in_memory(self) -> bool:
        """A flush costs nothing there."""
        return self.file_system in _IN_MEMORY

    @property
    def layered(self) -> bool:
        """A container's layers over a disk."""
        return self.file_system in _LAYERED

    @property
    def on_network(self) -> bool:
        """Times are another machine's."""
        return _NETWORK.fullmatch(self.file_system) is not None

    @property
    def without_barriers(self) -> bool:
        """A flush may not reach the disk."""
        return not {"nobarrier", "barrier=0"}.isdisjoint(self.mount_options.split(","))


_IN_MEMORY = ("tmpfs", "ramfs")
_LAYERED = ("overlay", "aufs")
_NETWORK = re.compile(r"nfs\d?|cifs|smb\w*|ceph|glusterfs|lustre|9p|virtiofs|fuse(\..*)?|afs|ocfs2|gfs2")


def find_storage(directory: Path) -> Storage:
    """What `directory` lies on."""
    mount = _mount(directory)
    block = _block_device(mount)
    return Storage(
        file_system=mount.file_system,
        device=block.name if block is not None else mount.source,
        rotational=_rotational(block),
        mount_options=mount.options,
    )


def block_device_of(directory: Path) -> Path | None:
    """The directory below /sys of the block device (disk, partition or mapped) that the file system is on."""
    return _block_device(_mount(directory))


def _mount(directory: Path) -> Mount:
    return mount_of(directory.resolve(), Path("/proc/self/mountinfo").read_text())


def mount_of(path: Path, mountinfo: str) -> Mount:
    """The mount that `path` is in: the longest mount point above it, the last one where several cover each other."""
    best: Mount | None = None
    for line in mountinfo.splitlines():
        mount = _parse(line)
        inside = path.is_relative_to(mount.mount_point)
        if inside and (best is None or len(mount.mount_point) >= len(best.mount_point)):
            best = mount
    if best is None:
        return Mount("0:0", "/", "", "unknown", "unknown")
    return best


def _parse(line: str) -> Mount:
    before, _, after = line.partition(" - ")
    fields, (file_system, source, *super_options) = before.split(), after.split()
    own, shared = fields[5], super_options[0] if super_options else ""
    options = dict.fromkeys([*own.split(","), *shared.split(",")])
    return Mount(fields[2], _unescaped(fields[4]), ",".join(filter(None, options)), file_system, _unescaped(source))


def _unescaped(text: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)


def _block_device(mount: Mount) -> Path | None:
    """The device's directory below /sys; a file system with a number of its own (btrfs) is found by its source."""
    number = mount.device_number
    if number.startswith("0:") and mount.source.startswith("/dev/"):
        try:
            status = Path(mount.source).stat()
        except OSError:
            return None
        number = f"{os.major(status.st_rdev)}:{os.minor(status.st_rdev)}"
    device = _SYS_BLOCK / number
    return device.resolve() if device.exists() else None


def _rotational(block: Path | None) -> bool | None:
    if block is None:
        return None
    for holder in (block, block.parent):  # a partition lies in its disk's directory
        try:
            return (holder / "queue" / "rotational").read_text().strip() == "1"
        except OSError:
            continue
    return None
