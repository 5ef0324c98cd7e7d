"""The experiments that a calibration writes, run on the embedded server: each does what it is about."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from proposed_settings import PROPOSED, written
from small_experiment import arm_of, command, run_experiment, trials_of

from dbdyno.analysis.calibration.settings import DEFAULTS

pytestmark = pytest.mark.server

Findings = dict[str, Any]
Shown = Callable[[Findings, str, str], None]


def single_pages(findings: Findings, value: str, default: str) -> None:
    """The server asks for pages one by one, in all arms for as many; hardly two of them lie side by side."""
    arms = [arm_of(findings, f"{files}/{level}") for files in ("buffered", "direct") for level in (value, default)]
    for arm in arms:
        assert arm["reads"]["server"]["per_unit"] > 2_000
        assert 8_192 <= arm["reads"]["server"]["bytes_mean"] < 10_000
        assert arm["reads"]["physical_share"] >= 0.99


def larger_requests(findings: Findings, value: str, default: str) -> None:
    """Of nearly a megabyte instead of 128 kB."""
    for files in ("buffered", "direct"):
        sizes = [arm_of(findings, f"{files}/{level}")["reads"]["server"]["bytes_mean"] for level in (value, default)]
        assert sizes == [pytest.approx(1024 * 1024, rel=0.15), pytest.approx(128 * 1024, rel=0.05)]


def other_plans(findings: Findings, value: str, default: str) -> None:
    """By the index, and by a scan of the table."""
    by_index, by_scan = (arm_of(findings, level)["plans"][0]["shape"] for level in (value, default))
    assert "Index Scan using scattered_key_idx" in by_index
    assert "Seq Scan on scattered" in by_scan


def other_flushes(findings: Findings, value: str, default: str) -> None:
    """One flushes with a call of its own, the other with its writes; no page images."""
    waits = [arm_of(findings, level)["profile_ns"]["waits"] for level in (default, value)]
    assert [name in one for name in ("IO:WalSync", "IO:WalWrite") for one in waits] == [True, False, False, True]
    for level in (default, value):
        assert arm_of(findings, level)["full_page_images_per_unit"] < 0.05


def commits_that_wait(findings: Findings, value: str, default: str) -> None:
    """The delay is a sleep without a wait event."""
    delayed, plain = (arm_of(findings, level)["profile_ns"]["asleep_no_wait_event"] for level in (value, default))
    assert delayed > plain + 5_000


SHOWN: dict[str, Shown] = {
    "effective_io_concurrency": single_pages,
    "maintenance_io_concurrency": single_pages,
    "io_workers": single_pages,
    "io_combine_limit": larger_requests,
    "random_page_cost": other_plans,
    "wal_sync_method": other_flushes,
    "commit_delay": commits_that_wait,
}


@pytest.mark.nightly
@pytest.mark.timed
@pytest.mark.parametrize("name", SHOWN)
def test_each_experiment_runs_and_shows_what_it_is_about(tmp_path: Path, cache: Path, name: str) -> None:
    """Exit code 0, every setting in force as a session sees it, no failed check."""
    findings = run_experiment(written(tmp_path, name), tmp_path / "run", "--quick", "--blocks", 1)

    assert [check for arm in findings["arms"] for check in arm["checks"] if check["failed_trials"]] == []
    seen = {trial["arm"].split("/")[-1]: trial["settings"][name] for trial in trials_of(tmp_path / "run")}
    assert len(set(seen.values())) == 2
    assert [warning["code"] for warning in findings["warnings"] if warning["code"] == "left_out"] == []
    SHOWN[name](findings, PROPOSED[name], DEFAULTS[name])


def test_what_the_build_lacks_is_said_in_one_line(tmp_path: Path, cache: Path) -> None:
    """The wheel's server has no io_uring: before anything is built, with what to do."""
    done = subprocess.run(
        command("run", written(tmp_path, "io_method"), "--quick", "--out", tmp_path / "run"),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert (done.returncode, done.stdout) == (2, "")
    (said,) = [line for line in done.stderr.splitlines() if line.startswith("dbdyno: ")]
    assert "io_uring needs io_method = io_uring, and this server offers sync, worker" in said
    assert "name a server whose build has it" in said
    assert list((tmp_path / "run").iterdir()) == []
