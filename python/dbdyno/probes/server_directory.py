"""Where the data of a server lies on this machine."""

from __future__ import annotations

from pathlib import Path

from dbdyno.targets.target import Target


def server_directory(target: Target) -> Path | None:
    """Our own directory, or that of a server whose working directory we may see: a postmaster's is PGDATA."""
    directory = target.data_directory
    if directory is None and target.postmaster_pid is not None:
        try:
            directory = Path(f"/proc/{target.postmaster_pid}/cwd").readlink()
        except OSError:
            return None
    return directory if directory is not None and directory.is_dir() else None
