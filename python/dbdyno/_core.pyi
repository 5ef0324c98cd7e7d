"""The seam to Rust: all of it. Shapes of the JSON texts: docs/architecture.md."""

from collections.abc import Callable
from typing import Final, final

__all__ = [
    "BUILD_PROFILE",
    "CoreError",
    "StorageBench",
    "__version__",
    "builtin_script",
    "check_script",
    "flame_graph",
    "function_names",
    "generate_chunk",
    "generator_tables",
    "ndv_scan_arrow",
    "ndv_scan_files",
    "ndv_scan_postgres",
    "overwrite_arguments",
    "record_stacks",
    "run_trial",
    "sample_statements",
    "sketch_estimates",
    "sketch_from_server",
    "sketch_integers",
    "sketch_merge",
    "sketch_overlaps",
    "sketch_texts",
    "trace_calls",
    "trace_profile",
    "watch_server",
]
__version__: Final[str]
BUILD_PROFILE: Final[str]

class CoreError(Exception):
    """`args` is (code, message): see `dbdyno.errors.DynoError`."""

def run_trial(spec: str, password: str | None, live: Callable[[str], None] | None = None) -> str:
    """Connect, warm up, measure one window, return the outcome.

    Releases the GIL throughout, but to call `live` about once a second with the trial as it is (JSON).
    """

def watch_server(spec: str, password: str | None, live: Callable[[str], bool] | None = None) -> str:
    """Watch all processes of a server for some seconds, return the outcome.

    Releases the GIL throughout, but to call `live` with each step (JSON), which returns False to end early.
    A Ctrl-C ends it early, too; either way what was seen is returned.
    """

def ndv_scan_postgres(spec: str, password: str | None, live: Callable[[str], None] | None = None) -> tuple[str, bytes]:
    """Read a table once by COPY and count the different values of its columns (JSON; docs/architecture.md, "Distinct
    counts"); returns the outcome and the sketches as a file.

    Releases the GIL throughout, but to call `live` about once a second with how far the scan is (JSON).
    A Ctrl-C cancels it on the server; no session is left, and nothing is returned.
    Raises `spec_invalid`, `scan_failed`, `connection_lost`, and what connecting may raise.
    """

def ndv_scan_arrow(
    spec: str, stream: object, live: Callable[[str], None] | None = None
) -> tuple[str, bytes, list[tuple[str, str, bytes]]]:
    """Read a stream of Arrow record batches, `stream.__arrow_c_stream__()`, to its end, and count the different values
    of its columns (JSON; docs/architecture.md, "Distinct counts"); returns the outcome, the sketches as a file, and
    those for other programs: column, kind, sketch.

    Releases the GIL throughout, but to call `live` about once a second with how far the scan is (JSON).
    A Ctrl-C ends it when the next batch has come; nothing is returned.
    Raises `spec_invalid`, and `scan_failed` with what the producer of the stream says.
    """

def ndv_scan_files(
    spec: str, live: Callable[[str], None] | None = None
) -> tuple[str, bytes, list[tuple[str, str, bytes]]]:
    """Read files that are one table (Parquet, CSV, Arrow) and count the different values of its columns (JSON;
    docs/architecture.md, "Distinct counts"); returns what `ndv_scan_arrow` does.

    Releases the GIL throughout, but to call `live` about once a second with how far the scan is (JSON).
    A Ctrl-C ends it; nothing is returned. Raises `spec_invalid` and `bad_file`.
    """

def trace_profile(spec: str, live: Callable[[str], None] | None = None) -> str:
    """Read Oracle's extended SQL traces, plain or compressed, and account for their time (JSON in, JSON out;
    docs/architecture.md, "Traces").

    Releases the GIL throughout, but to call `live` about once a second with how far the reading is (JSON).
    A Ctrl-C ends it; nothing is returned. Raises `spec_invalid` and `bad_file`.
    """

def record_stacks(spec: str, go_on: Callable[[], bool] | None = None) -> str:
    """Stacks of processes for a while (JSON in, JSON out; docs/architecture.md, "Stacks").

    Releases the GIL throughout, but to ask `go_on` twenty times a second, which returns False to end early.
    """

def trace_calls(spec: str, go_on: Callable[[], bool] | None = None) -> str:
    """System calls of one process for a short while (JSON in, JSON out). Releases the GIL throughout."""

def flame_graph(folded: str, options_json: str) -> str:
    """An SVG of folded stacks; two widths a line make a differential one.

    Options: {"title", "subtitle", "count_name", "meanings": {function: text}, "colours": {frame: "#rrggbb"},
    "min_width_percent", "width"}; all may be left out.
    """

def function_names(path: str) -> list[str]:
    """The names of all functions of an ELF file (.symtab and .dynsym), sorted, each once."""

@final
class StorageBench:
    """A file, or a programmed device, on which cells run; texts are JSON as docs/architecture.md has them.

    Raises `spec_invalid`, `io`, `no_io_uring`.
    """

    def __new__(cls, place: str) -> StorageBench: ...
    @property
    def engine(self) -> str:
        """`io_uring`, `threads`, `null` or `programmed`."""

    def run(self, cell: str, go_on: Callable[[], bool] | None = None) -> str:
        """One cell. `go_on` is asked twenty times a second. Releases the GIL."""

    def flush(self, flushes: str) -> str:
        """Commits in a row. Releases the GIL."""

    def fill(self, bytes: int, seed: int, go_on: Callable[[], bool] | None = None) -> int:
        """Fill the file with pages that are all different; returns the bytes written."""

    def verify(self, offsets: list[int], seed: int) -> int:
        """How many of these pages hold what `fill` wrote."""

def check_script(name: str, text: str) -> str:
    """Parse one pgbench script; a mistake raises `script_syntax` with file, line and column.

    Returns JSON: {"statements": n, "uses_pipeline": bool, "variables": ["aid", ...]}.
    """

def sample_statements(name: str, text: str, variables: dict[str, str], seed: int, mode: str) -> str:
    """The statements of a script with the values of a client's first unit, found without a server.

    Returns JSON: [{"line": 1, "text": "...", "sql": "..." | null, "parameterised": "... $1 ...", "parameters": 1}].
    `sql` is null where a value comes from `\\gset` or the statement lies in a branch not taken.
    """

def builtin_script(name: str) -> str:
    """The text of `tpcb-like`, `simple-update` or `select-only`."""

def generator_tables(generator: str, scale: int, seed: int) -> list[tuple[str, list[str], int, int]]:
    """What `order-entry` or `web-returns` fills: (table, columns, rows, chunks), in load order."""

def generate_chunk(generator: str, table: str, scale: int, seed: int, chunk: int) -> bytes:
    """One chunk of a table's rows in COPY's text format, the same for the same arguments. Releases the GIL."""

def sketch_estimates(file: bytes) -> str:
    """What a file of sketches says of its columns, as JSON: docs/sketch-file.md. Raises `sketch_file`."""

def sketch_merge(files: list[bytes]) -> bytes:
    """The file of the whole from the files of its parts. Raises `sketch_file` and `sketches_differ`."""

def sketch_overlaps(files: list[bytes]) -> str:
    """The pairs of columns that have values in common, as JSON: docs/sketch-file.md. Raises `sketch_file`."""

def sketch_from_server(columns: str, contents: list[bytes]) -> bytes:
    """The file of columns that a server counted by its own 64-bit hash.

    Args:
        columns: JSON, [{"name": "id", "type": "bigint", "seed": 1, "precision": 14, "rows": 9, "nulls": 0,
            "kept": "hashes"}]; `kept` as docs/sketch-file.md has it: "hashes" or "registers".
        contents: of each column its hashes, 64 bits each, least byte first, or 2^precision registers of one byte.
    """

def sketch_integers(values: bytes, precision: int = 14, seed: int = 0) -> bytes:
    """The file of one column of 64-bit integers, least byte first. Releases the GIL."""

def sketch_texts(texts: bytes, ends: bytes, precision: int = 14, seed: int = 0) -> bytes:
    """The file of one column of texts, one behind the other; `ends` are 64-bit offsets. Releases the GIL."""

def overwrite_arguments() -> None:
    """Blank the values of URLs with a password in this process's own argument list (/proc/self/cmdline)."""
