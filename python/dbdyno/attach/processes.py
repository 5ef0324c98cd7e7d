"""From any process of a server to its postmaster, by /proc alone.

    session, worker, walwriter ...  --parent-->  postmaster  --parent-->  init, a shell, a container's entry point
       comm "postgres"                           comm "postgres"          another comm

Which processes there are, their names and parents everybody may see; where a server's data lies only its own account
and root.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

from dbdyno.errors import DynoError

# What the kernel calls a server process (comm holds 15 bytes): the community's name, the older one, EDB's.
_SERVER_NAMES = ("postgres", "postmaster", "edb-postgres")
_PROC = Path("/proc")


@dataclasses.dataclass(frozen=True, slots=True)
class Process:
    """What everybody may see of a process; `innermost_pid` is its pid in its own container."""

    pid: int
    name: str
    parent: int
    user_id: int
    innermost_pid: int

    @property
    def is_server(self) -> bool:
        """Whether it is one of PostgreSQL's server processes."""
        return self.name in _SERVER_NAMES


def look_up(pid: int) -> Process | None:
    """The process with this pid; None where there is none."""
    try:
        lines = (_PROC / str(pid) / "status").read_text(errors="replace").splitlines()
    except OSError:
        return None
    fields = {key: value.split() for key, _, value in (line.partition(":") for line in lines)}
    if fields.get("Tgid") != [str(pid)]:  # a thread's id leads to a directory as well, but lists no process
        return None
    innermost = fields.get("NSpid", [str(pid)])[-1]
    name = " ".join(fields["Name"])
    return Process(pid, name, int(fields["PPid"][0]), int(fields["Uid"][1]), int(innermost))


def may_read_memory(pid: int) -> bool:
    """Whether we may look into the memory of a process: of one of our own uid, or as root."""
    try:
        with (_PROC / str(pid) / "maps").open("rb") as maps:
            maps.read(1)
    except OSError:
        return False
    return True


def postmaster_of(pid: int) -> int:
    """The pid of the postmaster that `pid` is, or is a child of. Raises `DynoError` with exit code 2."""
    process = look_up(pid)
    if process is None:
        raise DynoError("no_such_process", f"TARGET {pid}: no such process; name the postmaster or one of its backends")
    if not process.is_server:
        raise DynoError(
            "not_a_server",
            f"TARGET {pid}: is {process.name}, not a PostgreSQL server process; "
            "name the postmaster or one of its backends",
        )
    while (parent := look_up(process.parent)) is not None and parent.is_server:
        process = parent
    return process.pid


def postmasters() -> Iterator[Process]:
    """The postmasters that can be seen here."""
    for entry in _PROC.iterdir():
        if entry.name.isdigit() and (process := look_up(int(entry.name))) is not None and process.is_server:
            parent = look_up(process.parent)
            if parent is None or not parent.is_server:
                yield process


def data_directory_of(postmaster_pid: int) -> Path | None:
    """The data directory, as this host reaches it: the postmaster's working directory. None where it is not shown."""
    link = _PROC / str(postmaster_pid) / "cwd"
    try:
        directory = link.readlink()
    except OSError:
        return None
    # In a container the path means something else there than here; the link itself always leads there.
    return directory if _same(directory, link) else link


def _same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False
