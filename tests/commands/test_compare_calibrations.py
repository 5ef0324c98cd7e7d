"""`dbdyno compare` of calibrations at the command line: two, many, the gate, the page, and what is refused."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from compared_calibrations import device, recorded, usual
from packed import write_run

from dbdyno.analysis.calibration.analyse import analyse
from dbdyno.analysis.calibrations_compared.record import Recorded
from dbdyno.commands.app import run
from dbdyno.commands.calibration_report import earlier, print_calibration
from dbdyno.report.numbers import duration
from dbdyno.store import calibration_directory, kept_calibrations


def saved(directory: Path, one: Recorded) -> Path:
    """A calibration's directory."""
    calibration_directory.create(directory)
    calibration_directory.write_record(directory, dict(one.record))
    return directory


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current directory without calibrations."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_two_are_compared_and_gated(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """3 where a main figure of B is worse, 0 where it is better; the line is on stderr."""
    then, now = saved(here / "then", recorded(1)), saved(here / "now", recorded(2, device(1.25)))

    assert run(["compare", str(then), str(now), "--gate"]) == 3
    seen = capsys.readouterr()
    assert seen.out.startswith("Did the disk change? It cannot be told: there is only one calibration each.")
    assert seen.err.startswith("gate: B is worse than A: idle read, p50 1.")
    assert seen.err.endswith("; by the blocks of one calibration each, day to day is not known\n")
    assert seen.err.count("\n") == 1
    assert run(["compare", str(now), str(then), "--gate", "--json"]) == 0
    seen = capsys.readouterr()
    assert seen.err.startswith("gate: holds: no verdict of 3 main figures is worse")
    document = json.loads(seen.out)
    assert (document["kind"], document["format"], document["answer"]) == ("calibrations", 1, "one_each")
    assert run(["compare", str(then), str(now)]) == 0


def test_the_margin_is_a_flag(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """25 % more does not matter where 50 % does not."""
    then, now = saved(here / "then", recorded(1)), saved(here / "now", recorded(2, device(1.25)))

    assert run(["compare", str(then), str(now), "--gate", "--margin", "50"]) == 0
    assert "less than 50 % does not matter" in " ".join(capsys.readouterr().out.split())


def test_many_are_a_history_and_a_page(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The last against those before; the gate goes by it."""
    places = [str(saved(here / f"day-{day}", one)) for day, one in enumerate([*usual(5), recorded(9, device(1.25))])]

    assert run(["compare", *places, "--gate", "--html", "page.html"]) == 3
    seen = capsys.readouterr()
    assert seen.out.startswith("Did the disk change? Yes, by more than 5 calibrations of this storage differ\nanyway.")
    assert seen.out.endswith("Page: page.html\n")
    assert seen.err.startswith("gate: 6 is worse than 1 to 5: ")
    assert "calibrations compared" in Path("page.html").read_text()


def test_kept_calibrations_say_what_is_usual(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Those below dbdyno-calibrations; a damaged one is left out and told, and all of them are still there."""
    kept = [saved(kept_calibrations.DIRECTORY / one.name, one) for one in (*usual(5), recorded(9, device(1.4)))]
    damage(kept[0])

    assert run(["compare", str(kept[4]), str(kept[5]), "--json"]) == 0
    seen = capsys.readouterr()
    assert [Path(one["name"]).name for one in json.loads(seen.out)["others"]] == ["day-2", "day-3", "day-4"]
    assert f"left out: {kept[0]}" in seen.err
    assert all((place / calibration_directory.RECORD).exists() for place in kept)


def test_a_calibration_names_those_before_it(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of the same storage, measured in the same way and before; the command is the last thing said."""
    days: list[Recorded] = [*usual(2), recorded(3, host="db8"), recorded(9)]
    for one in days:
        place = saved(kept_calibrations.DIRECTORY / one.name, one)
        calibration_directory.write_findings(place, analyse(one.record).document)
    (kept_calibrations.DIRECTORY / "unfinished").mkdir()
    (kept_calibrations.DIRECTORY / "day-2" / calibration_directory.FINDINGS).write_text("no document")
    now = Path("now")
    found = analyse(recorded(4).record)

    [before] = earlier(now, found)
    assert before.directory == "dbdyno-calibrations/day-1"
    print_calibration(now, found, as_json=False, earlier=[before, dataclasses.replace(before, idle_p50_ns=150_000.0)])
    out = capsys.readouterr().out
    assert "The same storage before: 2 earlier calibrations" in out
    [idle] = [line.split() for line in out.splitlines() if line.startswith("idle read, p50")]
    assert " ".join(idle).endswith(f"{duration(before.idle_p50_ns)} to 150 us")
    print_calibration(now, found, as_json=False, earlier=[before])
    assert capsys.readouterr().out.endswith(
        "Whether the disk changed since the last time:\ndbdyno compare dbdyno-calibrations/day-1 now\n"
    )
    print_calibration(now, found, as_json=False)
    assert "dbdyno compare" not in capsys.readouterr().out


def test_what_cannot_be_compared_is_said_in_one_line(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A run, a damaged record, one beside itself, flags of others: exit code 2 and the reason."""
    one, two = saved(here / "one", recorded(1)), saved(here / "two", recorded(2))
    damaged, unfinished = saved(here / "damaged", recorded(3)), here / "unfinished"
    damage(damaged)
    unfinished.mkdir()
    (unfinished / calibration_directory.FINDINGS).write_text("{}")
    ran = write_run(here / "run")

    cases: list[tuple[tuple[Any, ...], str]] = [
        ((one, ran), "compare those of one kind"),
        ((one,), "is alone"),
        ((one, one), "is the same as"),
        ((one, damaged), "is damaged"),
        ((one, two, damaged), "is damaged"),
        ((one, unfinished), "calibrate again"),
        ((one, two, "--html", "page.txt"), "is no name for a page"),
        ((one, two, "--html", here / "nowhere" / "x.html"), "cannot be written"),
        ((ran, ran, "--margin", "3"), "--margin 3: is for calibrations"),
    ]
    for arguments, words in cases:
        assert run(["compare", *map(str, arguments)]) == 2, arguments
        error = capsys.readouterr().err
        assert words in error
        assert error.count("\n") == 1


def damage(directory: Path) -> None:
    """Change a letter of the record."""
    record = directory / calibration_directory.RECORD
    record.write_bytes(record.read_bytes().replace(b'"budget"', b'"badget"', 1))
