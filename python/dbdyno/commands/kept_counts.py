"""The counts of `dbdyno ndv` on disk: each kept as soon as its table was read, then concluded from together."""

from __future__ import annotations

import dataclasses
import datetime
import itertools
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dbdyno import engine
from dbdyno.store import ndv_directory

DIRECTORY = Path("dbdyno-ndv")
# A page has its charts' library within it, 5 MB: those of more tables are made when they are asked for.
PAGES_MAX = 20
Record = dict[str, Any]


@dataclasses.dataclass(frozen=True, slots=True)
class Kept:
    """One table's count: its record may be added to, what was found stays."""

    directory: Path
    record: Record
    sketches: bytes

    def write(self) -> None:
        """Write it, or write it again with what was added."""
        ndv_directory.write_record(self.directory, self.record, self.sketches)


def keep(
    directory: Path,
    target: str,
    catalogue: Mapping[str, Any],
    scan: Mapping[str, Any],
    counted: tuple[Mapping[str, Any], bytes],
    planner_groups: Sequence[float] = (),
) -> Kept:
    """Write what was read and found, as docs/architecture.md has it; `counted` is the outcome and the sketches."""
    outcome, sketches = counted
    exported = outcome.get("interop", ())
    record: Record = {
        "measured_at": datetime.datetime.now(datetime.UTC).isoformat(),
        "target": target,
        "catalogue": catalogue,
        "scan": scan,
        "outcome": {name: value for name, value in outcome.items() if name != "interop"},
        "planner_groups": list(planner_groups),
        "overlaps": [],
        "what_if": None,
    }
    directory.mkdir(exist_ok=True)
    kept = Kept(directory, record, sketches)
    kept.write()
    if exported:
        _export(directory, exported)
    return kept


def _export(directory: Path, exported: Sequence[Mapping[str, Any]]) -> None:
    """Sketches for other programs, a file each, and a word of where they are."""
    names = distinct_names([one["column"] for one in exported if one["kind"] == exported[0]["kind"]])
    by_column = dict(zip(dict.fromkeys(one["column"] for one in exported), names, strict=True))
    files = {f"{by_column[one['column']]}.{one['kind']}": one["sketch"] for one in exported}
    where = ndv_directory.write_exports(directory, files)
    print(f"sketches for other programs: {where} ({len(files)} files)", file=sys.stderr)


def conclude(counts: Sequence[Kept], *, as_json: bool) -> None:
    """Compare the columns of all of them, write the findings and print them."""
    # Not before: it takes a second to import, in which a wrong name could have been told.
    from dbdyno.commands.ndv_report import findings_of, print_counts, write_findings, write_page

    _add_overlaps(counts)
    found = [(one.directory, findings_of(one.record)) for one in counts]
    for directory, findings in found:
        write_findings(directory, findings)
        if len(found) <= PAGES_MAX:
            write_page(directory, findings)
    print_counts(found, as_json=as_json)


def _add_overlaps(counts: Sequence[Kept]) -> None:
    """Into each record, which other columns its own may refer to."""
    from dbdyno.analysis.ndv.overlapping import overlaps
    from dbdyno.commands.ndv_report import findings_of

    # Of some rows only nobody knows whether what they refer to is among the others.
    whole = [one for one in counts if one.record["scan"]["where"] is None]
    pairs = engine.sketch_overlaps([one.sketches for one in whole])
    tables = [(one.record["catalogue"], findings_of(one.record)) for one in whole]
    for one, seen in zip(whole, overlaps(pairs, tables), strict=True):
        if seen:
            one.record["overlaps"] = [dataclasses.asdict(overlap) for overlap in seen]
            one.write()


@contextmanager
def made(directory: Path) -> Iterator[Path]:
    """The directory of a count, or of several, taken away again where nothing was counted."""
    ndv_directory.create(directory)
    try:
        yield directory
    except BaseException:
        if not (directory / ndv_directory.RECORD).exists():
            ndv_directory.discard(directory)
        raise


def default_directory(whole: str, tables: Sequence[str]) -> Path:
    """`./dbdyno-ndv/NAME-UTC`: the table's name, of several that of the whole."""
    moment = datetime.datetime.now(datetime.UTC).strftime("%Y%m%dT%H%M%SZ")
    return DIRECTORY / f"{file_name(tables[0] if len(tables) == 1 else whole)}-{moment}"


def directories_of(directory: Path, names: Sequence[str]) -> list[Path]:
    """The directory of each table: of one that of the command, of several one below it each."""
    if len(names) == 1:
        return [directory]
    return [directory / name for name in distinct_names(names)]


def distinct_names(names: Sequence[str]) -> list[str]:
    """Names of files, each once: a number parts those that are the same without what a file system stumbles over."""
    taken: list[str] = []
    for name in map(file_name, names):
        numbered = itertools.chain([name], (f"{name}-{number}" for number in itertools.count(2)))
        taken.append(next(one for one in numbered if one not in taken))
    return taken


def file_name(name: str) -> str:
    """A name without what a shell or a file system would stumble over."""
    return re.sub(r"[^\w.-]+", "-", name)
