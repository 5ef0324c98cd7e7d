"""`dbdyno calibrate` and `dbdyno report` of what it made, on this machine's own storage."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from dbdyno.design.experiment import load_experiment


def dbdyno(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """The command, as a user runs it."""
    return subprocess.run(
        [sys.executable, "-m", "dbdyno", *map(str, arguments)], capture_output=True, text=True, timeout=240, check=False
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A quick calibration of a small file; its storage is that of the home, since /tmp may be memory."""
    directory = tmp_path_factory.mktemp("calibrated")
    place = directory / "place"
    place.mkdir()
    ended = dbdyno("calibrate", place, "--file-size", "0.25", "--seed", "7", "--out", directory / "out")
    if "which is memory" in ended.stderr:
        pytest.skip("the tests' directory is in memory")
    assert ended.returncode == 0, ended.stderr
    assert list(place.iterdir()) == []
    return directory / "out"


def test_the_document_has_what_is_promised(made: Path) -> None:
    """The keys of the contract; every check that could be made holds or is told."""
    ended = dbdyno("report", made, "--json")
    document = json.loads(ended.stdout)

    assert document["format"] == 1
    assert {"max_iops", "latency_ms", "max_mbps", "max_pmbps"} <= document["calibrate_io"].keys()
    assert {"formula", "depth", "iops"} <= document["knee"][0].keys()
    assert {"center_ns", "share_of_ios", "share_of_time"} <= document["modes"][0].keys()
    assert document["flush"][0]["method"] == "fdatasync"
    assert {"name", "value", "confidence"} <= document["settings"][0].keys()
    assert [load["depth"] for load in document["loads"]] == [1, 2, 4, 8, 16, 32, 64, 128]
    assert document == json.loads((made / "calibration.json").read_text())


def test_the_text_and_the_page_are_made_anew(made: Path) -> None:
    """The same record says the same."""
    before = (made / "calibration.html").read_text()

    text = dbdyno("report", made).stdout
    page = dbdyno("report", made, "--html").stdout.strip()

    assert "As CALIBRATE_IO would say it" in text
    assert max(len(line) for line in text.splitlines() if str(made.parent) not in line) <= 80
    assert (Path(page), Path(page).read_text()) == (made / "calibration.html", before)


def test_the_heat_map_for_pylatencymap(made: Path, tmp_path: Path) -> None:
    """Into a file, with the command that plays it, or to stdout with nothing else; one form of a report at a time."""
    written = tmp_path / "a map.txt"

    told = dbdyno("report", made, "--latency-map", written)
    printed = dbdyno("report", made, "--latency-map", "-")
    both = dbdyno("report", made, "--latency-map", "-", "--json")

    assert told.stdout.startswith("latencymap --min_bucket=")
    assert told.stdout.endswith(f" < '{written}'\n")
    assert printed.stdout == written.read_text()
    assert printed.stdout.startswith("<begin record>\ntimestamp,microsec,")
    assert printed.stdout.count("<begin record>") == printed.stdout.count("<end record>") == 81  # 8 s, and the start
    assert (both.returncode, both.stderr.count("\n")) == (2, 1)


def test_only_a_calibration_has_one(tmp_path: Path) -> None:
    """Exit code 2, one line."""
    told = dbdyno("report", tmp_path, "--latency-map", "-")

    assert told.returncode == 2
    assert told.stderr == f"dbdyno: --latency-map: {tmp_path} is no calibration; name one\n"


def test_each_confirming_experiment_can_be_run(made: Path) -> None:
    """It loads, and its arms differ in the proposed setting."""
    written = sorted((made / "confirm").glob("*.toml"))

    assert written
    for path in written:
        values = {str(arm.settings[path.stem]) for arm in load_experiment(path).arms}
        assert len(values) == 2


def test_a_damaged_record_is_told(made: Path, tmp_path: Path) -> None:
    """One line, exit code 2."""
    copy = tmp_path / "copy"
    copy.mkdir()
    for name in ("cells.json", "calibration.json"):
        (copy / name).write_bytes((made / name).read_bytes())
    record = copy / "cells.json"
    record.write_bytes(record.read_bytes().replace(b'"budget"', b'"badget"', 1))

    ended = dbdyno("report", copy)

    assert (ended.returncode, ended.stderr.count("\n")) == (2, 1)
    assert "is damaged" in ended.stderr


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--budget", "huge"], "--budget huge: not one; use one of quick, standard, full"),
        (["--engine", "aio"], "--engine aio: not one; use one of auto, io_uring, threads"),
    ],
)
def test_wrong_choices_are_one_line(tmp_path: Path, arguments: list[str], word: str) -> None:
    """Exit code 2, before anything is made."""
    ended = dbdyno("calibrate", tmp_path, *arguments)

    assert ended.returncode == 2
    assert word in ended.stderr
    assert list(tmp_path.iterdir()) == []
