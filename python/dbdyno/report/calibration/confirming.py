"""The experiments that ask the server what the device's figures propose: a file for each setting, ready to run.

Each compares the proposed value with PostgreSQL's own default, in random blocks; where both are the same, there is
nothing to ask.
"""

from __future__ import annotations

import string
from collections.abc import Sequence
from importlib import resources

from dbdyno.analysis.calibration.findings import Setting

_SCAN = "SELECT count(*) FROM web_returns"
_VACUUM = "VACUUM (DISABLE_PAGE_SKIPPING, INDEX_CLEANUP OFF) web_returns"
_TEMPLATES = {
    "effective_io_concurrency": ("scan.toml", {"statement": _SCAN}),
    "maintenance_io_concurrency": ("scan.toml", {"statement": _VACUUM}),
    "io_combine_limit": ("scan.toml", {"statement": _SCAN}),
    "io_method": ("scan.toml", {"statement": _SCAN}),
    "io_workers": ("scan.toml", {"statement": _SCAN}),
    "random_page_cost": ("plans.toml", {}),
    "wal_sync_method": ("commits.toml", {"clients": "1"}),
    "commit_delay": ("commits.toml", {"clients": "8"}),
}


def experiments(settings: Sequence[Setting]) -> dict[str, str]:
    """File name to text, for all settings that differ from the default."""
    found = {}
    for setting in settings:
        if setting.confirm is not None:
            found[f"{setting.name}.toml"] = experiment(setting)
            if setting.name == "random_page_cost":
                found["random_page_cost.sql"] = _template("random_page_cost.sql")
    return found


def experiment(setting: Setting) -> str:
    """The text of one setting's experiment."""
    template, values = _TEMPLATES[setting.name]
    every = {"name": setting.name, "value": setting.value, "default": setting.default, **values}
    return string.Template(_template(template)).substitute(every)


def _template(name: str) -> str:
    return (resources.files("dbdyno.report.calibration") / "confirm" / name).read_text(encoding="utf-8")
