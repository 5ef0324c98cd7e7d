"""A small run directory on disk, and archives of it that are wrong in exactly one way."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import synthetic

from dbdyno.store.archive import pack
from dbdyno.store.journal import FILE_NAME, Journal

RUN_ID = "commit-write-20261120T060000Z-1"
MANIFEST = f"{RUN_ID}/MANIFEST.json"
Members = dict[str, tuple[tarfile.TarInfo, bytes]]


def write_run(directory: Path, *, finished: bool = True, blocks: int = 6) -> Path:
    """A run directory of two arms, with its copies and a report."""
    run, machine, trials = synthetic.run(arms=2, blocks=blocks)
    experiment = directory / "experiment"
    (experiment / "sql").mkdir(parents=True)
    (experiment / "experiment.toml").write_text('question = "?"\n')
    (experiment / "sql" / "update.sql").write_text("UPDATE counters SET n = n + 1;\n")
    (directory / "report.html").write_text("<!doctype html>\n")
    journal = Journal(directory / FILE_NAME)
    journal.append("run", {**run, "experiment_file": "experiment.toml"})
    journal.append("machine", machine)
    for trial in trials:
        journal.append("trial", trial)
    if finished:
        journal.append("end", {"finished_at": "2026-11-20T06:10:00.000Z", "reason": "complete"})
    journal.close()
    return directory


def packed(directory: Path) -> Path:
    """The archive of a run directory, beside it."""
    return pack(directory, directory.with_name("good.tar.gz"))[0]


def members(archive: Path) -> Members:
    """What is in an archive, by name."""
    with tarfile.open(archive) as tar:
        return {each.name: (each, tar.extractfile(each).read()) for each in tar.getmembers()}  # type: ignore[union-attr]


def rewritten(archive: Path, change: Callable[[Members], None]) -> Path:
    """Another archive, after `change`; the sizes in the headers follow the data."""
    found = members(archive)
    change(found)
    bad = archive.with_name("bad.tar.gz")
    with tarfile.open(bad, "w:gz", format=tarfile.USTAR_FORMAT) as tar:
        for name, (header, data) in found.items():
            header.name = name
            header.size = len(data)
            tar.addfile(header, io.BytesIO(data) if header.isreg() else None)
    return bad


def with_manifest(change: Callable[[dict[str, Any]], None]) -> Callable[[Members], None]:
    """A change of the manifest alone."""

    def apply(found: Members) -> None:
        header, data = found[MANIFEST]
        document = json.loads(data)
        change(document)
        found[MANIFEST] = (header, json.dumps(document).encode())

    return apply


def with_raw_manifest(text: bytes) -> Callable[[Members], None]:
    """Another text instead of the manifest."""
    return lambda found: found.update({MANIFEST: (found[MANIFEST][0], text)})


def with_member(name: str, data: bytes) -> Callable[[Members], None]:
    """One member's data changed, nothing else."""
    return lambda found: found.update({f"{RUN_ID}/{name}": (found[f"{RUN_ID}/{name}"][0], data)})


def with_listed(name: str, data: bytes) -> Callable[[Members], None]:
    """One member's data changed, with a manifest that says so."""

    def apply(found: Members) -> None:
        with_member(name, data)(found)
        with_entry(name, bytes=len(data), sha256=hashlib.sha256(data).hexdigest())(found)

    return apply


def with_entry(name: str, **values: object) -> Callable[[Members], None]:
    """One entry of the manifest changed."""

    def apply(document: dict[str, Any]) -> None:
        next(entry for entry in document["files"] if entry["path"] == name).update(values)

    return with_manifest(apply)


def with_name(name: str, other: str) -> Callable[[Members], None]:
    """A member renamed, in the manifest too."""

    def apply(found: Members) -> None:
        with_entry(name, path=other)(found)
        everything = {(f"{RUN_ID}/{other}" if key == f"{RUN_ID}/{name}" else key): found[key] for key in [*found]}
        found.clear()
        found.update(everything)

    return apply


def with_type(name: str, kind: bytes, linkname: str = "") -> Callable[[Members], None]:
    """A member of another type: a link, a device, an extended header."""

    def apply(found: Members) -> None:
        header, _ = found[f"{RUN_ID}/{name}"]
        header.type, header.linkname = kind, linkname
        found[f"{RUN_ID}/{name}"] = (header, b"")

    return apply


def repacked_stream(archive: Path, change: Callable[[bytes], bytes]) -> Path:
    """The tar inside changed byte for byte and compressed again, with a right checksum."""
    bad = archive.with_name("bad.tar.gz")
    bad.write_bytes(gzip.compress(change(gzip.decompress(archive.read_bytes()))))
    return bad
