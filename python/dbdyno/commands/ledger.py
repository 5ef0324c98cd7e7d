"""Into the ledger of this machine goes what a finished run called its null arm."""

from __future__ import annotations

import os

import typer

from dbdyno.analysis.findings import NullArm
from dbdyno.errors import DynoError
from dbdyno.store import null_arms


def add_to_ledger(host: str, run_id: str, at: str, null_arm: NullArm) -> None:
    """Once for each run. A ledger that cannot be written is told, and costs nobody a report."""
    entry = {"run_id": run_id, "at": at, "p_value": null_arm.p_value, "different": null_arm.different}
    try:
        null_arms.add(os.environ, host, entry)
    except DynoError as error:
        typer.echo(f"dbdyno: {error.message}", err=True)
