"""The self-test, on a real server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dbdyno.commands.app import run
from dbdyno.selftest import plant
from dbdyno.selftest.truths import TRUTHS
from dbdyno.targets.embedded import EmbeddedServer

pytestmark = [pytest.mark.server, pytest.mark.timed, pytest.mark.usefixtures("cache")]


def test_the_command_tests_all_truths_and_keeps_the_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One JSON document on stdout, the same in the state directory; a busy machine may miss, and then says so."""
    monkeypatch.setenv("DBDYNO_STATE_DIR", str(tmp_path))

    code = run(["selftest", "--repeats", "1", "--pairs", "6", "--json"])

    document = json.loads(capsys.readouterr().out)
    assert [truth["name"] for truth in document["truths"]] == [truth.name for truth in TRUTHS]
    assert all(len(truth["repeats"]) == 1 for truth in document["truths"])
    assert document["cost"]["pairs"] == 6
    assert document["cost"]["throughput"]["low"] is not None
    assert code == (0 if document["verdict"] == "holds" else 1)
    assert json.loads((tmp_path / "selftest.json").read_text()) == document


@pytest.mark.nightly
def test_every_planted_truth_is_found_twenty_times_in_twenty(cache: Path) -> None:
    """Sleep, spin, row lock, slow flush and think time within 3 % of their true time, each time."""
    waits = {"route": "auto", "period_ns": None}
    with EmbeddedServer(settings=plant.SETTINGS) as server:
        plant.prepare(server)
        results = plant.plant(server, repeats=20, waits=waits, begin=lambda _: None)

    for result in results:
        print(f"{result.name}: {[round(planted.ratio, 4) for planted in result.repeats]}")
    assert {result.name: result.inside for result in results} == {truth.name: 20 for truth in TRUTHS}
