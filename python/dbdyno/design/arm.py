"""One arm of an experiment: everything that it runs and changes, nothing left to look up."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from pathlib import Path

from dbdyno.design.arrival import Arrival
from dbdyno.design.document import Expect, Measured, SettingValue
from dbdyno.design.file_work import FileWork
from dbdyno.design.scripts import Script

# Variables that differ from block to block: the seed itself, and what is drawn from it.
_SEED = re.compile(r":(?:random|default)_seed\b|\brandom(?:_\w+)?\s*\(")


@dataclasses.dataclass(frozen=True, slots=True)
class Server:
    """Which server an arm runs on, where a level says so: a URL without a password, or a directory of binaries."""

    url: str | None = None
    server_bin: Path | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Arm:
    """One combination of levels. `settings` are the server's, `session` each connection's, `role` the user's.

    `fixed_units`: that many units of work and no more, timed as a whole; None: a timed window.
    `engine`: who executes the statement in a process of its own, where that is no session of the server; `session` are
    then its settings. `extension`: what the server must have on offer.
    `file`: whose bytes a unit moves, and, where its `open` says so, how it is done without the server.
    `null`: a second copy of its baseline, to see how often no difference is taken for one.
    """

    name: str
    levels: dict[str, str]
    baseline: str | None
    server: Server
    engine: str | None
    extension: str | None
    scripts: tuple[Script, ...]
    file: FileWork | None
    fixed_units: int | None
    fetch_rows: int | None
    clients: int
    threads: int
    mode: str
    arrival: Arrival
    connect_ramp_ns: int
    latency_limit_ns: int | None
    rows_per_unit: int | None
    max_tries: int
    variables: dict[str, str]
    session: dict[str, SettingValue]
    settings: dict[str, SettingValue]
    role: dict[str, SettingValue]
    sql: str
    undo: str
    reset: tuple[str, ...]
    expect: Expect
    null: bool = False

    @property
    def is_plain_io(self) -> bool:
        """Whether it reads or writes a file by itself, beside the server."""
        return self.file is not None and self.file.open is not None

    @property
    def is_seeded(self) -> bool:
        """Whether its answer may hang on the seed of its block."""
        return self.engine == "ndv-copy" or any(_SEED.search(script.text) for script in self.scripts)

    @property
    def work_names(self) -> list[str]:
        """What it does: its scripts, or its plain I/O."""
        if self.file is not None and self.is_plain_io:
            return [self.file.described]
        return [script.name for script in self.scripts]


def resolve(value: SettingValue, measured: Mapping[str, float]) -> str:
    """A setting's value as text, with what was measured put in."""
    if isinstance(value, Measured):
        return str(max(0, round(measured[value.measured] * value.times)))
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)
