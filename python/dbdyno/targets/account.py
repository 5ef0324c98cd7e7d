"""The operating-system account that the embedded server runs under.

PostgreSQL refuses to run as root.
As root it runs as `nobody`, in directories of mode 0700 that belong to that account; as anybody else, as that user.
"""

from __future__ import annotations

import dataclasses
import os
import pwd
import stat
from pathlib import Path
from typing import Any

_NOBODY_ID = 65534


@dataclasses.dataclass(frozen=True, slots=True)
class Account:
    """The uid and gid of server processes; `changes` when they differ from our own."""

    uid: int
    gid: int
    changes: bool

    def process_arguments(self) -> dict[str, Any]:
        """What `subprocess` needs to start a process under this account: nothing when it is ours."""
        if not self.changes:
            return {}
        return {"user": self.uid, "group": self.gid, "extra_groups": []}

    def own(self, path: Path) -> None:
        """Give `path` to this account."""
        if self.changes:
            os.chown(path, self.uid, self.gid)

    def first_closed_directory(self, path: Path) -> Path | None:
        """The first directory on the way to `path`, itself included, that this account cannot enter."""
        resolved = path.resolve()
        for directory in (*reversed(resolved.parents), resolved):
            if directory.is_dir() and not self._may_enter(directory.stat()):
                return directory
        return None

    def _may_enter(self, status: os.stat_result) -> bool:
        if not self.changes:
            return True
        if status.st_uid == self.uid:
            return bool(status.st_mode & stat.S_IXUSR)
        if status.st_gid == self.gid:
            return bool(status.st_mode & stat.S_IXGRP)
        return bool(status.st_mode & stat.S_IXOTH)


def server_account() -> Account:
    """`nobody` when we are root, ourselves otherwise."""
    if os.geteuid() != 0:
        return Account(os.geteuid(), os.getegid(), changes=False)
    try:
        entry = pwd.getpwnam("nobody")
    except KeyError:
        return Account(_NOBODY_ID, _NOBODY_ID, changes=True)
    if entry.pw_uid == 0:
        return Account(_NOBODY_ID, _NOBODY_ID, changes=True)
    return Account(entry.pw_uid, entry.pw_gid, changes=True)
