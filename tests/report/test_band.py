"""`dbdyno report RUN --band FROM-TO`: other units are explained, in the text and in the findings document."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from packed import write_run

from dbdyno.commands.report_command import report
from dbdyno.errors import DynoError


def reported(run: Path, capsys: pytest.CaptureFixture[str], *, band: str | None, as_json: bool) -> str:
    """What the command prints."""
    report(run, as_text=False, as_json=as_json, as_html=False, latency_map=None, band=band)
    return capsys.readouterr().out


def test_a_band_is_explained_in_text_and_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same units in both, and the same sentence."""
    run = write_run(tmp_path / "run")

    document = json.loads(reported(run, capsys, band="99.5-100", as_json=True))
    text = reported(run, capsys, band="99.5-100", as_json=False)

    for arm in document["arms"]:
        tail = arm["tail"]
        assert (tail["slow"]["from_share"], tail["slow"]["to_share"]) == (0.995, 1.0)
        assert tail["slow"]["share"] == pytest.approx(0.005, rel=0.3)
        assert tail["sentence"][1:] in " ".join(text.split())


def test_the_default_is_the_slowest_one_per_cent(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without the flag the report shows what `run` shows."""
    run = write_run(tmp_path / "run")

    document = json.loads(reported(run, capsys, band=None, as_json=True))

    assert {arm["tail"]["slow"]["from_share"] for arm in document["arms"]} == {0.99}


@pytest.mark.parametrize(
    "band", ["", "99", "99-", "100-99", "99-100.1", "50-50", "p99-p100", "-1-5", "nan-100", "1e1-20"]
)
def test_nonsense_is_refused_in_one_line(tmp_path: Path, band: str) -> None:
    """Before the directory is read; the message names flag, value and fix."""
    with pytest.raises(DynoError, match=r"^--band .*: is no band of response times; write two percentages") as refused:
        report(tmp_path / "none", as_text=False, as_json=False, as_html=False, latency_map=None, band=band)

    assert (refused.value.exit_code, "\n" in str(refused.value)) == (2, False)
