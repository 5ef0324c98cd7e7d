"""The typed front of the Rust core: its errors become `DynoError`, its JSON becomes dictionaries."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from dbdyno import _core
from dbdyno.errors import EXIT_INPUT_WRONG, EXIT_RUN_FAILED, DynoError

T = TypeVar("T")
Watcher = Callable[[Mapping[str, Any]], None]
StepWatcher = Callable[[Mapping[str, Any]], bool]

# What a trial may die of that is not the user's input: the run failed, and what was measured is kept.
_RUN_FAILED = frozenset({"connection_lost", "io", "drain_limit", "scan_failed"})

VERSION = _core.__version__
BUILD_PROFILE = _core.BUILD_PROFILE


def run_trial(spec: Mapping[str, Any], password: str | None, live: Watcher | None = None) -> dict[str, Any]:
    """Run one trial: spec and outcome as docs/architecture.md has them.

    `live` is called about once a second with the trial as it is.
    """

    def look(text: str) -> None:
        assert live is not None
        live(json.loads(text))

    watcher: Callable[[str], None] | None = None if live is None else look
    outcome = _translated(lambda: _core.run_trial(json.dumps(spec), password, watcher))
    return dict(json.loads(outcome))


def watch_server(spec: Mapping[str, Any], password: str | None, live: StepWatcher) -> dict[str, Any]:
    """Watch all processes of a server: spec and outcome as docs/architecture.md has them.

    `live` is called after each step with that step; it returns whether to go on.
    """

    def look(text: str) -> bool:
        return live(json.loads(text))

    return dict(json.loads(_translated(lambda: _core.watch_server(json.dumps(spec), password, look))))


def scan_postgres(
    spec: Mapping[str, Any], password: str | None, live: Watcher | None = None
) -> tuple[dict[str, Any], bytes]:
    """Count the different values of a table's columns in one pass: spec and outcome as docs/architecture.md has them,
    and the file of sketches.

    `live` is called about once a second with how far the scan is.
    """
    return _scanned(_watched(lambda look: _core.ndv_scan_postgres(json.dumps(spec), password, look), live))


def scan_arrow(spec: Mapping[str, Any], stream: object, live: Watcher | None = None) -> tuple[dict[str, Any], bytes]:
    """Count the different values of the columns of a stream of Arrow record batches: spec and outcome as
    docs/architecture.md has them, and the file of sketches.

    `stream` has `__arrow_c_stream__`, as relations of DuckDB, frames of Polars and readers of pyarrow do; it is read
    on another thread and to its end.
    `live` is called about once a second with how far the scan is.
    """
    return _scanned(_watched(lambda look: _core.ndv_scan_arrow(json.dumps(spec), stream, look), live))


def scan_files(spec: Mapping[str, Any], live: Watcher | None = None) -> tuple[dict[str, Any], bytes]:
    """Count the different values of the columns of files that are one table: spec and outcome as docs/architecture.md
    has them, and the file of sketches.

    `live` is called about once a second with how far the scan is.
    """
    return _scanned(_watched(lambda look: _core.ndv_scan_files(json.dumps(spec), look), live))


def _scanned(scanned: tuple[str, bytes, list[tuple[str, str, bytes]]]) -> tuple[dict[str, Any], bytes]:
    outcome, sketches, exported = scanned
    interop = [{"column": column, "kind": kind, "sketch": sketch} for column, kind, sketch in exported]
    return json.loads(outcome) | {"interop": interop}, sketches


def _watched(scan: Callable[[Callable[[str], None] | None], T], live: Watcher | None) -> T:
    def look(text: str) -> None:
        assert live is not None
        live(json.loads(text))

    return _translated(lambda: scan(None if live is None else look))


def trace_profile(spec: Mapping[str, Any], live: Watcher | None = None) -> dict[str, Any]:
    """Account for the time of Oracle's extended SQL traces: spec and outcome as docs/architecture.md has them.

    `live` is called about once a second with how far the reading is.
    """
    return dict(json.loads(_watched(lambda look: _core.trace_profile(json.dumps(spec), look), live)))


def record_stacks(spec: Mapping[str, Any], go_on: Callable[[], bool] | None = None) -> dict[str, Any]:
    """Stacks of a server's processes: spec and outcome as docs/architecture.md has them.

    `go_on` is asked twenty times a second and says False to end early, with what was seen.
    """
    return dict(json.loads(_translated(lambda: _core.record_stacks(json.dumps(spec), go_on))))


def trace_calls(spec: Mapping[str, Any]) -> dict[str, Any]:
    """System calls of one process for a short while: spec and outcome as docs/architecture.md has them."""
    return dict(json.loads(_translated(lambda: _core.trace_calls(json.dumps(spec)))))


class StorageBench:
    """A file, or a programmed device, opened for many cells: place, cells, flushes and outcomes as docs/architecture.md
    has them."""

    def __init__(self, place: Mapping[str, Any]) -> None:
        self._bench = _translated(lambda: _core.StorageBench(json.dumps(place)))

    @property
    def engine(self) -> str:
        """`io_uring`, `threads`, `null` or `programmed`."""
        return self._bench.engine

    def run(self, cell: Mapping[str, Any], go_on: Callable[[], bool] | None = None) -> dict[str, Any]:
        """One load for one window; `go_on` is asked twenty times a second and says False to end early."""
        return dict(json.loads(_translated(lambda: self._bench.run(json.dumps(cell), go_on))))

    def flush(self, flushes: Mapping[str, Any]) -> dict[str, Any]:
        """Commits in a row."""
        return dict(json.loads(_translated(lambda: self._bench.flush(json.dumps(flushes)))))

    def fill(self, bytes_: int, seed: int, go_on: Callable[[], bool] | None = None) -> int:
        """Fill the file with pages that are all different; returns how many bytes were written."""
        return _translated(lambda: self._bench.fill(bytes_, seed, go_on))

    def verify(self, offsets: Sequence[int], seed: int) -> int:
        """How many of the pages at these offsets hold what `fill` wrote."""
        return _translated(lambda: self._bench.verify(list(offsets), seed))


def check_script(name: str, text: str) -> dict[str, Any]:
    """Parse a script; raises `DynoError` with file, line and column."""
    return dict(json.loads(_translated(lambda: _core.check_script(name, text))))


def sample_statements(name: str, text: str, variables: Mapping[str, str], seed: int, mode: str) -> list[dict[str, Any]]:
    """The statements of a script with the values of a client's first unit; `_core.pyi` has their keys."""
    return list(json.loads(_translated(lambda: _core.sample_statements(name, text, dict(variables), seed, mode))))


def builtin_script(name: str) -> str:
    """The text of one of pgbench's three built-in workloads."""
    return _translated(lambda: _core.builtin_script(name))


@dataclasses.dataclass(frozen=True, slots=True)
class GeneratedTable:
    """A table that a generator fills, and in how many chunks."""

    name: str
    columns: tuple[str, ...]
    rows: int
    chunks: int


def generated_tables(generator: str, scale: int, seed: int) -> list[GeneratedTable]:
    """The tables of a generator, in the order in which to load them."""
    found = _translated(lambda: _core.generator_tables(generator, scale, seed))
    return [GeneratedTable(name, tuple(columns), rows, chunks) for name, columns, rows, chunks in found]


def generated_rows(generator: str, table: GeneratedTable, scale: int, seed: int) -> Iterator[bytes]:
    """The rows of one table in COPY's text format, a chunk at a time; the same bytes for the same arguments."""
    for number in range(table.chunks):
        yield _translated(partial(_core.generate_chunk, generator, table.name, scale, seed, number))


def sketch_estimates(file: bytes) -> dict[str, Any]:
    """What a file of sketches says of its columns: docs/sketch-file.md."""
    return dict(json.loads(_translated(lambda: _core.sketch_estimates(file))))


def sketch_merge(files: Sequence[bytes]) -> bytes:
    """The file of the whole from the files of its parts."""
    return _translated(lambda: _core.sketch_merge(list(files)))


def sketch_overlaps(files: Sequence[bytes]) -> list[dict[str, Any]]:
    """The pairs of columns that have values in common: docs/sketch-file.md."""
    return list(json.loads(_translated(lambda: _core.sketch_overlaps(list(files)))))


def sketch_from_server(columns: Sequence[Mapping[str, Any]], contents: Sequence[bytes]) -> bytes:
    """The file of columns that a server counted by itself: `_core.pyi` has the keys and what the contents are."""
    return _translated(lambda: _core.sketch_from_server(json.dumps(list(columns)), list(contents)))


def _translated(call: Callable[[], T]) -> T:
    try:
        return call()
    except _core.CoreError as error:
        code, message = error.args
        raise DynoError(code, message, exit_code=EXIT_RUN_FAILED if code in _RUN_FAILED else EXIT_INPUT_WRONG) from None
