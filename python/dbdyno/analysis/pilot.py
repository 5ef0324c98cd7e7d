"""What a pilot shows about the run that it is the pilot of: how long it takes, what it writes, what it can tell."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from dbdyno.analysis.blocks import usable
from dbdyno.analysis.documents import Document
from dbdyno.analysis.findings import Pilot
from dbdyno.analysis.outlook import outlook


def pilot_of(run: Document, trials: Sequence[Document], planned: Document) -> Pilot:
    """From the run and trial records of the pilot, and the plan of the run."""
    starts = [datetime.datetime.fromisoformat(trial["started_at"]) for trial in trials]
    steps = [(after - before).total_seconds() for before, after in pairwise(starts)]
    seconds_per_trial = median(steps)
    wal = [trial["server"]["wal_bytes"] for trial in trials if usable(trial) and "wal_bytes" in trial["server"]]
    return Pilot(
        seconds_per_trial=seconds_per_trial,
        seconds=seconds_per_trial * planned["trials"],
        schema_bytes=run.get("schema_bytes"),
        wal_bytes=round(sum(wal) / len(wal) * planned["trials"]) if wal else None,
        outlook=outlook({**run, **{key: planned[key] for key in ("blocks", "looks", "until_decided")}}, trials),
    )
