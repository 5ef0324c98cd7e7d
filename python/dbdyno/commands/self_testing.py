"""What `dbdyno selftest` does: the instrument checks itself on this machine."""

from __future__ import annotations

import datetime
import json
import os
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from dbdyno.analysis.self_test.cost import null_arm_of, sampling_cost
from dbdyno.analysis.self_test.findings import SelfTest
from dbdyno.commands.ledger import add_to_ledger
from dbdyno.commands.steps import Steps
from dbdyno.errors import EXIT_DONE, EXIT_RUN_FAILED
from dbdyno.probes.machine import host
from dbdyno.report import self_test as report
from dbdyno.selftest import cost, plant
from dbdyno.selftest.truths import TRUTHS
from dbdyno.store import null_arms, state
from dbdyno.targets.embedded import EmbeddedServer


def selftest(repeats: int, pairs: int, server_bin: Path | None, data_dir: Path | None, *, as_json: bool) -> int:
    """Plant, measure, keep and print; the exit code says whether what was planted was found."""
    found = _measure(repeats, pairs, server_bin, data_dir)
    document: dict[str, Any] = {
        **found.document(),
        "host": host(),
        "measured_at": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }
    kept = state.remember("selftest", document, os.environ)
    add_to_ledger(host(), f"selftest {document['measured_at']}", document["measured_at"], found.null_arm)
    if as_json:
        typer.echo(json.dumps(document, indent=1, ensure_ascii=False))
    else:
        console = Console()
        for line in report.render(found, str(kept)):
            console.print(line)
    return EXIT_DONE if found.verdict == "holds" else EXIT_RUN_FAILED


def _measure(repeats: int, pairs: int, server_bin: Path | None, data_dir: Path | None) -> SelfTest:
    waits = {"route": "auto", "period_ns": None}
    with (
        Steps(repeats * len(TRUTHS) + pairs) as steps,
        EmbeddedServer(settings=plant.SETTINGS, server_bin=server_bin, data_dir=data_dir) as server,
    ):
        plant.prepare(server)
        cost.prepare(server)
        truths = plant.plant(server, repeats=repeats, waits=waits, begin=steps.begin)
        watched = cost.measure_cost(server, pairs=pairs, waits=waits, begin=steps.begin)
        null = null_arm_of(watched, null_arms.counted(os.environ, host()))
        return SelfTest(server.server_version, tuple(truths), sampling_cost(watched), null)
