"""The ledger of null arms: per host, each run once, whatever else lies in the file."""

from __future__ import annotations

from pathlib import Path

from dbdyno.store import null_arms, state


def entry(run_id: str, *, different: bool = False) -> dict[str, object]:
    """What one run said."""
    return {"run_id": run_id, "at": "2026-11-22T10:00:00Z", "p_value": 0.4, "different": different}


def test_each_run_counts_once_and_for_its_host(tmp_path: Path) -> None:
    """A report made again, or a run resumed after its end, adds nothing."""
    environment = {"DBDYNO_STATE_DIR": str(tmp_path)}
    for host, run_id, different in (("a", "1", False), ("a", "2", True), ("a", "2", True), ("b", "3", True)):
        null_arms.add(environment, host, entry(run_id, different=different))

    assert null_arms.counted(environment, "a") == {"runs": 2, "different": 1}
    assert null_arms.counted(environment, "b") == {"runs": 1, "different": 1}
    assert null_arms.counted(environment, "c") == {"runs": 0, "different": 0}


def test_a_ledger_that_cannot_be_read_is_begun_anew(tmp_path: Path) -> None:
    """Written by hand, or by a version that kept something else."""
    environment = {"DBDYNO_STATE_DIR": str(tmp_path)}
    state.remember(null_arms.NAME, {"format": 1, "hosts": {"a": ["?", {"run_id": 1}]}}, environment)
    null_arms.add(environment, "a", entry("1"))

    assert null_arms.counted(environment, "a") == {"runs": 1, "different": 0}
