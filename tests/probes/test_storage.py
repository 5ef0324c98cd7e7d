"""The mount that a directory lies on, out of mountinfo."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbdyno.probes.storage import find_storage, mount_of

MOUNTINFO = r"""22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard
30 27 0:25 / /dev/shm rw,nosuid shared:4 master:2 - tmpfs tmpfs rw,size=1024k
31 27 0:40 / /srv/my\040data rw - nfs4 nas:/export\134x rw,vers=4.2
32 27 0:41 / /data rw - xfs /dev/sdb1 rw
33 27 0:42 / /data rw,noatime - btrfs /dev/sdc rw,ssd
34 33 0:43 / /data/deep rw - overlay overlay rw,lowerdir=/a
"""


@pytest.mark.parametrize(
    ("path", "file_system", "source", "options"),
    [
        ("/", "ext4", "/dev/vda", "rw,relatime,discard"),
        ("/var/cache", "ext4", "/dev/vda", "rw,relatime,discard"),
        ("/dev/shm/x", "tmpfs", "tmpfs", "rw,nosuid,size=1024k"),
        ("/dev/shmoo", "ext4", "/dev/vda", "rw,relatime,discard"),
        ("/srv/my data/x", "nfs4", "nas:/export\\x", "rw,vers=4.2"),
        ("/data/x", "btrfs", "/dev/sdc", "rw,noatime,ssd"),
        ("/data/deep/er", "overlay", "overlay", "rw,lowerdir=/a"),
    ],
)
def test_mount(path: str, file_system: str, source: str, options: str) -> None:
    """The longest mount point wins, the later of two at one point, and octal escapes are undone."""
    mount = mount_of(Path(path), MOUNTINFO)
    assert (mount.file_system, mount.source, mount.options) == (file_system, source, options)


def test_no_mount_is_unknown() -> None:
    """Without a mountinfo there is no guess."""
    assert mount_of(Path("/x"), "").file_system == "unknown"


def test_this_machine() -> None:
    """/dev/shm is tmpfs without a device; /proc is proc."""
    shared = find_storage(Path("/dev/shm"))
    assert (shared.file_system, shared.device, shared.rotational) == ("tmpfs", "tmpfs", None)
    assert find_storage(Path("/proc/self")).file_system == "proc"
