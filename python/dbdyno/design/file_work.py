"""The work of an arm in bytes: a relation's, moved by a statement, or by plain reads and writes beside the server.

Several levels may each say a part of it: one what is done (`access`, `order`), another how (`open`).
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

from dbdyno.design.document import Level
from dbdyno.design.merging import merged
from dbdyno.errors import DynoError

# As hdparm and dd are mostly run; divides the gigabyte at which PostgreSQL begins another file of a relation.
DEFAULT_REQUEST_BYTES = 1 << 20
# What O_DIRECT asks of places and lengths on any device of today.
DIRECT_BYTES = 4096


@dataclasses.dataclass(frozen=True, slots=True)
class FileWork:
    """A unit of work moves all bytes of `relation`, in order, or at random `request_bytes` of them.

    `open`: how the file is opened; None: the arm's statement does the work.
    What is written goes into a file of ours, as long as the relation.
    """

    relation: str
    access: str
    order: str
    request_bytes: int
    open: str | None

    @property
    def described(self) -> str:
        """In the place of a script's name."""
        of = "as long as" if self.access == "write" else "of"
        places = "at random places" if self.order == "random" else "in order"
        return f"{self.open} {self.access} {of} {self.relation} {places}, {self.request_bytes // 1024} KiB a request"


def file_work(parts: list[Level], levels: dict[str, str], path: Path) -> FileWork | None:
    """What the levels of an arm say together; None where none of them says anything."""
    said = merged("file", [part.file.model_dump(exclude_none=True) for part in parts], levels, path)
    if not said:
        return None
    arm = "/".join(levels.values())
    for key in ("relation", "access"):
        if key not in said:
            raise DynoError("file_incomplete", f"{path.name}: factors ({arm}): file.{key}: is missing; add it to one")
    found = FileWork(
        relation=said["relation"],
        access=said["access"],
        order=said.get("order", "sequential"),
        request_bytes=said.get("request", DEFAULT_REQUEST_BYTES),
        open=said.get("open"),
    )
    if mistake := _contradiction(found):
        raise DynoError("file_contradiction", f"{path.name}: factors ({arm}): file.{mistake}")
    return found


def _contradiction(work: FileWork) -> str | None:
    if work.access == "write" and work.order == "random":
        return "order = 'random': is for reads; a new file is written in order"
    if work.access == "read" and work.open == "synchronous":
        return "open = 'synchronous': is for writes; a read always waits"
    if work.request_bytes % DIRECT_BYTES or DEFAULT_REQUEST_BYTES % work.request_bytes:
        return f"request: {work.request_bytes} bytes: use 4 kB, 8 kB, 16 kB and so on to 1 MB"
    return None
