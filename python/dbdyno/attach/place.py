"""What the argument TARGET names: a URL, a process of this host, or a data directory. Nothing is looked up here.

parse_place("postgres://app@db/shop")    a URL
parse_place("4711")                      a postmaster or any of its backends
parse_place("/var/lib/postgresql/18")    a data directory
"""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

from dbdyno.errors import DynoError
from dbdyno.targets.url import SCHEMES, parse_url

FORMS = "a postgres:// URL, a process id or a data directory"


@dataclasses.dataclass(frozen=True, slots=True)
class UrlPlace:
    """A server by its URL, which may hold a password and is in no repr."""

    url: str = dataclasses.field(repr=False)


@dataclasses.dataclass(frozen=True, slots=True)
class ProcessPlace:
    """A server by the pid of its postmaster or of any of its processes."""

    pid: int


@dataclasses.dataclass(frozen=True, slots=True)
class DirectoryPlace:
    """A server by its data directory."""

    directory: Path


Place = UrlPlace | ProcessPlace | DirectoryPlace


def parse_place(text: str) -> Place:
    """What `text` names. Raises `DynoError("bad_target")`; a text that could hold a password is not repeated."""
    if "://" in text or text.partition(":")[0] in SCHEMES:
        parse_url(text)
        return UrlPlace(text)
    if re.fullmatch(r"[0-9]{1,10}", text, re.ASCII):
        return ProcessPlace(int(text))
    if not text or (re.search(r"=|@", text) and not Path(text).exists()):
        raise DynoError("bad_target", f"TARGET: name {FORMS}")
    return DirectoryPlace(Path(text))
