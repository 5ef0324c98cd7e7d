"""An archive is the run it was made of, always the same bytes, and opens without dbdyno."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from packed import RUN_ID, packed, write_run

from dbdyno.commands.app import run as dbdyno
from dbdyno.errors import DynoError
from dbdyno.store import run_directory
from dbdyno.store.archive import pack
from dbdyno.store.unpack import read, unpack


def content(directory: Path) -> dict[str, bytes]:
    """Every file below a directory."""
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def test_unpacked_is_what_was_packed(tmp_path: Path) -> None:
    """File for file; packed again it is the same archive."""
    run = write_run(tmp_path / "run")
    archive = packed(run)

    directory, listed, stored = unpack(archive, tmp_path / "again")

    assert content(directory) == content(run)
    assert sorted(entry.path for entry in listed.files) == sorted(content(run))
    assert stored.directory == directory
    assert pack(directory, tmp_path / "second.tar.gz")[0].read_bytes() == archive.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again", "good.tar.gz", "run", "second.tar.gz"]


def test_the_place_the_time_and_other_files_do_not_matter(tmp_path: Path) -> None:
    """The same run gives the same bytes; notes that lie beside the journal stay at home."""
    archive = packed(write_run(tmp_path / "run"))
    copy = tmp_path / "elsewhere" / "copy"
    shutil.copytree(tmp_path / "run", copy)
    (copy / "journal.jsonl").touch()
    (copy / "notes.txt").write_text("password")

    assert packed(copy).read_bytes() == archive.read_bytes()
    flags_and_time = archive.read_bytes()[3:8]
    assert flags_and_time == bytes(5), "gzip's header holds neither a name nor the time of packing"


def test_any_tar_opens_it(tmp_path: Path) -> None:
    """The manifest says of every file what sha256sum says."""
    archive = packed(write_run(tmp_path / "run"))
    subprocess.run(["tar", "xzf", archive, "-C", tmp_path], check=True)

    manifest = json.loads((tmp_path / RUN_ID / "MANIFEST.json").read_text())

    assert (manifest["format"], manifest["run_id"]) == (1, RUN_ID)
    assert manifest["dbdyno"] == {"version": "0.1.0", "build_profile": "release"}
    assert {entry["path"]: (entry["bytes"], entry["sha256"]) for entry in manifest["files"]} == {
        name: (len(data), hashlib.sha256(data).hexdigest()) for name, data in content(tmp_path / "run").items()
    }
    with tarfile.open(archive) as tar:
        assert {(each.uid, each.uname, each.mtime) for each in tar} == {(0, "", 1795154400)}


def test_a_torn_tail_is_left_out_and_the_run_stays_resumable(tmp_path: Path) -> None:
    """What a crash left behind is not handed on; the run record and the trials are."""
    run = write_run(tmp_path / "run", finished=False)
    whole = (run / "journal.jsonl").read_bytes()
    (run / "journal.jsonl").write_bytes(whole + b'{"seq": 14, "kind": "tri')

    directory, _, stored = unpack(packed(run), tmp_path / "again")

    assert (directory / "journal.jsonl").read_bytes() == whole
    assert not stored.ended
    assert run_directory.experiment_copy(stored) == directory / "experiment" / "experiment.toml"


def test_an_archive_is_read_without_leaving_a_file(tmp_path: Path) -> None:
    """The same trials as from the directory."""
    archive = packed(write_run(tmp_path / "run"))
    before = content(tmp_path)

    stored = read(archive)

    assert stored.trials == run_directory.read(tmp_path / "run")[0].trials
    assert content(tmp_path) == before


def test_the_report_is_the_same_on_the_other_side(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Byte for byte from the unpacked directory under the same name; from the archive but for its name."""
    run = write_run(tmp_path / "here" / RUN_ID)
    there = tmp_path / "there"
    there.mkdir()
    archive = str(packed(run).rename(there / "archive"))

    def printed(place: Path, *arguments: str) -> str:
        monkeypatch.chdir(place)
        assert dbdyno(arguments) == 0
        return capsys.readouterr().out

    text = printed(run.parent, "report", RUN_ID)
    printed(there, "unpack", archive)

    assert printed(there, "report", RUN_ID) == text
    assert printed(there, "report", "archive", "--json") == printed(run.parent, "report", RUN_ID, "--json")
    assert printed(there, "report", "archive").splitlines() == [
        *text.splitlines()[:-2],
        "Archive:       archive",
    ]


def test_an_empty_directory_is_used_in_place(tmp_path: Path) -> None:
    """A shell that stands in it sees the files."""
    out = tmp_path / "out"
    out.mkdir()
    inode = out.stat().st_ino

    unpack(packed(write_run(tmp_path / "run")), out)

    assert out.stat().st_ino == inode
    assert content(out) == content(tmp_path / "run")


def test_what_is_no_regular_file_is_not_packed(tmp_path: Path) -> None:
    """A link could bring in what is not of this run."""
    run = write_run(tmp_path / "run")
    (run / "experiment" / "passwd").symlink_to("/etc/passwd")

    with pytest.raises(DynoError, match="passwd: is not a regular file"):
        packed(run)

    assert not (tmp_path / "good.tar.gz").exists()


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    cut=st.one_of(st.none(), st.floats(0, 1)),
    flips=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 7)), max_size=3),
)
def test_damage_is_refused_or_did_not_matter(
    cut: float | None, flips: list[tuple[float, int]], fuzzed: tuple[Path, dict[str, bytes]]
) -> None:
    """Any cut, any flipped bit: one error and nothing left behind, or exactly the files that were packed."""
    archive, files = fuzzed
    data = bytearray(archive.read_bytes())
    for place, bit in flips:
        data[int(place * len(data))] ^= 1 << bit
    bad = archive.with_name("bad.tar.gz")
    bad.write_bytes(data if cut is None else data[: int(cut * len(data))])
    out = archive.with_name("out")
    try:
        unpack(bad, out)
    except DynoError:
        pass
    else:
        assert content(out) == files
        shutil.rmtree(out)
    assert {path.name for path in archive.parent.iterdir()} == {"run", "good.tar.gz", "bad.tar.gz"}


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, bytes]]:
    """A good archive alone in its directory, and the files in it."""
    directory = tmp_path_factory.mktemp("fuzzed")
    run = write_run(directory / "run", blocks=2)
    return packed(run), content(run)
