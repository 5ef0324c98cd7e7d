"""The experiments that ask the server what the device's figures propose: a file for each setting, ready to run.

Each compares the proposed value with PostgreSQL's own default, in random blocks; where both are the same, there is
nothing to ask.
"""

from __future__ import annotations

import string
from collections.abc import Sequence
from importlib import resources

from dbdyno.analysis.calibration.findings import Setting

# The SQL that each template refers to.
_FILES = {
    "scan.toml": (),
    "reads.toml": ("scattered.sql",),
    "plans.toml": ("scattered.sql", "wanted.sql"),
    "commits.toml": ("counters.sql", "commit.sql"),
}
_BITMAP = {"statement": "SELECT sum(length(filler)) FROM scattered WHERE key < 4000"}
_BITMAP_PLAN = {"plan": 'plan           = "Bitmap Heap Scan"\n'}
# As many as the server takes: each carries one request at a time, so fewer would be the limit instead.
_WORKERS = {"beside": "io_workers                      = 32              # so that not they are the limit"}
_AHEAD = {"beside": "effective_io_concurrency        = 64              # so that not it is the limit"}
_TEMPLATES = {
    "effective_io_concurrency": ("reads.toml", {**_BITMAP, **_BITMAP_PLAN, **_WORKERS}),
    # ANALYZE has no plan.
    "maintenance_io_concurrency": ("reads.toml", {"statement": "ANALYZE scattered", "plan": "", **_WORKERS}),
    "io_combine_limit": ("scan.toml", {}),
    "io_method": ("scan.toml", {}),
    "io_workers": ("reads.toml", {**_BITMAP, **_BITMAP_PLAN, **_AHEAD}),
    "random_page_cost": ("plans.toml", {}),
    "wal_sync_method": ("commits.toml", {"clients": "1"}),
    "commit_delay": ("commits.toml", {"clients": "8"}),
}


def experiments(settings: Sequence[Setting]) -> dict[str, str]:
    """File name to text, for all settings that differ from the default."""
    found: dict[str, str] = {}
    for setting in settings:
        if setting.confirm is not None:
            found |= experiment(setting)
    return found


def experiment(setting: Setting) -> dict[str, str]:
    """The files of one setting's experiment; the SQL is the same for all that share it."""
    template, values = _TEMPLATES[setting.name]
    every = {"name": setting.name, "value": setting.value, "default": setting.default, **values}
    if setting.name == "random_page_cost":
        every |= _costs(setting)
    return {
        f"{setting.name}.toml": string.Template(_text(template)).substitute(every),
        **{name: string.Template(_text(name)).substitute(every) for name in _FILES[template]},
    }


def _costs(setting: Setting) -> dict[str, str]:
    """The lower cost is the one that leads to the index, a key at a time."""
    low, high = sorted((setting.value, setting.default), key=float)
    index, scan = 'plan = "Nested Loop"', 'no_plan = "Nested Loop"'
    return {
        "low": low,
        "high": high,
        "plan_of_value": index if setting.value == low else scan,
        "plan_of_default": index if setting.default == low else scan,
    }


def _text(name: str) -> str:
    return (resources.files("dbdyno.report.calibration") / "confirm" / name).read_text(encoding="utf-8")
