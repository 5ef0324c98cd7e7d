"""Block after block through the database, into the record's `database`."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psycopg

from dbdyno import engine
from dbdyno.calibration.budget import FLUSH_METHODS, KIB, PAGE_BYTES
from dbdyno.calibration.cells import Cell, Flushes, Planned
from dbdyno.calibration.database import plan
from dbdyno.calibration.database.budget import DatabaseBudget, building_ns
from dbdyno.calibration.database.counting import Counter
from dbdyno.calibration.database.load import spec
from dbdyno.calibration.database.plan import Arm, Level
from dbdyno.calibration.database.server import (
    Wanted,
    arms_of,
    most_sessions,
    opened,
    settings_of,
    warnings_of,
    write_all_pages,
)
from dbdyno.calibration.database.table import TABLE, build
from dbdyno.calibration.phases import SEGMENT_BYTES
from dbdyno.calibration.place import Place
from dbdyno.calibration.running import Foreground
from dbdyno.calibration.storage import Document, Storage
from dbdyno.errors import DynoError
from dbdyno.probes.server_directory import server_directory
from dbdyno.probes.storage import block_device_of
from dbdyno.targets.page_cache import drop_from_page_cache
from dbdyno.targets.target import Target

# A server reads in order by requests of io_combine_limit (128 KiB unless set), some of them ahead.
SCAN_IO_BYTES, SCAN_DEPTH = 128 * KIB, 8
COMMITS_PER_CELL = 200


@dataclasses.dataclass(frozen=True, slots=True)
class Devices:
    """The device's own files: one to read, and one to which commits go."""

    data: Storage
    log: Storage
    place: Place


def measure(
    wanted: Wanted, devices: Devices, budget: DatabaseBudget, table_bytes: int, seed: int, foreground: Foreground
) -> Document:
    """The record's `database`. What fails ends it, with what was measured until then."""
    record: Document = {"target": wanted.shown, "table_bytes": table_bytes, "cells": [], "failed": None}
    try:
        with opened(wanted, devices.place, table_bytes) as target:
            Procedure(target, devices, budget, table_bytes, seed, foreground).run(record)
    except DynoError as error:
        record["failed"] = error.message
    except psycopg.Error as error:
        record["failed"] = " ".join(str(error).split()) or type(error).__name__
    return record


class Procedure:
    """Measures through one server."""

    def __init__(
        self,
        target: Target,
        devices: Devices,
        budget: DatabaseBudget,
        table_bytes: int,
        seed: int,
        foreground: Foreground,
    ) -> None:
        self._target, self._devices, self._table_bytes = target, devices, table_bytes
        self._seed, self._foreground = seed, foreground
        room = most_sessions(target)
        self._budget = dataclasses.replace(budget, sessions=tuple(one for one in budget.sessions if one <= room))
        self._left_out_sessions = [one for one in budget.sessions if one > room]
        directory = server_directory(target)
        self._block_device = None if directory is None else block_device_of(directory)
        self._settings: dict[str, str] = {}

    def run(self, record: Document) -> None:
        """Build the table, then block after block, as long as the foreground wants it."""
        arms, left_out = arms_of(self._target, self._devices.place)
        self._settings = settings_of(self._target)
        record |= {
            "owned": self._target.owned,
            "version": self._target.server_version,
            "settings": self._settings,
            "arms": [arm.name for arm in arms],
            "left_out": left_out,
            "warnings": [*self._sessions_warning(), *warnings_of(self._target, self._devices.place, self._table_bytes)],
        }
        left_ns = plan.expected_in_all_ns(self._budget, [plan.DEVICE, *arms])
        record["build_ns"] = self._build(left_ns)
        now: Arm | None = None
        for block, arm, level in plan.blocks_of(self._budget, [plan.DEVICE, *arms], self._seed):
            if not self._foreground.go_on():
                return
            sessions = f"{level.sessions} session{'s' if level.sessions > 1 else ''}"
            self._foreground.begin(f"through the database: {level.kind}, {arm.name}, {sessions}", left_ns)
            if not arm.is_device and arm != now:
                now = self._switched(arm)
            record["cells"].append(self._cell(block, arm, level))
            left_ns -= plan.expected_ns(self._budget, arm, level)

    def _build(self, more_ns: int) -> int:
        began_ns, whole_ns = time.monotonic_ns(), building_ns(self._table_bytes)

        def say(bytes_: int) -> bool:
            left_ns = whole_ns * (self._table_bytes - bytes_) // self._table_bytes
            self._foreground.begin("through the database: build the table", left_ns + more_ns)
            return self._foreground.go_on()

        build(self._target, self._table_bytes, self._seed, say)
        write_all_pages(self._target)
        return time.monotonic_ns() - began_ns

    def _switched(self, arm: Arm) -> Arm:
        """The server as the arm wants it, with the index and the catalogs in its memory: what is read is the table."""
        assert arm.settings is not None
        self._target.apply_settings(arm.settings)
        with self._target.connect() as session:
            session.execute("SET enable_seqscan = off")
            session.execute(f"SELECT count(id) FROM {TABLE}".encode())
        return arm

    def _cell(self, block: int, arm: Arm, level: Level) -> Document:
        place = {"kind": level.kind, "arm": arm.name, "block": block, "sessions": level.sessions}
        if arm.is_device:
            return {**self._of_device(block, level), **place}
        cold = self._cold() if arm.name == plan.BUFFERED.name and level.kind != plan.COMMITS else None
        seed = self._seed + block * 1000 + level.sessions
        trial = spec(self._target, level, self._budget, self._table_bytes, seed)
        password = self._target.endpoint.password
        counter = Counter(self._target, self._block_device)
        counter.begin()
        outcome = engine.run_trial(trial, password.reveal() if password else None)
        return {**place, "cold": cold, "outcome": outcome, **counter.end()}

    def _cold(self) -> Document | None:
        """The table's own files out of the page cache, and no others; None where they are not ours."""
        if not self._target.owned:
            return None
        with self._target.connect() as session:
            row: Any = session.execute(
                "SELECT current_setting('data_directory'), pg_relation_filepath(%s)", [TABLE]
            ).fetchone()
        first = Path(*row)
        segments = [first, *sorted(first.parent.glob(f"{first.name}.*"))]
        return dataclasses.asdict(drop_from_page_cache(segments, only_these=True))

    def _of_device(self, block: int, level: Level) -> Document:
        """The device itself with as many I/Os under way as there are sessions."""
        if level.kind == plan.COMMITS:
            method = self._settings["wal_sync_method"]
            work: Cell | Flushes = Flushes(
                method=method if method in FLUSH_METHODS else FLUSH_METHODS[0],
                writers=level.sessions,
                commits=COMMITS_PER_CELL // level.sessions,
                io_bytes=PAGE_BYTES,
                span_bytes=SEGMENT_BYTES,
            )
        else:
            scan = level.kind == plan.SCAN
            work = Cell(
                depth=SCAN_DEPTH if scan else level.sessions,
                io_bytes=SCAN_IO_BYTES if scan else PAGE_BYTES,
                span_bytes=self._table_bytes,
                settle_ns=self._budget.warm_up_ns // 2,
                window_ns=self._budget.window_ns,
                seed=self._seed + block * 1000 + level.sessions,
                sequential=scan,
            )
        storage = self._devices.log if level.kind == plan.COMMITS else self._devices.data
        return storage.run(Planned(f"database_{level.kind}", block, {}, work), self._foreground.go_on)

    def _sessions_warning(self) -> Sequence[dict[str, str]]:
        if not self._left_out_sessions:
            return []
        most = self._budget.sessions[-1]
        message = f"this server has room for {most} sessions now: {self._left_out_sessions[-1]} were wanted"
        return [{"code": "few_connections", "message": message}]


class Later:
    """A foreground for what comes before: the time that is left has ours in it."""

    def __init__(self, foreground: Foreground, more_ns: int) -> None:
        self._foreground, self._more_ns = foreground, more_ns

    def begin(self, what: str, left_ns: int) -> None:
        """This is next, and so much is left."""
        self._foreground.begin(what, left_ns + self._more_ns)

    def go_on(self) -> bool:
        """Whether to."""
        return self._foreground.go_on()
