"""Where things lie on disk.

```
cache directory            DBDYNO_CACHE_DIR, or /var/cache/dbdyno as root, or $XDG_CACHE_HOME/dbdyno, or ~/.cache/dbdyno
  servers/KEY/             a copy of server binaries that the server's account could not reach (root only)
  templates/KEY/           an initialised cluster, copied at every start
  data/                    the default parent of instances
parent/dbdyno-XXXXXXXX/    one instance: mode 0700, the server's account; gone when the server has stopped
  owner.lock               held by flock while the process that owns the instance lives
  cluster/                 PGDATA
  socket/                  the Unix socket
  server.log
```
"""

from __future__ import annotations

import dataclasses
import errno
import fcntl
import os
import secrets
from collections.abc import Mapping
from pathlib import Path

from dbdyno.errors import DynoError
from dbdyno.targets.account import Account

INSTANCE_PREFIX = "dbdyno-"


def cache_directory(environment: Mapping[str, str], account: Account) -> Path:
    """The cache directory, made if it is missing, and checked to be one that the server's account can enter."""
    chosen = _cache_location(environment, as_root=account.changes)
    try:
        chosen.mkdir(parents=True, exist_ok=True, mode=0o755)
    except OSError as error:
        raise DynoError(
            "cache_unusable",
            f"cache directory {chosen}: {os.strerror(error.errno or errno.EIO)}; "
            "set DBDYNO_CACHE_DIR to a directory that you can write to",
        ) from error
    closed = account.first_closed_directory(chosen)
    if closed is not None:
        raise DynoError(
            "cache_unusable",
            f"cache directory {chosen}: uid {account.uid}, which the server runs under, cannot enter {closed}; "
            "set DBDYNO_CACHE_DIR to a directory that every user can enter, e.g. /var/cache/dbdyno",
        )
    return chosen


def _cache_location(environment: Mapping[str, str], *, as_root: bool) -> Path:
    if given := environment.get("DBDYNO_CACHE_DIR"):
        return Path(given).absolute()
    if as_root:
        return Path("/var/cache/dbdyno")
    if (xdg := environment.get("XDG_CACHE_HOME")) and Path(xdg).is_absolute():
        return Path(xdg) / "dbdyno"
    return Path("~/.cache/dbdyno").expanduser()


def data_parent(data_dir: Path | None, cache: Path, account: Account) -> Path:
    """The directory in which instances are made: `--data-dir`, or `data` in the cache."""
    if data_dir is None:
        parent = cache / "data"
        parent.mkdir(mode=0o755, exist_ok=True)
        return parent
    if not data_dir.is_dir():
        raise DynoError("bad_data_dir", f"--data-dir {data_dir}: no such directory; make it first or name another")
    if not os.access(data_dir, os.W_OK | os.X_OK):
        raise DynoError("bad_data_dir", f"--data-dir {data_dir}: not writable; change its mode or name another")
    closed = account.first_closed_directory(data_dir)
    if closed is not None:
        raise DynoError(
            "bad_data_dir",
            f"--data-dir {data_dir}: uid {account.uid}, which the server runs under, cannot enter {closed}; "
            "name a directory that every user can enter",
        )
    return data_dir.resolve()


@dataclasses.dataclass(frozen=True, slots=True)
class Instance:
    """The directory of one server, and the descriptor whose lock says that its owner lives."""

    directory: Path
    lock_descriptor: int

    @property
    def cluster(self) -> Path:
        """PGDATA."""
        return self.directory / "cluster"

    @property
    def socket(self) -> Path:
        """The directory of the Unix socket."""
        return self.directory / "socket"

    @property
    def log(self) -> Path:
        """What the server writes to its standard error."""
        return self.directory / "server.log"

    def release(self) -> None:
        """Give the lock up; the directory is then nobody's."""
        os.close(self.lock_descriptor)


def make_instance(parent: Path, account: Account) -> Instance:
    """A fresh instance directory with its lock held. The caller holds `exclusive(parent)`."""
    directory = parent / f"{INSTANCE_PREFIX}{secrets.token_hex(4)}"
    directory.mkdir(mode=0o700)
    lock = os.open(directory / "owner.lock", os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    socket = directory / "socket"
    socket.mkdir(mode=0o700)
    account.own(socket)
    account.own(directory)
    return Instance(directory, lock)
