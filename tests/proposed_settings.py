"""A proposal for each setting that `dbdyno calibrate` speaks of, none of them the default."""

from __future__ import annotations

from pathlib import Path

from dbdyno.analysis.calibration.findings import Setting
from dbdyno.analysis.calibration.settings import DEFAULTS
from dbdyno.report.calibration.confirming import experiments

PROPOSED = {
    "effective_io_concurrency": "128",
    "maintenance_io_concurrency": "42",
    "io_combine_limit": "1024kB",
    "io_method": "io_uring",
    "io_workers": "8",
    "random_page_cost": "1.5",
    "wal_sync_method": "open_datasync",
    "commit_delay": "100",
}


def proposed(name: str, value: str, confirm: str | None) -> Setting:
    """The setting as a calibration proposes it."""
    return Setting(name, value, "high", "measured", "rule", DEFAULTS[name], confirm)


def written(directory: Path, name: str, value: str | None = None) -> Path:
    """The experiment file of a proposal, with its SQL beside it."""
    setting = proposed(name, value or PROPOSED[name], f"confirm/{name}.toml")
    for file, text in experiments([setting]).items():
        (directory / file).write_text(text)
    return directory / f"{name}.toml"
