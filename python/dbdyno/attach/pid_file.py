"""`postmaster.pid` of a data directory: who serves it and where it listens.

```
line 1  pid, in the postmaster's own pid namespace       line 5  directory of the first Unix socket, may be relative
line 2  data directory                                   line 6  first TCP address, may be empty or `*`
line 3  start time                                       line 7  shared memory key and id
line 4  port                                             line 8  status
```

(`src/include/utils/pidfile.h` of PostgreSQL.)
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

from dbdyno.attach.processes import data_directory_of, look_up, postmasters
from dbdyno.errors import DynoError

FILE_NAME = "postmaster.pid"


@dataclasses.dataclass(frozen=True, slots=True)
class PidFile:
    """What a running postmaster wrote down; a line that it has not written yet, or that says nothing, is None."""

    pid: int
    port: int | None
    socket_directory: Path | None
    listen_address: str | None


def parse_pid_file(text: str, data_directory: Path) -> PidFile | None:
    """The file's content; None where it holds no pid. A relative socket directory counts from the data directory."""
    lines = [line.strip() for line in text.splitlines()] + [""] * 8
    if not lines[0].isdigit():
        return None
    socket_directory = data_directory / lines[4] if lines[4] else None
    port = int(lines[3]) if lines[3].isdigit() else None
    return PidFile(int(lines[0]), port, socket_directory, lines[5] or None)


def read_pid_file(data_directory: Path) -> PidFile | None:
    """The file of a data directory; None where it is absent or may not be read."""
    try:
        return parse_pid_file((data_directory / FILE_NAME).read_text(errors="replace"), data_directory)
    except OSError:
        return None


def postmaster_at(data_directory: Path) -> int:
    """The pid, in our /proc, of the postmaster that serves a data directory. Raises `DynoError`, exit code 2."""
    shown = f"TARGET {data_directory}"
    _check_data_directory(data_directory, shown)
    try:
        text = (data_directory / FILE_NAME).read_text(errors="replace")
    except FileNotFoundError:
        raise DynoError("server_not_running", f"{shown}: no server runs there (no {FILE_NAME}); start it") from None
    except OSError as error:
        raise DynoError(
            "no_rights", f"{shown}: {FILE_NAME}: {error.strerror}; run as its owner or as root, or name the URL or PID"
        ) from None
    written = parse_pid_file(text, data_directory)
    if written is not None:
        for process in _serving(data_directory, written.pid):
            return process
    raise DynoError(
        "server_not_running",
        f"{shown}: {FILE_NAME} names process {written.pid if written else '?'}, "
        "which is no PostgreSQL server here; start the server",
    )


def _serving(data_directory: Path, written_pid: int) -> list[int]:
    """The process of that pid where it is a server's; else one that knows itself by that pid in a container."""
    direct = look_up(written_pid)
    if direct is not None and direct.is_server and _lies_at(direct.pid, data_directory) is not False:
        return [direct.pid]
    known = [process.pid for process in postmasters() if process.innermost_pid == written_pid]
    return [pid for pid in known if _lies_at(pid, data_directory)]


def _lies_at(postmaster_pid: int, data_directory: Path) -> bool | None:
    """Whether a postmaster works in that directory; None where that may not be seen."""
    directory = data_directory_of(postmaster_pid)
    return None if directory is None else directory.samefile(data_directory)


def _check_data_directory(directory: Path, shown: str) -> None:
    try:
        if not directory.is_dir():
            raise DynoError("bad_target", f"{shown}: no such directory; name a postgres:// URL, a process id or one")
        if not (directory / "PG_VERSION").exists():
            raise DynoError("bad_target", f"{shown}: is not a data directory (no PG_VERSION); name one that is")
    except PermissionError:
        raise DynoError(
            "no_rights", f"{shown}: permission denied; run as its owner or as root, or name the URL or PID"
        ) from None
