"""Damaged and hostile archives, as one table: one line that names what is wrong, exit code 2, nothing left behind."""

from __future__ import annotations

import gzip
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from packed import (
    RUN_ID,
    packed,
    repacked_stream,
    rewritten,
    with_entry,
    with_listed,
    with_manifest,
    with_member,
    with_name,
    with_raw_manifest,
    with_type,
    write_run,
)

from dbdyno.commands.app import run as dbdyno
from dbdyno.errors import DynoError
from dbdyno.store import journal
from dbdyno.store.unpack import read, unpack

SQL = "experiment/sql/update.sql"
BOMB_BYTES = 50 * 2**20


def bytes_of(change: Callable[[bytes], bytes]) -> Callable[[Path], Path]:
    """The archive's own bytes changed."""

    def make(archive: Path) -> Path:
        bad = archive.with_name("bad.tar.gz")
        bad.write_bytes(change(archive.read_bytes()))
        return bad

    return make


def members_of(change: Callable[[dict], None]) -> Callable[[Path], Path]:  # type: ignore[type-arg]
    """The files in it changed."""
    return lambda archive: rewritten(archive, change)


def stream_of(change: Callable[[bytes], bytes]) -> Callable[[Path], Path]:
    """The tar in it changed, with right checksums around."""
    return lambda archive: repacked_stream(archive, change)


def without_last_member(members: dict) -> None:  # type: ignore[type-arg]
    members.popitem()


def with_extra_member(members: dict) -> None:  # type: ignore[type-arg]
    header, data = next(iter(members.values()))
    members[f"{RUN_ID}/extra"] = (header, data)


def without_manifest(members: dict) -> None:  # type: ignore[type-arg]
    del members[f"{RUN_ID}/MANIFEST.json"]


def extended_header(kind: bytes) -> Callable[[bytes], bytes]:
    """An extended header that announces 50 MiB of names in front of everything."""

    def change(tar: bytes) -> bytes:
        header = tarfile.TarInfo("extended")
        header.type, header.size = kind, BOMB_BYTES
        return header.tobuf(tarfile.USTAR_FORMAT) + bytes(BOMB_BYTES) + tar

    return change


def twice(document: dict) -> None:  # type: ignore[type-arg]
    document["files"].append(document["files"][0])


def crafted_journal(*bodies: object) -> bytes:
    """A journal with right checksums whose records nobody wrote."""
    return b"".join(journal.encode(seq, "run", body) for seq, body in enumerate(bodies))  # type: ignore[arg-type]


JOURNAL, COPY = "journal.jsonl", "experiment/experiment.toml"

CASES: list[tuple[str, str, Callable[[Path], Path]]] = [
    ("empty file", "ends too early", bytes_of(lambda data: b"")),
    ("not an archive", "is damaged, or no archive", bytes_of(lambda data: b"SELECT 1;\n")),
    ("gzip of something else", "is damaged, or no archive", bytes_of(lambda data: gzip.compress(b"x" * 4096))),
    ("cut short", "ends too early", bytes_of(lambda data: data[: len(data) // 2])),
    ("last byte missing", "ends too early", bytes_of(lambda data: data[:-1])),
    ("flipped bit", "is damaged", bytes_of(lambda data: data[:-8] + bytes([data[-8] ^ 1]) + data[-7:])),
    ("garbage behind it", "is damaged", bytes_of(lambda data: data + b"garbage")),
    ("second archive behind it", "has more in it", bytes_of(lambda data: data + data)),
    ("tar cut short", "ends too early", stream_of(lambda tar: tar[:2048])),
    ("no end of archive", "ends too early", stream_of(lambda tar: tar.rstrip(b"\0"))),
    ("zeros without end", "has more in it", stream_of(lambda tar: tar + bytes(BOMB_BYTES))),
    ("pax header bomb", "'extended' is a link, a device", stream_of(extended_header(tarfile.XHDTYPE))),
    ("GNU long name bomb", "'extended' is a link, a device", stream_of(extended_header(tarfile.GNUTYPE_LONGNAME))),
    ("changed file", f"'{SQL}' has not the SHA-256", members_of(with_member(SQL, b"UPDATE counters SET n = n + 2;\n"))),
    ("longer file", f"'{SQL}' has 64 bytes, the manifest says 31", members_of(with_member(SQL, bytes(64)))),
    ("file missing", "is damaged, or no archive", members_of(without_last_member)),
    ("file that is not listed", "has more in it", members_of(with_extra_member)),
    ("no manifest", "is its first file, not a MANIFEST.json", members_of(without_manifest)),
    ("manifest not JSON", "MANIFEST.json is not JSON", members_of(with_raw_manifest(b"{"))),
    ("manifest not text", "MANIFEST.json is not JSON", members_of(with_raw_manifest(b"\xff"))),
    ("manifest nested deeply", "MANIFEST.json is not JSON", members_of(with_raw_manifest(b"[" * 100_000))),
    ("manifest a list", "MANIFEST.json has no format", members_of(with_raw_manifest(b"[]"))),
    ("manifest too large", "is its first file, not a", members_of(with_raw_manifest(bytes(4 * 2**20 + 1)))),
    ("no files", "lacks run_id, dbdyno or files", members_of(with_manifest(lambda each: each.pop("files")))),
    ("files no list", "lacks run_id, dbdyno or files", members_of(with_manifest(lambda each: each.update(files=7)))),
    ("strange entry", "lacks run_id, dbdyno or files", members_of(with_entry(SQL, mode="0777"))),
    ("newer format", "archive format 2; this dbdyno reads 1", members_of(with_manifest(lambda d: d.update(format=2)))),
    ("format true", "has archive format true", members_of(with_manifest(lambda d: d.update(format=True)))),
    ("absolute path", "'/tmp/evil' is no file of a run directory", members_of(with_name(SQL, "/tmp/evil"))),
    ("path upwards", "'experiment/../../evil' is no file of a", members_of(with_name(SQL, "experiment/../../evil"))),
    ("path of another file", "'.bashrc' is no file of a run directory", members_of(with_name(SQL, ".bashrc"))),
    ("control characters", r"'experiment/\x1b[2J' is no file of a", members_of(with_name(SQL, "experiment/\x1b[2J"))),
    ("header upwards", "stands where", stream_of(lambda tar: renamed(tar, SQL, "../../../../evil"))),
    ("run id upwards", "run_id '../evil' is no name", members_of(with_manifest(lambda d: d.update(run_id="../evil")))),
    ("run id of another run", "stands where", members_of(with_manifest(lambda d: d.update(run_id="other")))),
    ("listed twice", "'experiment/experiment.toml' is listed twice", members_of(with_manifest(twice))),
    ("symbolic link", f"'{RUN_ID}/{SQL}' is a link", members_of(with_type(SQL, tarfile.SYMTYPE, "/etc/passwd"))),
    ("hard link", f"'{RUN_ID}/{SQL}' is a link", members_of(with_type(SQL, tarfile.LNKTYPE, "../x"))),
    ("device", f"'{RUN_ID}/{SQL}' is a link, a device", members_of(with_type(SQL, tarfile.CHRTYPE))),
    ("pipe", f"'{RUN_ID}/{SQL}' is a link, a device", members_of(with_type(SQL, tarfile.FIFOTYPE))),
    ("directory", f"'{RUN_ID}/{SQL}' is a link, a device", members_of(with_type(SQL, tarfile.DIRTYPE))),
    ("negative size", "has the impossible size -1", members_of(with_entry(SQL, bytes=-1))),
    ("size no number", "has the impossible size '31'", members_of(with_entry(SQL, bytes="31"))),
    ("size beyond tar", "has the impossible size 8589934592", members_of(with_entry(SQL, bytes=8 * 2**30))),
    ("checksum no checksum", f"'{SQL}' has no SHA-256", members_of(with_entry(SQL, sha256="0" * 63))),
    ("no journal", "'journal.jsonl' is not listed", members_of(with_name(JOURNAL, "experiment/journal"))),
    ("empty journal", "has no whole first record", members_of(with_listed(JOURNAL, b""))),
    ("damaged journal", "journal.jsonl: line 1 is damaged", members_of(with_listed(JOURNAL, b"hello\nworld\n"))),
    ("crafted journal", "has format None", members_of(with_listed(JOURNAL, crafted_journal({})))),
    ("crafted record", "line 1 is damaged", members_of(with_listed(JOURNAL, crafted_journal([], {})))),
    ("another journal", "is of run None", members_of(with_listed(JOURNAL, crafted_journal({"format": 1})))),
    ("no experiment file", "'experiment/experiment.toml' is missing", members_of(with_name(COPY, "experiment/x"))),
]  # fmt: skip


def renamed(tar: bytes, name: str, other: str) -> bytes:
    """The header of one member rewritten with another name and its right checksum."""
    start = tar.index(f"{RUN_ID}/{name}\0".encode())
    header = tarfile.TarInfo.frombuf(tar[start : start + 512], "utf-8", "strict")
    header.name = other
    return tar[:start] + header.tobuf(tarfile.USTAR_FORMAT) + tar[start + 512 :]


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A good archive, alone in its directory."""
    directory = tmp_path_factory.mktemp("good")
    return packed(write_run(directory / "run", blocks=2))


@pytest.mark.parametrize(("message", "make"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
@pytest.mark.parametrize("command", ["unpack", "report"])
def test_a_bad_archive_is_one_line(
    command: str, message: str, make: Callable[[Path], Path], good: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """To unpack it and to read it; and nothing is left behind."""
    bad = make(good)
    out = good.with_name("out")
    before = sorted(good.parent.rglob("*"))

    code = dbdyno([command, str(bad), *(["--out", str(out)] if command == "unpack" else [])])

    printed = capsys.readouterr()
    assert message in printed.err
    assert printed.err.startswith(f"dbdyno: {bad}: ")
    assert printed.err.count("\n") == 1
    assert printed.out == ""
    assert code == 2
    assert sorted(good.parent.rglob("*")) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("unpack", "{dir}/none"), "none: cannot be read: No such file or directory; name an archive"),
        (("unpack", "{dir}"), "cannot be read: Is a directory"),
        (("unpack", "{good}", "--out", "{dir}/run"), "run: exists and is not empty; name a new directory"),
        (("unpack", "{good}", "--out", "{good}"), "good.tar.gz: exists and is not empty; name a new directory"),
        (("unpack", "{good}", "--out", "{dir}/no/where"), "cannot be written: No such file or directory"),
        (("unpack", "{good}", "--out", "/proc/run"), "--out /proc/run: "),
        (("pack", "{dir}/none"), "none: no such run directory; dbdyno run makes one"),
        (("pack", "{dir}"), "holds no journal.jsonl"),
        (("pack", "{good}"), "is a file, not a run directory; dbdyno unpack makes one of an archive"),
        (("pack", "{dir}/run", "--out", "{good}"), "good.tar.gz: exists already; name another file"),
        (("pack", "{dir}/run", "--out", "/proc/x"), "/proc/x: cannot be written"),
        (("report", "{good}", "--html"), "is an archive; dbdyno unpack it first"),
        (("run", "--resume", "{good}"), "is a file, not a run directory"),
    ],
)
def test_wrong_places_are_one_line(
    arguments: tuple[str, ...], message: str, good: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What exists is never overwritten."""
    before = {path: path.read_bytes() for path in good.parent.rglob("*") if path.is_file()}

    code = dbdyno([part.format(dir=good.parent, good=good) for part in arguments])

    assert message in capsys.readouterr().err
    assert code == 2
    assert {path: path.read_bytes() for path in good.parent.rglob("*") if path.is_file()} == before


def test_an_archive_larger_than_the_disk_is_refused_at_once(good: Path) -> None:
    """By its manifest, before the first byte is written."""
    sizes = {f"experiment/{number}": 8 * 2**30 - 1 for number in range(20_000)}

    def announce(document: dict[str, object]) -> None:
        document["files"] += [{"path": name, "bytes": size, "sha256": "0" * 64} for name, size in sizes.items()]  # type: ignore[operator]

    with pytest.raises(DynoError, match=r"bytes to unpack, \d+ free"):
        unpack(rewritten(good, with_manifest(announce)), good.with_name("out"))

    assert not good.with_name("out").exists()


def test_a_damaged_run_is_not_packed(tmp_path: Path) -> None:
    """The journal is verified first."""
    run = write_run(tmp_path / "run", blocks=2)
    data = (run / "journal.jsonl").read_bytes()
    (run / "journal.jsonl").write_bytes(data.replace(b'"seq": 1', b'"seq": 7', 1))

    with pytest.raises(DynoError, match="line 2 is damaged"):
        packed(run)

    assert not (tmp_path / "good.tar.gz").exists()


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.integers(0, 2**16), byte=st.integers(0, 255), header=st.booleans())
def test_a_changed_byte_behind_right_checksums_is_never_taken(place: int, byte: int, header: bool, good: Path) -> None:
    """As somebody would do it on purpose: either refused, or the very same run."""
    tar = bytearray(gzip.decompress(good.read_bytes()))
    starts = [start for start in range(0, len(tar), 512) if tar[start:].startswith(f"{RUN_ID}/".encode())]
    position = starts[place % len(starts)] + place % 512 if header else place % len(tar)
    tar[position] = byte
    bad = good.with_name("bad.tar.gz")
    bad.write_bytes(gzip.compress(bytes(tar), 1))
    try:
        stored = read(bad)
    except DynoError:
        return
    assert stored.run == read(good).run
    assert stored.trials == read(good).trials
