"""The shipped experiment page-fill in small, with the page size as a factor, as its page of words describes it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from small_experiment import arm_of, run_experiment, trials_of, write_experiment

from dbdyno import experiments
from dbdyno.targets.binaries import find_binaries

pytestmark = [pytest.mark.server, pytest.mark.timed]

SHIPPED = experiments.find("page-fill")
UNUSED = ("row.wide", "update.concurrent", "fill.90", "fill.75")


@pytest.fixture
def second_build(cache: Path) -> Iterator[Path]:
    """The same PostgreSQL by another path: it stands for a build with another page size, which nobody packages."""
    link = cache / "postgresql-32kB"
    link.symlink_to(find_binaries(None).directory)
    yield link
    link.unlink()


def small_file(first_build: Path, second_build: Path) -> str:
    """The shipped file with the factor from its README, a tenth of the rows, and only the extreme fill factors."""
    text = SHIPPED.read_text()
    for level in UNUSED:
        text = re.sub(rf"\[factors\.{re.escape(level)}\].*?(?=\n\[|\n#|\Z)", "", text, flags=re.DOTALL)
    text = re.sub(r"expect = \{ relation_bytes.*\n", "", text).replace("200000", "20000")
    snippet = re.search(r"```toml\n(\[factors\.page\].*?)```", (SHIPPED.parent / "README.md").read_text(), re.DOTALL)
    assert snippet is not None
    builds = tomllib.loads(snippet[1])["factors"]["page"].values()
    factor = snippet[1]
    for level, directory in zip(builds, (first_build, second_build), strict=True):
        factor = factor.replace(level["server_bin"], str(directory))
    return text + "\n" + factor


def outcome(findings: dict[str, Any], arm: str, name: str) -> tuple[float, float]:
    """Before and after the work."""
    found = next(one for one in arm_of(findings, arm)["outcomes"] if one["name"] == name)
    return found["before"]["estimate"], found["after"]["estimate"]


def test_the_page_size_as_a_factor(tmp_path: Path, second_build: Path) -> None:
    """Each arm on its own build; the table doubles at fill factor 100 and stays as it is at 50, HOT correspondingly."""
    file = write_experiment(tmp_path, small_file(find_binaries(None).directory, second_build))
    findings = run_experiment(file, tmp_path / "run", "--blocks", 2)

    arms = [f"narrow/single-statement/{fill}/{page}" for fill in ("100", "50") for page in ("8kB", "32kB")]
    assert [arm["arm"] for arm in findings["arms"]] == arms
    assert len(findings["machine"]["servers"]) == 2
    for arm in arms:
        full = "/100/" in arm
        # 20,000 narrow rows: 226 fit into a page, 113 into half of one.
        assert outcome(findings, arm, "pages") == pytest.approx((89, 177) if full else (177, 177))
        assert outcome(findings, arm, "dead_tuples") == pytest.approx((0, 20_000))
        assert outcome(findings, arm, "row_bytes") == pytest.approx((28, 32), rel=1e-4)
        assert arm_of(findings, arm)["hot_update_share"] == (0 if full else 1)
        assert [check for check in arm_of(findings, arm)["checks"] if check["failed_trials"]] == []
    assert {trial["status"] for trial in trials_of(tmp_path / "run")} == {"ok"}
